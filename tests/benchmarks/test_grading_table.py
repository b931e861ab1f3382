"""Lines of the grading report: what is counted, what is pooled, what is compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.grading_groups import Group
from benchmarks.grading_rows import CosineRow, Graded, KeywordRow
from benchmarks.grading_table import Line, compared, measure, pooled
from tadasu.core.grades import Grade, Level, Thresholds
from tests.benchmarks.groups import group


class _Given:
    """A row that says what it was given, per question."""

    name = "given"

    def __init__(self, probabilities: dict[str, list[float]]) -> None:
        self._probabilities = probabilities

    def reads(self, language: str) -> bool:
        return language == "en"

    def borders(self, language: str) -> Thresholds:
        return Thresholds(high=0.7, low=0.3)

    def grade(self, group: Group) -> Graded:
        numbers = np.array(self._probabilities[group.question])
        return Graded(numbers, numbers)


GROUPS = [group([1, 0, 0, -1], question="a"), group([0, 1], question="b")]
GIVEN = _Given({"a": [0.9, 0.8, 0.1, 0.95], "b": [np.nan, 0.2]})


def test_unknown_labels_and_ungraded_pairs_do_not_count() -> None:
    line = measure("set", "en", GIVEN, GROUPS, resamples=20).line
    assert (line.questions, line.pairs, line.ungraded, line.positives) == (2, 4, 1, 2)
    assert line.auc == pytest.approx(0.75)


def test_shares_are_taken_at_the_rows_own_borders() -> None:
    line = measure("set", "en", GIVEN, GROUPS, resamples=20).line
    assert line.precision is not None
    assert line.recall is not None
    assert line.missed is not None
    assert (line.precision.hits, line.precision.of) == (1, 2)
    assert (line.recall.hits, line.recall.of) == (1, 2)
    assert (line.missed.hits, line.missed.of) == (1, 2)


@pytest.mark.parametrize("row", [CosineRow(), KeywordRow()])
def test_rows_without_probabilities_have_an_area_and_nothing_else(row: CosineRow | KeywordRow) -> None:
    line = measure("set", "en", row, GROUPS, resamples=20).line
    assert 0.0 <= line.auc <= 1.0
    assert (line.precision, line.recall, line.missed, line.ece) == (None, None, None, None)
    assert len(line.cells) == 11


def test_the_keyword_row_gives_the_mined_scores() -> None:
    assert KeywordRow().grade(GROUPS[0]).scores.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_pooling_joins_the_pairs_of_all_sets() -> None:
    one = measure("set", "en", GIVEN, GROUPS, resamples=5)
    (pool,) = pooled([one, one])
    assert (pool.grader, pool.sets, pool.pairs, pool.missed.of) == ("given", 2, 8, 4)
    plain = measure("set", "en", KeywordRow(), GROUPS, resamples=5)
    assert pooled([plain]) == []
    assert pooled([replace(one, line=replace(one.line, set="topical en hard"))]) == []


def test_the_shipped_grader_is_compared_with_the_best_other_row_and_the_full_one() -> None:
    line = measure("set", "en", GIVEN, GROUPS, resamples=5).line
    lines = [
        replace(line, grader="other", auc=0.90),
        replace(line, grader="full", auc=0.97),
        replace(line, grader="shipped", auc=0.96, tiers={"features": 3, "cross_encoder": 1}),
    ]
    (one,) = compared(lines, shipped="shipped", full="full")
    assert (one.best_other, one.above) == ("other", True)
    assert one.lost == pytest.approx(0.01)
    assert one.read == pytest.approx(0.25)
    assert compared(lines[:2], shipped="shipped", full="full") == []


def test_tiers_are_counted_from_the_grades() -> None:
    class Tiered(_Given):
        def grade(self, group: Group) -> Graded:
            found = super().grade(group)
            grades = tuple(
                Grade(one.passage.id, Level.LOW, 0.1, "", "g", tier="features") for one in group.retrieval.candidates
            )
            return replace(found, grades=grades)

    line: Line = measure("set", "en", Tiered({"a": [0.1] * 4, "b": [0.1] * 2}), GROUPS, resamples=5).line
    assert dict(line.tiers) == {"features": 6}
