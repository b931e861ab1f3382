from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.correction.marks import failures, of_passages
from tadasu.core.grades import Calibration, Grade, Level, Verdict
from tadasu.core.retrieved import GradedPassage
from tests.answering.grading.made import passage
from tests.cli.samples import candidate, round_of


def test_a_passage_lost_in_two_rounds_is_counted_once_with_its_first_cause() -> None:
    lost = candidate("a.md", level=Level.UNGRADED)
    first = round_of(lost, candidate("b.md", level=Level.LOW, probability=0.1), verdict=Verdict.AMBIGUOUS)
    again = replace(lost, grade=replace(lost.grade, reason="later"))
    assert list(failures([first, round_of(again, verdict=Verdict.GRADER_FAILED)])) == [
        "1 of 2 passages could not be graded: cosine 0.87 (`tadasu doctor` says more)"
    ]


def test_a_failed_search_is_told_once_and_a_spent_budget_is_left_to_the_budget() -> None:
    failed = replace(round_of(verdict=Verdict.SEARCH_FAILED), error="The disk\nis full.")
    spent = replace(round_of(candidate("a.md", level=Level.UNGRADED), verdict=Verdict.BUDGET_SPENT), error="spent")
    assert list(failures([failed, failed, spent])) == ["a search failed: The disk is full (`tadasu doctor` says more)"]


def graded(number: int, language: str, calibration: Calibration) -> GradedPassage:
    found = passage("It is 3 m high.", number=number, language=language)
    return GradedPassage(found, Grade(found.id, Level.HIGH, 0.9, "read", "g", calibration=calibration))


@pytest.mark.parametrize(("asked", "other"), [("en", "ja"), ("ja", "en")])
def test_which_passages_have_no_calibration_is_said_by_count_and_cause(asked: str, other: str) -> None:
    own, foreign = graded(1, asked, Calibration.PUBLIC), graded(2, other, Calibration.NONE)
    bare = graded(3, asked, Calibration.NONE)
    told = "grades not calibrated for 1 of {} passages used: {}"
    language, grader = "they are in another language than the question", "their grader has no calibration"
    assert list(of_passages([own], asked)) == []
    assert list(of_passages([own, foreign], asked)) == [told.format(2, language)]
    assert list(of_passages([own, foreign, bare], asked)) == [told.format(3, language), told.format(3, grader)]
    assert list(of_passages([bare], asked)) == ["the grades are not calibrated"]
