"""Figures of the second tier: pooling of strips, areas by kind, and that TEST is never sampled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.testing.splits import Split
from training.grader.evaluate import FAR, Scored, figures, pool_strips, sample, thinned
from training.grader.rows import Group, Kind, RowPassage


@given(st.lists(st.tuples(st.integers(-1, 3), st.floats(-20, 20)), max_size=30))
def test_a_strips_logit_is_the_log_of_its_tokens_summed_exponentials(tokens: list[tuple[int, float]]) -> None:
    owner = np.array([one for one, _ in tokens], dtype=np.int16)
    logits = np.array([value for _, value in tokens], dtype=np.float32)
    pooled = pool_strips(logits, owner, strips=4)
    for strip in range(4):
        inside = logits[owner == strip].astype(np.float64)
        if len(inside):
            assert pooled[strip] == pytest.approx(np.log(np.exp(inside).sum()), abs=1e-3)
        else:
            assert pooled[strip] < FAR


def _group(language: str, *labels: tuple[int, Kind], number: int = 0) -> Group:
    passages = tuple(
        RowPassage("", "abcd", ((0, 2), (2, 4)), label, ((2, 3),) if label == 1 else (), kind) for label, kind in labels
    )
    return Group("made", Split.CALIBRATE, language, str(number), "?", (), passages)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_areas_are_by_kind_and_unknown_pairs_count_nowhere(language: str) -> None:
    strips = np.array([0.0, 1.0], dtype=np.float32)
    one = _group(language, (1, Kind.GOLD), (0, Kind.TOPICAL), (0, Kind.RANDOM), (-1, Kind.RETRIEVED))
    swapped = _group(language, (0, Kind.RETRIEVED), number=1)
    found = figures([Scored(one, [2.0, 3.0, 0.0, 9.0], [strips] * 4), Scored(swapped, [1.0], [strips])])
    assert set(found) == {"made", f"all {language}"}
    made = found["made"]
    assert made["pairs"] == 4
    assert made["auc"] == pytest.approx(2 / 3, abs=1e-4)
    assert (made["auc topical"], made["auc random"], made["auc unanswered"]) == (0.0, 1.0, 1.0)
    assert (made["first"], made["strips"]) == (0.0, 1.0)
    assert "auc retrieved" not in made


def test_thinning_keeps_right_passages_and_a_mixture_of_kinds() -> None:
    many = [(0, Kind.RETRIEVED)] * 6 + [(0, Kind.TOPICAL)] * 3 + [(0, Kind.RANDOM), (1, Kind.GOLD)]
    (thin,) = thinned([_group("en", *many)], passages=4)
    assert sorted(one.kind.value for one in thin.passages) == ["gold", "random", "retrieved", "topical"]


def test_rows_of_the_test_split_are_never_sampled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="TEST"):
        sample(tmp_path, groups=3, split=Split.TEST)
