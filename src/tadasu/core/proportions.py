"""Shares and how sure one can be of them: pure functions over counts, without numpy.

`wilson` is for showing; `clopper_pearson_lower` is exact and for promises; `predicted_misses` is about rows that are
still to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

_STEPS = 200
_SMALL = 1e-300
_EXACT_ENOUGH = 1e-15


def wilson(successes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The two-sided score interval of a share (Wilson 1927); (0, 1) where nothing was tried.

    >>> [round(end, 3) for end in wilson(0, 10)]
    [0.0, 0.278]
    """
    _check(successes, trials)
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    share, weight = successes / trials, z * z / trials
    middle = (share + weight / 2.0) / (1.0 + weight)
    half = z / (1.0 + weight) * math.sqrt(share * (1.0 - share) / trials + weight / (4.0 * trials))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    return low, 1.0 if successes == trials else min(1.0, middle + half)


def clopper_pearson_lower(successes: float, trials: float, *, confidence: float = 0.95) -> float:
    """The exact one-sided lower bound of a share: below it lies the true share in at most ``1 - confidence`` of cases.

    It solves ``P(X >= successes | bound) = 1 - confidence`` (Clopper and Pearson 1934). Counts of weighted rows need
    not be whole.

    >>> round(clopper_pearson_lower(29, 29), 3), clopper_pearson_lower(0, 5)
    (0.902, 0.0)
    """
    _check(successes, trials)
    if successes == 0:
        return 0.0
    return _solved(lambda share: beta_cdf(share, successes, trials - successes + 1), 1.0 - confidence)


def clopper_pearson_upper(successes: int, trials: int, *, confidence: float = 0.95) -> float:
    """The exact one-sided upper bound of a share."""
    _check(successes, trials)
    return 1.0 - clopper_pearson_lower(trials - successes, trials, confidence=confidence)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The distribution function of Beta(a, b) at `x` in [0, 1], by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - beta_cdf(1.0 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(x, a, b) / a


def predicted_misses(below: float, seen: float, *, future: int, confidence: float) -> int:
    """How many of the next `future` rows lie below the smallest-but-`below` of `seen` rows, at that confidence.

    Where rows come in any order alike, the number of the next ones below the k-th smallest of n seen ones has the
    beta-binomial distribution with parameters k and n + 1 - k, whatever the scores' own distribution (Wilks 1942). The
    result is its quantile: no more than so many, in at least `confidence` of cases. `below` is k, from 0 (then none:
    there is no border); both may be scaled down by a design effect and need not be whole.

    >>> predicted_misses(1, 40, future=40, confidence=0.95)
    4
    """
    if not 0.0 <= below <= seen or future < 0:
        raise ValueError(f"0 <= below <= seen and future >= 0 must hold, not {below}, {seen}, {future}")
    if below == 0.0:
        return 0
    reached = 0.0
    for misses, chance in enumerate(_beta_binomial(future, below, seen + 1.0 - below)):
        reached += chance
        if reached >= confidence:
            return misses
    return future


def design_effect(values: Sequence[float], groups: Sequence[object]) -> float:
    """How many rows weigh as much as one independent row: 1 where rows of one group are no more alike than others.

    Kish's ``1 + (m - 1) rho`` with the size-weighted mean group size m and the intraclass correlation of the ranks of
    `values` by analysis of variance, not below 0.

    >>> design_effect([1.0, 2.0, 3.0, 4.0], ["a", "b", "c", "d"])
    1.0
    """
    members: dict[object, list[float]] = {}
    for value, group in zip(_ranks(values), groups, strict=True):
        members.setdefault(group, []).append(value)
    rows, count = len(values), len(members)
    if count == rows or count < 2:
        return 1.0 if count == rows else float(max(rows, 1))
    mean = sum(sum(part) for part in members.values()) / rows
    between = sum(len(part) * (sum(part) / len(part) - mean) ** 2 for part in members.values()) / (count - 1)
    within = sum((value - sum(part) / len(part)) ** 2 for part in members.values() for value in part) / (rows - count)
    squares = sum(len(part) ** 2 for part in members.values())
    usual = (rows - squares / rows) / (count - 1)
    spread = between + (usual - 1.0) * within
    alike = (between - within) / spread if spread > 0.0 else 1.0
    return 1.0 + (squares / rows - 1.0) * min(1.0, max(0.0, alike))


def _check(successes: float, trials: float) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")


def _solved(rising: Callable[[float], float], level: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if rising(middle) < level:
            low = middle
        else:
            high = middle
        if high - low < _EXACT_ENOUGH:
            break
    return low


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
    value = d
    for step in range(1, 10_000):
        even = step * (b - step) * x / ((a + 2 * step - 1.0) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1.0))
        for part in (even, odd):
            d = 1.0 + part * d
            d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
            c = 1.0 + part / c
            c = c if abs(c) > _SMALL else _SMALL
            value *= c * d
        if abs(c * d - 1.0) < _EXACT_ENOUGH:
            break
    return value


@lru_cache(maxsize=512)
def _beta_binomial(trials: int, a: float, b: float) -> tuple[float, ...]:
    """The chances of 0, 1, … `trials` successes."""
    start = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.lgamma(a + b + trials) + math.lgamma(trials + 1)
    return tuple(
        math.exp(
            start
            + math.lgamma(a + hits)
            + math.lgamma(b + trials - hits)
            - math.lgamma(hits + 1)
            - math.lgamma(trials - hits + 1)
        )
        for hits in range(trials + 1)
    )


def _ranks(values: Sequence[float]) -> list[float]:
    """Mid-ranks, from 1."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for index in order[start:end]:
            ranks[index] = (start + 1 + end) / 2.0
        start = end
    return ranks
