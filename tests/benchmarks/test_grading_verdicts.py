"""Verdicts with the answer taken away from a random half."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.grading_groups import Group
from benchmarks.grading_rows import GraderRow
from benchmarks.grading_verdicts import measure_verdicts
from tadasu.core.grades import Grade, Thresholds
from tadasu.core.retrieved import Retrieval
from tadasu.ports import Ledger
from tests.benchmarks.groups import group


class _Knows:
    """HIGH for p0 if that is there; `other` for the rest."""

    id = "knows"

    def __init__(self, other: float) -> None:
        self._other = other

    def thresholds(self, language: str) -> Thresholds:
        return Thresholds(high=0.7, low=0.3)

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        found = []
        for one in retrieval.candidates:
            probability = 0.9 if one.passage.id == "p0" else self._other
            found.append(Grade(one.passage.id, self.thresholds("en").level(probability), probability, "", self.id))
        return found


def _groups() -> tuple[list[Group], list[Group]]:
    present = [group([1, 0, 0]) for _ in range(20)]
    return present, [one.without(frozenset({"p0"})) for one in present]


def test_a_grader_that_knows_is_right_in_both_halves() -> None:
    found = measure_verdicts(GraderRow("knows", _Knows(0.1)), *_groups())
    assert (found.right.hits, found.right.of) == (20, 20)
    assert found.majority == 0.5
    assert found.over_halves == 1.0
    assert found.ambiguous.hits == 0


def test_ambiguous_counts_as_an_error() -> None:
    found = measure_verdicts(GraderRow("doubts", _Knows(0.5)), *_groups())
    assert found.right.value == 0.5
    assert (found.right_there.value, found.right_gone.value) == (1.0, 0.0)
    assert found.ambiguous.value == 0.5
    assert found.over_halves == pytest.approx(0.5)


def test_the_half_is_the_same_for_the_same_seed() -> None:
    row = GraderRow("doubts", _Knows(0.5))
    assert measure_verdicts(row, *_groups(), seed=4) == measure_verdicts(row, *_groups(), seed=4)
