"""Pairs and batches of the second tier's training: what is read of a passage, and how groups share a batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.testing.splits import Split
from training.grader.batches import (
    END,
    PAD,
    QUESTION,
    SHORT,
    TITLE,
    WINDOW,
    Drawer,
    Drawing,
    PairEncoder,
    batches,
    strips_of,
)
from training.grader.rows import Group, Kind, RowPassage

ENCODER = Path(__file__).resolve().parents[3] / "models" / "encoder"
LONG = {"en": "The old mill stood by the river for years. ", "ja": "古い水車小屋が川のほとりに長く立っていた。"}
ANSWER = {"en": "It was built by Anna Lind.", "ja": "それを建てたのは田中一郎である。"}


@pytest.fixture(scope="module")
def encoder() -> PairEncoder:
    return PairEncoder.load(ENCODER)


def passage(
    text: str, *, label: int, answer: str = "", kind: Kind = Kind.RETRIEVED, teacher: float | None = None
) -> RowPassage:
    at = text.find(answer) if answer else -1
    spans = ((at, at + len(answer)),) if at >= 0 else ()
    return RowPassage("Mill", text, ((0, len(text)),), label, spans, kind, teacher)


def group(language: str, *passages: RowPassage, number: int = 0) -> Group:
    return Group("made", Split.TRAIN, language, f"g{number}", "Who built the mill?", (), passages)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_pair_keeps_to_its_lengths_and_windows_cover_the_whole_text(encoder: PairEncoder, language: str) -> None:
    text = LONG[language] * 60
    pairs = encoder.windows(text, text, text)
    assert len(pairs) > 2
    covered = np.zeros(len(text), dtype=bool)
    for pair in pairs:
        assert pair.ids[-1] == END
        assert (pair.ids == END).sum() == 3
        assert pair.start == 1 + QUESTION + 2 + TITLE + 1
        assert len(pair.offsets) == WINDOW == len(pair.ids) - pair.start - 1
        for start, end in pair.offsets:
            covered[start:end] = True
    assert covered[[index for index, letter in enumerate(text) if not letter.isspace()]].all()


def test_without_a_title_no_separator_is_left(encoder: PairEncoder) -> None:
    with_title = encoder.windows("Who?", "Mill", "It stood.")[0]
    without = encoder.windows("Who?", "", "It stood.")[0]
    assert encoder.separator in with_title.ids
    assert encoder.separator not in without.ids


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("before", [0, 20, 60])
def test_the_window_of_a_right_passage_holds_the_answer(encoder: PairEncoder, language: str, before: int) -> None:
    text = LONG[language] * before + ANSWER[language] + LONG[language] * (60 - before)
    right = passage(text, label=1, answer=ANSWER[language], kind=Kind.GOLD)
    drawer = Drawer(encoder, Drawing(short=1.0), seed=before)
    for _ in range(8):
        (drawn,) = drawer.draw(group(language, right))
        assert len(drawn.answer) == SHORT
        assert (drawn.answer == 1).any()


def test_nothing_is_said_of_places_where_they_are_not_known(encoder: PairEncoder) -> None:
    scored = passage(LONG["en"], label=-1, teacher=2.0)
    made = group("en", passage(LONG["en"], label=1), passage(LONG["en"], label=0), scored)
    drawn = Drawer(encoder, Drawing(), seed=1).draw(made)
    answers = {one.label: set(one.answer.tolist()) for one in drawn}
    assert answers == {1: {-1}, 0: {0}, -1: {-1}}


def test_a_passage_of_which_nothing_is_known_is_never_drawn(encoder: PairEncoder) -> None:
    made = group("en", passage(LONG["en"], label=-1), passage(LONG["en"], label=0))
    drawer = Drawer(encoder, Drawing(), seed=1)
    assert [one.label for _ in range(5) for one in drawer.draw(made)] == [0] * 5


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.lists(st.integers(1, 4), min_size=1, max_size=30))
def test_a_token_belongs_to_the_strip_that_holds_its_last_character(lengths: list[int], tokens: list[int]) -> None:
    bounds = np.cumsum([0, *lengths])
    strips = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    ends = np.cumsum(tokens)
    places = np.stack([ends - tokens, ends], axis=1)
    owner = strips_of(places, strips)
    for (_, end), found in zip(places.tolist(), owner.tolist(), strict=True):
        expected = [n for n, (a, b) in enumerate(strips) if a <= end - 1 < b]
        assert found == (expected[0] if expected else -1)


def test_batches_hold_whole_groups_each_once_within_the_budget(encoder: PairEncoder) -> None:
    drawer = Drawer(encoder, Drawing(untitled=0.0), seed=3)
    made = [
        group("en", *(passage(LONG["en"] * (1 + number % 7), label=int(k == 0)) for k in range(3)), number=number)
        for number in range(20)
    ]
    drawn = [drawer.draw(one) for one in made]
    found = list(batches(drawn, tokens=600, seed=1))
    assert sum(len(batch.label) for batch in found) == 60
    for batch in found:
        assert batch.ids.size <= 600 or batch.group.max() == 0
        assert np.bincount(batch.group).tolist() == [3] * (int(batch.group.max()) + 1)
        assert [batch.label[batch.group == one].sum() for one in set(batch.group.tolist())] == [1] * len(
            set(batch.group.tolist())
        )
        assert ((batch.answer == -1) | (batch.ids != PAD)).all()
