"""How well probabilities hold: mean said against share found, in bins of equal mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tadasu.core.proportions import wilson

if TYPE_CHECKING:
    from tadasu.answering.grading.model import Numbers

BINS = 10
_ROWS_A_BIN = 5
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Bin:
    """Some passages of neighbouring probabilities: how likely they were said to be relevant, and how many are.

    `low` and `high` are the 95 % Wilson interval of the share found.
    """

    said: float
    found: float
    count: int
    low: float
    high: float


def reliability(probabilities: Numbers, labels: Numbers) -> tuple[Bin, ...]:
    """Ten bins of equal mass from the lowest probability up; fewer where there are less than five rows for each."""
    count = len(probabilities)
    if not count:
        return ()
    order = np.argsort(probabilities, kind="stable")
    parts = np.array_split(order, max(1, min(BINS, count // _ROWS_A_BIN)))
    return tuple(_bin(probabilities[part], labels[part]) for part in parts)


def calibration_error(probabilities: Numbers, labels: Numbers) -> float:
    """The expected calibration error over the bins of `reliability`; NaN of nothing."""
    found = reliability(probabilities, labels)
    if not found:
        return float("nan")
    return sum(abs(one.said - one.found) * one.count for one in found) / len(probabilities)


def log_loss(probabilities: Numbers, labels: Numbers, weights: Numbers) -> float:
    """Mean logarithmic loss in nats; a certainty that is wrong costs as much as one in a million."""
    return float(np.average(log_losses(probabilities, labels), weights=weights))


def log_losses(probabilities: Numbers, labels: Numbers) -> Numbers:
    """The logarithmic loss of each."""
    sure = np.clip(probabilities, _LEAST, 1.0 - _LEAST)
    result: Numbers = -(labels * np.log(sure) + (1.0 - labels) * np.log1p(-sure))
    return result


def sorts(probabilities: Numbers, labels: Numbers) -> float:
    """The area under the ROC curve: how often a relevant passage has the higher probability; NaN without both."""
    relevant, others = probabilities[labels == 1], np.sort(probabilities[labels == 0])
    if not len(relevant) or not len(others):
        return float("nan")
    below = np.searchsorted(others, relevant, side="left") + np.searchsorted(others, relevant, side="right")
    return float(below.mean() / 2.0 / len(others))


def _bin(probabilities: Numbers, labels: Numbers) -> Bin:
    hits, count = int(labels.sum()), len(labels)
    low, high = wilson(hits, count)
    return Bin(float(probabilities.mean()), hits / count, count, low, high)
