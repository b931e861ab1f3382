from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tadasu.core.proportions import (
    beta_cdf,
    clopper_pearson_lower,
    clopper_pearson_upper,
    design_effect,
    predicted_misses,
    wilson,
)


@given(st.integers(1, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_are_those_of_scipy(trials: int, data: st.DataObject, confidence: float) -> None:
    successes = data.draw(st.integers(0, trials))
    theirs = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson(successes, trials, confidence=confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    lower = stats.binomtest(successes, trials, alternative="greater").proportion_ci(confidence, method="exact").low
    assert clopper_pearson_lower(successes, trials, confidence=confidence) == pytest.approx(lower, abs=1e-9)
    upper = stats.binomtest(successes, trials, alternative="less").proportion_ci(confidence, method="exact").high
    assert clopper_pearson_upper(successes, trials, confidence=confidence) == pytest.approx(upper, abs=1e-9)


@given(st.floats(0.0, 1.0), st.floats(0.05, 500.0), st.floats(0.05, 500.0))
def test_the_beta_distribution_is_that_of_scipy(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(float(stats.beta.cdf(x, a, b)), abs=1e-9)


@given(st.integers(1, 300), st.data(), st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_prediction_is_the_quantile_of_the_beta_binomial(
    seen: int, data: st.DataObject, future: int, confidence: float
) -> None:
    below = data.draw(st.integers(1, seen))
    chance = stats.betabinom(future, below, seen + 1 - below)
    misses = predicted_misses(below, seen, future=future, confidence=confidence)
    assert chance.cdf(misses) >= confidence - 1e-9
    assert misses == 0 or chance.cdf(misses - 1) < confidence + 1e-9


def test_the_prediction_covers_what_comes_whatever_the_distribution() -> None:
    rng = random.Random(7)
    kept = 0
    for _ in range(2000):
        seen = sorted(rng.expovariate(1.0) for _ in range(50))
        coming = [rng.expovariate(1.0) for _ in range(80)]
        kept += sum(value < seen[2] for value in coming) <= predicted_misses(3, 50, future=80, confidence=0.95)
    # 2,000 draws at 95 % or a little more: three standard errors below is .935.
    assert 0.935 <= kept / 2000 <= 0.99


def test_without_trials_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert clopper_pearson_lower(0, 0) == 0.0
    assert clopper_pearson_upper(0, 0) == 1.0
    assert predicted_misses(0, 0, future=10, confidence=0.95) == 0
    with pytest.raises(ValueError, match="no share"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="below"):
        predicted_misses(3, 2, future=5, confidence=0.95)


def test_the_design_effect_counts_how_alike_the_rows_of_a_group_are() -> None:
    rng = random.Random(3)
    alone = [rng.random() for _ in range(300)]
    assert design_effect(alone, range(300)) == 1.0
    assert design_effect(alone, [index // 3 for index in range(300)]) < 1.4
    shared = [rng.random() for _ in range(100)]
    same = [value for value in shared for _ in range(3)]
    assert design_effect(same, [index // 3 for index in range(300)]) == pytest.approx(3.0, abs=0.05)
    assert design_effect([1.0, 2.0, 4.0], ["one"] * 3) == 3.0
    assert math.isfinite(design_effect([0.5] * 6, [0, 0, 1, 1, 2, 2]))
