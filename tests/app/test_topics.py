from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tadasu.app.topics import grouped, telling_words


def unit(rows: list[list[float]]) -> np.ndarray:
    made = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def by_hand(vectors: np.ndarray, least: float) -> list[list[int]]:
    """Average linkage as its definition says: always the nearest two, by the mean over all pairs."""
    near = np.asarray(vectors, dtype=np.float64) @ np.asarray(vectors, dtype=np.float64).T
    groups = [[row] for row in range(len(vectors))]
    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        mean = {pair: float(near[np.ix_(groups[pair[0]], groups[pair[1]])].mean()) for pair in pairs}
        a, b = max(pairs, key=lambda pair: mean[pair])
        if mean[a, b] < least:
            break
        groups[a] += groups.pop(b)
    return sorted(map(sorted, groups))


@given(arrays(np.float64, st.tuples(st.integers(0, 9), st.just(4)), elements=st.floats(-1, 1, width=32)))
def test_every_row_is_in_one_group_and_the_same_rows_give_the_same_groups(rows: np.ndarray) -> None:
    vectors = unit(rows.tolist()) if len(rows) else np.zeros((0, 4), dtype=np.float32)
    found = grouped(vectors, least=0.3)
    assert sorted(row for group in found for row in group) == list(range(len(rows)))
    assert found == grouped(vectors, least=0.3)


@pytest.mark.parametrize("seed", range(12))
def test_chains_of_neighbours_give_what_the_definition_gives(seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = unit(chance.normal(size=(14, 3)).tolist())
    for least in (-0.2, 0.2, 0.6, 0.9):
        assert grouped(vectors, least=least) == by_hand(vectors, least)


def test_a_question_that_is_asked_often_weighs_as_much_as_all_of_them() -> None:
    vectors = unit([[1, 0, 0.0], [0.8, 0.6, 0.0], [0.2, 1, 0.0]])
    repeated = unit([[1, 0, 0.0], *[[0.8, 0.6, 0.0]] * 5, [0.2, 1, 0.0]])
    assert grouped(vectors, least=0.5) == [[0, 1], [2]]
    assert len(grouped(repeated, least=0.5)) == len(grouped(vectors, least=0.5, weights=[1, 5, 1]))


def test_the_most_telling_words_are_whole_words_of_the_topic_in_either_language() -> None:
    warranty = ["How long is the warranty?", "Is the warranty longer for pumps?", "Which warranties are there?"]
    japanese = ["保証期間は何年ですか", "保証の対象は何ですか"]
    others = ["Where is the office?", "How long is the cable?", "本社はどこですか", "2026 prices?"]
    assert telling_words(warranty, [*warranty, *japanese, *others])[0] == "warranty"
    assert telling_words(japanese, [*warranty, *japanese, *others])[0] == "保証"
    assert "2026" not in telling_words(["2026 prices?"], others)
