"""A set holds one split only, and the measured one never."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tadasu.testing.datasets import DataAbsent, Part, PassageRow
from tadasu.testing.splits import Split, split_of
from training.feature_sets import QuestionSet
from training.grader import sets
from training.grader.sets import SMOKE, english, japanese, question_set

MAKERS = {"ja": japanese, "en": english}


def _made(language: str, split: Split) -> QuestionSet:
    try:
        return MAKERS[language](split, SMOKE[split])
    except DataAbsent as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("split", [Split.TRAIN, Split.CALIBRATE])
def test_everything_in_a_set_is_of_its_split(language: str, split: Split) -> None:
    made = _made(language, split)
    assert made.rows
    assert made.asked
    assert {split_of(row.part, row.key) for row in made.rows} == {split}
    assert {split_of(one.question.part, one.question.key) for one in made.asked} == {split}
    assert {split_of(one.part, one.key) for one in made.others} == {split}


def test_open_questions_are_of_one_split_too() -> None:
    try:
        train, calibrate = (sets.open_questions(split) for split in (Split.TRAIN, Split.CALIBRATE))
    except DataAbsent as error:
        pytest.skip(str(error))
    assert {split_of(one.part, one.key) for one in train} == {Split.TRAIN}
    assert not {one.key for one in train} & {one.key for one in calibrate}


@pytest.mark.parametrize("part", [Part.JAQUAD_DEV, Part.JSQUAD_VALID])
def test_a_benchmarks_passage_is_refused(part: Part) -> None:
    row = PassageRow(part, "p0", "題", "本文。", "title:題")
    try:
        with pytest.raises(ValueError, match="not of train"):
            question_set("x", "ja", [row], [row], [], split=Split.TRAIN)
    except DataAbsent as error:
        pytest.skip(str(error))


def test_the_measured_split_is_refused() -> None:
    with pytest.raises(ValueError, match="never trained on"):
        question_set("x", "en", [], [], [], split=Split.TEST)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_questions_come_shuffled_the_same_way(language: str) -> None:
    made = _made(language, Split.CALIBRATE)
    assert made == _made(language, Split.CALIBRATE)
    places = [sets.order(one.question.id + one.question.text) for one in made.asked]
    assert all(left <= right for left, right in pairwise(places))
