"""Intervals of the grading report against oracles and definitions."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.grading_measures import Share, auc_interval
from training.feature_evaluation import auc


def test_a_share_carries_its_wilson_interval_and_nothing_has_no_share() -> None:
    share = Share(8, 10)
    assert share.value == 0.8
    assert share.interval == pytest.approx((0.490, 0.943), abs=0.001)
    assert str(share) == "0.800 [0.490, 0.943]"
    assert np.isnan(Share(0, 0).value)
    assert str(Share(0, 0)) == "-"


def test_the_interval_of_an_area_holds_the_area_and_narrows_with_more_questions() -> None:
    chance = np.random.default_rng(3)

    def drawn(questions: int) -> tuple[float, float, float]:
        labels = np.tile(np.array([1, 0, 0, 0], dtype=np.int8), questions)
        scores = labels + chance.normal(0.0, 1.0, len(labels))
        places = np.repeat(np.arange(questions), 4)
        return auc(scores, labels), *auc_interval(scores, labels, places, times=300)

    few, many = drawn(30), drawn(600)
    for area, low, high in (few, many):
        assert low < area < high
    assert many[2] - many[1] < (few[2] - few[1]) / 2


def test_questions_are_drawn_whole() -> None:
    # One question is sorted rightly, the other wrongly; a drawing of either alone gives 1 or 0.
    scores, labels = np.array([0.9, 0.1, 0.1, 0.9]), np.array([1, 0, 1, 0], dtype=np.int8)
    assert auc_interval(scores, labels, np.array([0, 0, 1, 1]), times=200) == (0.0, 1.0)


def test_without_positives_there_is_no_interval() -> None:
    low, high = auc_interval(np.array([0.2, 0.4]), np.zeros(2, dtype=np.int8), np.array([0, 1]), times=10)
    assert np.isnan(low)
    assert np.isnan(high)
