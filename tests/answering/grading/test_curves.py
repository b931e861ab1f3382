from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from tadasu.answering.grading.curves import AsGiven, Isotonic, Method, Platt, fit, logits, pooled, read_curve
from tadasu.answering.grading.model import Numbers


def drawn(count: int, *, seed: int, slope: float = 0.5, offset: float = -1.0) -> tuple[Numbers, Numbers]:
    """Probabilities whose truth is another one: ``logistic(slope * logit + offset)``."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0.0, 3.0, count)
    truth = 1.0 / (1.0 + np.exp(-(slope * logit + offset)))
    return 1.0 / (1.0 + np.exp(-logit)), (rng.random(count) < truth).astype(np.float64)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 9)), min_size=1, max_size=40))
def test_pooling_is_that_of_scikit_learn(rows: list[tuple[float, float]]) -> None:
    values, weights = [value for value, _ in rows], [weight for _, weight in rows]
    theirs = IsotonicRegression().fit_transform(np.arange(len(rows)), values, sample_weight=weights)
    assert pooled(values, weights) == pytest.approx(theirs, abs=1e-6)


def test_platt_is_a_logistic_regression_on_the_logit() -> None:
    probabilities, labels = drawn(6_000, seed=1)
    curve = fit(Method.PLATT, probabilities, labels)
    assert isinstance(curve, Platt)
    theirs = LogisticRegression(C=1e9).fit(logits(probabilities)[:, None], labels)
    # His targets are smoothed by one in some thousands, which is all that differs.
    assert curve.slope == pytest.approx(float(theirs.coef_[0, 0]), rel=0.02)
    assert curve.offset == pytest.approx(float(theirs.intercept_[0]), rel=0.02)
    assert (curve.slope, curve.offset) == pytest.approx((0.5, -1.0), abs=0.1)


def test_isotonic_finds_a_truth_that_is_no_logistic() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.random(6_000)
    labels = (rng.random(6_000) < np.where(probabilities < 0.5, 0.1, 0.8)).astype(np.float64)
    curve = fit(Method.ISOTONIC, probabilities, labels)
    assert isinstance(curve, Isotonic)
    low, high = curve.apply(np.array([0.2, 0.8]))
    assert (low, high) == pytest.approx((0.1, 0.8), abs=0.05)


def test_isotonic_ties_no_two_passages_so_that_a_border_can_lie_anywhere() -> None:
    probabilities, labels = drawn(200, seed=6)
    curve = fit(Method.ISOTONIC, probabilities, labels)
    assert curve is not None
    assert (np.diff(curve.apply(np.unique(probabilities))) > 0.0).all()


def test_separable_labels_give_a_finite_curve() -> None:
    probabilities = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    labels = np.array([0.0, 0, 0, 1, 1, 1])
    for method in (Method.PLATT, Method.ISOTONIC):
        curve = fit(method, probabilities, labels)
        assert curve is not None
        found = curve.apply(probabilities)
        assert (found > 0.0).all()
        assert (found < 1.0).all()


def test_labels_of_one_kind_or_upside_down_give_no_curve() -> None:
    probabilities = np.array([0.1, 0.4, 0.6, 0.9])
    assert fit(Method.PLATT, probabilities, np.ones(4)) is None
    assert fit(Method.ISOTONIC, probabilities, np.zeros(4)) is None
    upside_down = np.array([1.0, 1.0, 0.0, 0.0])
    assert fit(Method.PLATT, probabilities, upside_down) is None
    assert fit(Method.ISOTONIC, probabilities, upside_down) is None
    assert fit(Method.PLATT, np.array([]), np.array([])) is None


def test_weights_count_as_repeats() -> None:
    probabilities, labels = drawn(60, seed=3)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    repeats = weights.astype(int)
    for method in (Method.PLATT, Method.ISOTONIC):
        once = fit(method, probabilities, labels, weights)
        again = fit(method, np.repeat(probabilities, repeats), np.repeat(labels, repeats))
        assert once is not None
        assert again is not None
        if method is Method.PLATT:
            assert once.apply(probabilities) == pytest.approx(again.apply(probabilities), abs=1e-6)
        else:
            inside = slice(5, -5)
            order = np.argsort(probabilities)
            mine, theirs = once.apply(probabilities[order])[inside], again.apply(probabilities[order])[inside]
            assert mine == pytest.approx(theirs, abs=0.01)


@settings(max_examples=30)
@given(st.integers(0, 500), st.integers(12, 80), st.sampled_from([Method.PLATT, Method.ISOTONIC]))
def test_no_curve_turns_the_order_of_two_passages(seed: int, count: int, method: Method) -> None:
    probabilities, labels = drawn(count, seed=seed)
    curve = fit(method, probabilities, labels)
    if curve is None:
        return
    ordered = curve.apply(np.linspace(0.0, 1.0, 101))
    assert (np.diff(ordered) >= 0.0).all()
    assert ((ordered >= 0.0) & (ordered <= 1.0)).all()


@pytest.mark.parametrize("method", list(Method))
def test_a_curve_is_read_as_it_was_written(method: Method) -> None:
    curve = fit(method, *drawn(200, seed=4))
    assert curve is not None
    assert read_curve(json.loads(json.dumps(curve.written()))) == curve
    if method is Method.AS_GIVEN:
        assert curve == AsGiven()


@pytest.mark.parametrize(
    "raw",
    [
        {"method": "spline"},
        {"method": "platt", "slope": -1.0, "offset": 0.0},
        {"method": "platt", "slope": float("nan"), "offset": 0.0},
        {"method": "isotonic", "knots": [0.0, 1.0], "heights": [0.5]},
        {"method": "isotonic", "knots": [1.0, 0.0], "heights": [0.1, 0.5]},
        {"method": "isotonic", "knots": [0.0, 1.0], "heights": [0.5, 0.1]},
        {"method": "isotonic", "knots": [0.0, 1.0], "heights": [0.5, 1.5]},
        {"method": "isotonic", "knots": [], "heights": []},
    ],
)
def test_what_is_no_curve_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_curve(raw)
