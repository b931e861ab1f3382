"""Figures of the first grading tier: areas, calibration errors, curves and borders, against definitions and an oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tadasu.answering.grading.signals import Measured
from tadasu.answering.grading.views import PASSAGE_SIGNALS, STRIP_SIGNALS
from training.curves import calibration_curve, choose_thresholds
from training.feature_evaluation import auc, calibration_error, reliability
from training.feature_rows import Asking
from training.train_features import apply, fit_one


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=60))
def test_the_area_is_that_of_the_oracle(pairs: list[tuple[int, bool]]) -> None:
    scores = np.array([score for score, _ in pairs], dtype=np.float64)
    labels = np.array([label for _, label in pairs], dtype=np.int8)
    if len(set(labels.tolist())) < 2:
        assert np.isnan(auc(scores, labels))
    else:
        assert auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def test_a_calibration_error_is_zero_where_shares_are_as_said_and_the_gap_where_not() -> None:
    labels = np.array([1, 0] * 50, dtype=np.int8)
    assert calibration_error(np.full(100, 0.5), labels, bins=1) == pytest.approx(0.0)
    assert calibration_error(np.full(100, 0.9), labels, bins=1) == pytest.approx(0.4)
    assert [count for count, _, _ in reliability(np.full(100, 0.5), labels)] == [10] * 10


def test_a_curve_rises_and_brings_logits_to_the_shares_that_they_have() -> None:
    chance = np.random.default_rng(7)
    logits = chance.normal(0.0, 2.0, 20_000)
    labels = (chance.random(20_000) < 1.0 / (1.0 + np.exp(-2.0 * logits))).astype(np.int8)
    knots, heights = calibration_curve(logits, labels)
    assert (np.diff(knots) > 0).all()
    assert (np.diff(heights) >= 0).all()
    probabilities = np.interp(logits, knots, heights)
    assert calibration_error(probabilities, labels) < 0.02
    # Overconfident by a factor of two before.
    assert calibration_error(1.0 / (1.0 + np.exp(-logits)), labels) > 0.05


def _asking(labels: list[int], *, answerable: bool) -> Asking:
    passages = np.zeros((len(labels), len(PASSAGE_SIGNALS)))
    measured = Measured(
        language="en",
        passages=passages,
        strips=np.zeros((0, len(STRIP_SIGNALS))),
        bounds=(0,) * (len(labels) + 1),
        views=("words",) * len(labels),
        strip_views=("",) * len(labels),
        spreads=np.full(len(labels), 0.1),
        failures={},
    )
    return Asking(measured, np.array(labels, dtype=np.int8), np.zeros(0, dtype=np.int8), answerable)


def test_borders_are_where_the_shares_say() -> None:
    askings = [_asking([1, 0], answerable=True) for _ in range(100)] + [_asking([0, 0], answerable=False)] * 20
    right = np.linspace(0.21, 0.99, 100)
    probabilities = np.concatenate([np.stack([right, np.full(100, 0.05)], axis=1).ravel(), np.full(40, 0.4)])
    high, low = choose_thresholds(askings, probabilities)
    assert high == pytest.approx(0.41)
    assert low == pytest.approx(0.21)


def test_borders_never_cross_where_nothing_is_precise() -> None:
    askings = [_asking([1, 0], answerable=True) for _ in range(50)]
    high, low = choose_thresholds(askings, np.full(100, 0.3))
    assert (high, low) == (0.95, 0.3)


def test_a_fitted_view_uses_only_rows_where_its_signals_are_known() -> None:
    order = ("a", "b")
    chance = np.random.default_rng(3)
    signals = chance.normal(size=(400, 2))
    labels = (signals[:, 0] > 0).astype(np.int8)
    signals[::2, 1] = np.nan
    both = fit_one(["a", "b"], order, (signals, labels), (signals, labels))
    only = fit_one(["a"], order, (signals, labels), (signals, labels))
    assert (both["pairs"], only["pairs"]) == (200, 400)
    assert auc(apply(only, signals, order), labels) > 0.99
