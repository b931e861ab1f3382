from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.retrieved import Metric, known, similarity


@pytest.mark.parametrize("raw", [None, "n/a", "", float("nan"), float("inf"), True, [], {}])
def test_a14_a_missing_score_is_unknown_never_zero(raw: object) -> None:
    assert known(raw) is None
    assert all(similarity(raw, metric) is None for metric in Metric)


def test_a14_a_number_written_as_text_is_read() -> None:
    assert known("0.9") == 0.9


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a18_every_metric_gives_the_same_similarity_and_order(first: float, second: float) -> None:
    raw: dict[Metric, Callable[[float], float]] = {
        Metric.COSINE: lambda c: c,
        Metric.INNER_PRODUCT: lambda c: c,
        Metric.L2: lambda c: math.sqrt(2 - 2 * c),
        Metric.SQUARED_L2: lambda c: 2 - 2 * c,
    }
    for metric, of in raw.items():
        a, b = similarity(of(first), metric), similarity(of(second), metric)
        assert a == pytest.approx(first, abs=1e-6)
        assert a is not None
        assert b is not None
        assert (a < b - 1e-9) <= (first < second)


def test_a22_a_cosine_is_not_normalised_a_second_time() -> None:
    assert similarity(0.85, Metric.COSINE) == 0.85
