"""How sure the report can be of its figures: shares and areas with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tadasu.core.proportions import wilson

Numbers = NDArray[np.float64]
Labels = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `of`, with its 95 % Wilson interval; `value` is NaN of nothing."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The share itself, in [0, 1]."""
        return self.hits / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson (1927): where the true share lies, at 95 %."""
        return wilson(self.hits, self.of)

    def __str__(self) -> str:
        if not self.of:
            return "-"
        low, high = self.interval
        return f"{self.value:.3f} [{low:.3f}, {high:.3f}]"


def auc_interval(
    scores: Numbers, labels: Labels, questions: NDArray[np.intp], *, times: int, seed: int = 0
) -> tuple[float, float]:
    """The 95 % percentile interval of the AUC when whole questions are drawn again with replacement.

    `questions` gives each pair's question as a number from 0.
    """
    if not len(scores):
        return math.nan, math.nan
    random = np.random.default_rng(seed)
    count = int(questions.max()) + 1
    values, places = np.unique(scores, return_inverse=True)
    right, wrong = (labels == 1).astype(np.float64), (labels == 0).astype(np.float64)
    found = []
    for _ in range(times):
        drawn = np.bincount(random.integers(0, count, count), minlength=count)[questions]
        up = np.bincount(places, weights=drawn * right, minlength=len(values))
        down = np.bincount(places, weights=drawn * wrong, minlength=len(values))
        total = up.sum() * down.sum()
        if total:
            found.append((up * (np.cumsum(down) - down / 2.0)).sum() / total)
    low, high = np.percentile(found, [2.5, 97.5]) if found else (math.nan, math.nan)
    return float(low), float(high)
