from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.grades import Grade, Level, Thresholds, ungraded


def test_ungraded_is_never_a_number_and_a_graded_one_always_is() -> None:
    assert ungraded("p", reason="time-out", grader="g").probability is None
    with pytest.raises(ValueError, match="exactly when"):
        Grade("p", Level.UNGRADED, 0.0, "r", "g")
    with pytest.raises(ValueError, match="exactly when"):
        Grade("p", Level.LOW, None, "r", "g")


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.1, float("inf")])
def test_a_probability_outside_its_range_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Grade("p", Level.HIGH, value, "r", "g")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_levels_rise_with_the_probability(a: float, b: float, p: float) -> None:
    thresholds = Thresholds(high=max(a, b), low=min(a, b))
    order = [Level.LOW, Level.MEDIUM, Level.HIGH]
    assert order.index(thresholds.level(p)) <= order.index(thresholds.level(1.0))
    assert thresholds.level(thresholds.high) is Level.HIGH
