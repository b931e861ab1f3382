"""Monotone curves from a grader's probability to what the labels say of it.

All curves work on the logit of the probability, so that 0.9999 and 0.99 are told apart. None of them changes the order
of two passages. Platt: a logistic regression on the logit, with his smoothed targets (Platt 1999). Isotonic: pool
adjacent violators (Ayer et al. 1955), read as a line through the pools' centres so that few passages end up tied.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from tadasu.answering.grading.model import Numbers

FAR = 1e-6
"""A probability nearer to 0 or 1 than this is taken as this: nobody is that sure."""
_BEYOND = 0.1
_ROUNDS = 100
_STILL = 1e-10
_EDGE = 14.0
_HALVINGS = 60


class Method(enum.Enum):
    """Kinds of curves."""

    AS_GIVEN = "as_given"
    """The grader's own probability: no curve did better on labels that it had not seen."""
    PLATT = "platt"
    ISOTONIC = "isotonic"


class Curve(Protocol):
    """From probability to calibrated probability; never falling."""

    @property
    def method(self) -> Method:
        """Which kind it is."""
        ...

    def apply(self, probabilities: Numbers) -> Numbers:
        """One calibrated probability in [0, 1] for each."""
        ...

    def written(self) -> dict[str, Any]:
        """As JSON, for `read_curve`."""
        ...


@dataclass(frozen=True, slots=True)
class AsGiven:
    """No change."""

    method = Method.AS_GIVEN

    def apply(self, probabilities: Numbers) -> Numbers:
        """What went in."""
        return probabilities

    def written(self) -> dict[str, Any]:
        """As JSON."""
        return {"method": self.method.value}


@dataclass(frozen=True, slots=True)
class Platt:
    """``1 / (1 + exp(-(slope * logit + offset)))``; `slope` is above 0."""

    slope: float
    offset: float
    method = Method.PLATT

    def apply(self, probabilities: Numbers) -> Numbers:
        """See `Curve`."""
        return _logistic(self.slope * logits(probabilities) + self.offset)

    def written(self) -> dict[str, Any]:
        """As JSON."""
        return {"method": self.method.value, "slope": self.slope, "offset": self.offset}


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A line through `knots` (rising logits) at `heights` (probabilities that do not fall), level beyond the ends."""

    knots: tuple[float, ...]
    heights: tuple[float, ...]
    method = Method.ISOTONIC

    def apply(self, probabilities: Numbers) -> Numbers:
        """See `Curve`."""
        result: Numbers = np.interp(logits(probabilities), self.knots, self.heights)
        return result

    def written(self) -> dict[str, Any]:
        """As JSON."""
        return {"method": self.method.value, "knots": list(self.knots), "heights": list(self.heights)}


def logits(probabilities: Numbers) -> Numbers:
    """Logits of probabilities, those beyond `FAR` from 0 and 1 clipped."""
    clipped = np.clip(probabilities, FAR, 1.0 - FAR)
    result: Numbers = np.log(clipped) - np.log1p(-clipped)
    return result


def fit(method: Method, probabilities: Numbers, labels: Numbers, weights: Numbers | None = None) -> Curve | None:
    """The curve of that kind for `probabilities` with `labels` (0 or 1); None where the labels allow none:

    one class is missing, or the higher probabilities are not the more relevant ones.
    """
    if method is Method.AS_GIVEN:
        return AsGiven()
    if len(probabilities) == 0 or labels.min() == labels.max():
        return None
    counted = np.ones(len(labels)) if weights is None else weights
    return (_platt if method is Method.PLATT else _isotonic)(logits(probabilities), labels, counted)


def read_curve(raw: Mapping[str, Any]) -> Curve:
    """The curve that `Curve.written` wrote; raises ValueError, KeyError or TypeError where it is none."""
    method = Method(raw["method"])
    if method is Method.AS_GIVEN:
        return AsGiven()
    if method is Method.PLATT:
        curve = Platt(float(raw["slope"]), float(raw["offset"]))
        if not (math.isfinite(curve.slope) and math.isfinite(curve.offset) and curve.slope > 0.0):
            raise ValueError(f"a curve rises; its slope is not {curve.slope}")
        return curve
    steps = Isotonic(tuple(map(float, raw["knots"])), tuple(map(float, raw["heights"])))
    if not steps.knots or len(steps.knots) != len(steps.heights):
        raise ValueError("a curve has as many heights as knots")
    if not all(map(math.isfinite, steps.knots)) or any(not 0.0 <= height <= 1.0 for height in steps.heights):
        raise ValueError("heights are probabilities")
    if not _rises(steps.knots, strictly=True) or not _rises(steps.heights, strictly=False):
        raise ValueError("a curve rises")
    return steps


def score_before(curve: Curve, told: float) -> float:
    """The lowest probability that `curve` makes at least `told` of; 1 where it makes that of none.

    >>> round(score_before(Platt(1.0, -2.0), 0.5), 3)
    0.881
    """
    low, high = -_EDGE, _EDGE
    if float(curve.apply(np.array([1.0]))[0]) < told:
        return 1.0
    if float(curve.apply(np.array([0.0]))[0]) >= told:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        reached = float(curve.apply(_logistic(np.array([middle])))[0]) >= told
        low, high = (low, middle) if reached else (middle, high)
    return float(_logistic(np.array([high]))[0])


def pooled(values: Sequence[float] | Numbers, weights: Sequence[float] | Numbers) -> Numbers:
    """The nearest sequence that does not fall, by weighted squares: pool adjacent violators.

    >>> pooled([1.0, 3.0, 2.0], [1.0, 1.0, 1.0]).tolist()
    [1.0, 2.5, 2.5]
    """
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for value, weight in zip(values, weights, strict=True):
        means.append(float(value))
        masses.append(float(weight))
        counts.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            mass = masses[-2] + masses[-1]
            mean = (means[-2] * masses[-2] + means[-1] * masses[-1]) / mass
            count = counts[-2] + counts[-1]
            for stack, merged in ((means, mean), (masses, mass)):
                stack[-2:] = [merged]
            counts[-2:] = [count]
    return np.repeat(np.array(means), counts)


def _platt(x: Numbers, labels: Numbers, weights: Numbers) -> Platt | None:
    relevant, other = float(weights[labels == 1].sum()), float(weights[labels == 0].sum())
    wanted = np.where(labels == 1, (relevant + 1.0) / (relevant + 2.0), 1.0 / (other + 2.0))
    slope, offset = 1.0, math.log((relevant + 1.0) / (other + 1.0)) - float(np.average(x, weights=weights))
    loss = _loss(slope * x + offset, wanted, weights)
    for _ in range(_ROUNDS):
        found = _logistic(slope * x + offset)
        error, curvature = weights * (found - wanted), np.maximum(weights * found * (1.0 - found), 1e-12)
        step = _newton(float(error @ x), float(error.sum()), curvature, x)
        size = 1.0
        while size > 1e-6:  # halve a step that would make it worse
            trial = _loss((slope - size * step[0]) * x + offset - size * step[1], wanted, weights)
            if trial <= loss:
                break
            size /= 2.0
        else:
            break
        slope, offset = float(slope - size * step[0]), float(offset - size * step[1])
        gained, loss = loss - trial, trial
        if gained < _STILL:
            break
    return Platt(slope, offset) if slope > 0.0 and math.isfinite(slope) and math.isfinite(offset) else None


def _newton(by_slope: float, by_offset: float, curvature: Numbers, x: Numbers) -> tuple[float, float]:
    """The step of Newton's method for both parameters; a little ridge keeps it finite where all of `x` is alike."""
    square, cross, whole = float(curvature @ (x * x)), float(curvature @ x), float(curvature.sum())
    square, whole = square * (1.0 + 1e-9) + 1e-12, whole * (1.0 + 1e-9) + 1e-12
    size = square * whole - cross * cross
    return (whole * by_slope - cross * by_offset) / size, (square * by_offset - cross * by_slope) / size


