"""Scores as numbers of a declared scale, and the way from one scale to the other."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.scores import PairScore, ScoreScale, logit_of, number_in, probability_of, unscored

LOGIT, PROBABILITY = ScoreScale.LOGIT, ScoreScale.PROBABILITY


@given(st.floats(-30, 30))
def test_a_logit_survives_the_way_there_and_back(logit: float) -> None:
    assert logit_of(probability_of(logit), PROBABILITY) == pytest.approx(logit, abs=1e-3, rel=1e-3)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_a_higher_logit_is_never_a_lower_probability(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= probability_of(low) <= probability_of(high) <= 1.0


@given(st.floats(0, 1))
def test_a_probability_has_a_finite_logit(probability: float) -> None:
    assert -30.0 <= logit_of(probability, PROBABILITY) <= 30.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("scale", list(ScoreScale))
def test_what_is_not_finite_has_no_logit(value: float, scale: ScoreScale) -> None:
    with pytest.raises(ValueError, match="finite"):
        logit_of(value, scale)


@pytest.mark.parametrize("value", [-0.01, 1.01, 4.2])
def test_what_is_no_probability_has_no_logit(value: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        logit_of(value, PROBABILITY)


@pytest.mark.parametrize("raw", [0, 1, 0.5, np.float32(0.25), np.int64(1), Fraction(1, 3)])
@pytest.mark.parametrize("scale", list(ScoreScale))
def test_numbers_of_any_kind_are_read(raw: Any, scale: ScoreScale) -> None:
    read = number_in(raw, scale)
    assert type(read) is float
    assert read == pytest.approx(float(raw))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (None, "no number: None"),
        ("0.9", "no number: '0.9'"),
        (True, "no number: True"),
        ([0.9], "no number: [0.9]"),
        (Decimal("0.9"), "no number"),
        (1j, "no number"),
        (math.nan, "no finite number: nan"),
        (math.inf, "no finite number: inf"),
        (10**400, "no finite number"),
        ("x" * 1000, "…"),
    ],
)
@pytest.mark.parametrize("scale", list(ScoreScale))
def test_what_is_none_is_said(raw: Any, why: str, scale: ScoreScale) -> None:
    read = number_in(raw, scale)
    assert isinstance(read, str)
    assert why in read
    assert len(read) < 100


@pytest.mark.parametrize("raw", [-0.5, 1.5, 7])
def test_the_scale_decides_what_a_number_may_be(raw: float) -> None:
    assert number_in(raw, LOGIT) == raw
    assert number_in(raw, PROBABILITY) == f"is {raw:g}, and a probability lies in [0, 1]"


def test_a_pair_that_could_not_be_scored_is_no_number() -> None:
    failed = unscored("too long")
    assert failed.failed
    assert failed.reason == "too long"
    assert not PairScore(0.0).failed
