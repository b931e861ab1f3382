"""Measures of answers and the curve of abstention."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.answer_curve import THRESHOLDS, Outcome, curve, picture, point
from benchmarks.answer_measures import marks
from benchmarks.answers import fitted


@pytest.mark.parametrize("answer", ["True", "true.", "TRUE", " true "])
def test_a71_case_and_punctuation_make_no_difference(answer: str) -> None:
    assert marks(answer, ["true"]) == marks("true", ["True"])
    assert marks(answer, ["true"]).exact == 1.0


@pytest.mark.parametrize(("answer", "accepted"), [("はい。", "はい"), ("１９１２年", "1912年")])
def test_a71_width_and_full_stops_make_no_difference_in_japanese(answer: str, accepted: str) -> None:
    assert marks(answer, [accepted]).exact == 1.0


def test_a72_a_letter_within_a_word_is_no_answer_and_a_list_of_candidates_is_no_match() -> None:
    assert marks("B: Africa", ["A"]).exact == 0.0
    assert marks("B: Africa", ["A"]).contained == 0.0
    rambling = marks("Rome, Paris, Kyoto, Oslo, Lima, Cairo, Delhi, Quito, Seoul, Bern", ["Kyoto"])
    assert (rambling.exact, rambling.contained) == (0.0, 1.0)
    assert rambling.f1 < 0.25


@pytest.mark.parametrize("answer", ["", "   ", "。"])
def test_nothing_is_no_answer(answer: str) -> None:
    assert marks(answer, ["京都"]).f1 == 0.0
    assert marks(answer, [""]).exact == 0.0


OUTCOMES = [
    Outcome("there", 0.9, right=True),
    Outcome("there", 0.4, right=False),
    Outcome("there", -1.0, right=False),
    Outcome("gone", 0.3, right=False),
    Outcome("gone", -1.0, right=False),
]


def test_a_higher_threshold_answers_less_and_abstains_more() -> None:
    points = curve(OUTCOMES)
    assert len(points) == len(THRESHOLDS)
    assert [p.answered for p in points] == sorted((p.answered for p in points), reverse=True)
    assert [p.gone for p in points] == sorted(p.gone for p in points)


def test_a_point_counts_what_was_never_quoted_as_silence() -> None:
    at_zero = point(OUTCOMES, 0.0)
    assert (at_zero.answered, at_zero.right, at_zero.accuracy) == pytest.approx((2 / 3, 1 / 3, 1 / 2))
    assert (at_zero.gone, at_zero.counts["gone"]) == (0.5, 2)
    low, high = at_zero.interval("gone")
    assert low < 0.5 < high


def test_the_picture_shows_every_set_and_marks_the_default() -> None:
    drawn = picture({"one": curve(OUTCOMES), "two": curve(OUTCOMES)}, at=0.1)
    assert drawn.count("<polyline") == 2
    assert "threshold 0.1" in drawn


def test_no_fitted_weight_is_below_zero() -> None:
    random = np.random.default_rng(3)
    telling, contrary = random.normal(size=300), random.normal(size=300)
    right = (telling - contrary + random.normal(size=300) > 0).astype(np.float64)
    _, weights = fitted(np.column_stack([telling, contrary]), right)
    assert weights[0] > 0.5
    assert weights[1] == 0.0