def _isotonic(x: Numbers, labels: Numbers, weights: Numbers) -> Isotonic | None:
    points, at = np.unique(x, return_inverse=True)
    mass: Numbers = np.bincount(at, weights=weights).astype(np.float64)
    heights = pooled(np.bincount(at, weights=weights * labels) / mass, mass)
    if heights[0] == heights[-1]:
        return None
    # A pool of twelve with none relevant says "seldom", not "never".
    least = 1.0 / (len(x) + 2.0)
    knots, levels = [], []
    for level in np.unique(heights):
        pool = heights == level
        knots.append(float(np.average(points[pool], weights=mass[pool])))
        levels.append(float(np.clip(level, least, 1.0 - least)))
    # Beyond the outer pools it goes on rising: where all in a pool were tied, no border could be put between them.
    edge = float(logits(np.array([1.0]))[0])
    if knots[0] > -edge:
        knots, levels = [-edge, *knots], [levels[0] * _BEYOND, *levels]
    if knots[-1] < edge:
        knots, levels = [*knots, edge], [*levels, 1.0 - (1.0 - levels[-1]) * _BEYOND]
    return Isotonic(tuple(knots), tuple(levels))


def _loss(logit: Numbers, wanted: Numbers, weights: Numbers) -> float:
    return float(weights @ (np.logaddexp(0.0, logit) - wanted * logit))


def _logistic(logit: Numbers) -> Numbers:
    result: Numbers = 1.0 / (1.0 + np.exp(-np.clip(logit, -700.0, 700.0)))
    return result


def _rises(values: Sequence[float], *, strictly: bool) -> bool:
    steps = np.diff(values)
    return bool((steps > 0.0).all() if strictly else (steps >= 0.0).all())
