"""How what the features say and what the cross-encoder says become one calibrated probability: plain numpy at run time.

Both read the same passage, the first by counting, the second by reading; a small logistic regression over their logits
weighs them, per language, and a monotone curve fitted on other articles makes it a probability. Fitted by
``tadasu-train weigh``; the file says for which scorer it holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tadasu.answering.grading.model import Numbers
from tadasu.core.grades import Thresholds
from tadasu.errors import ModelUnavailable

FORMAT = 3
FILE = "cascade.json"
_TAIL = 1e-4
_FARTHEST = 6.0


def lead_of(logit: float, rivals: Iterable[float]) -> float | None:
    """By how much the scorer's `logit` is above the best of `rivals` (negative: below), at most 6 either way.

    A question has one answer more often than several, so that a passage which reads well beside one that reads better
    is seldom it. None without rivals.
    """
    best = max(rivals, default=None)
    return None if best is None else min(max(logit - best, -_FARTHEST), _FARTHEST)


@dataclass(frozen=True, slots=True)
class Weighing:
    """Logit of relevance = weights · inputs + bias, then the curve of `knots` (increasing) to `heights`.

    Inputs are ``(features' logit, scorer's logit, its lead)``, the first two of them, or the scorer's logit alone; for
    a passage that was not read ``(features' logit, the scorer's best logit of the others)``.
    """

    weights: Numbers
    bias: float
    knots: Numbers
    heights: Numbers

    def logits(self, inputs: Numbers) -> Numbers:
        """One logit per row of `inputs` (n, as many as weights)."""
        result: Numbers = inputs @ self.weights + self.bias
        return result

    def probabilities(self, inputs: Numbers) -> Numbers:
        """One calibrated probability in (0, 1) per row."""
        result: Numbers = np.clip(np.interp(self.logits(inputs), self.knots, self.heights), _TAIL, 1.0 - _TAIL)
        return result


@dataclass(frozen=True, slots=True)
class Band:
    """Between `low` and `high` (of the features' probability) the features are not sure enough to decide alone."""

    low: float
    high: float

    def holds(self, probability: float) -> bool:
        """Whether `probability` needs a second opinion."""
        return self.low < probability < self.high


@dataclass(frozen=True, slots=True)
class Combination:
    """What was fitted for one language: for passages, for strips, with features and without, and its borders.

    `led` also weighs the lead over the other passages that were read (`lead_of`), `both` is for where there are none.
    At most `share` of a retrieval's passages are read; what is within the band and was left out is weighed by `unread`.
    """

    led: Weighing
    both: Weighing
    alone: Weighing
    unread: Weighing
    strips: Weighing
    strips_alone: Weighing
    band: Band
    share: float
    thresholds: Thresholds

    def most_read(self, passages: int) -> int:
        """How many of so many passages are read at the most."""
        return math.ceil(self.share * passages)


@dataclass(frozen=True, slots=True)
class CombinationTable:
    """All languages; `scorer` is the id of the scorer that it was fitted with, and holds for no other."""

    version: str
    scorer: str
    languages: Mapping[str, Combination]

    def of(self, language: str) -> Combination:
        """The numbers for questions in `language`; those of English where it was not fitted for."""
        return self.languages.get(language) or self.languages["en"]


def load(path: Path) -> CombinationTable:
    """Read fitted numbers; raises ModelUnavailable where the file is missing, damaged or of another format."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ModelUnavailable(path=path, reason=f"format {raw['format']}, not {FORMAT}")
        return CombinationTable(
            version=str(raw["version"]),
            scorer=str(raw["scorer"]),
            languages={language: _combination(part) for language, part in raw["languages"].items()},
        )
    except FileNotFoundError as error:
        raise ModelUnavailable(path=path, reason="no such file") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(path=path, reason=f"damaged: {error!r}") from error


def _combination(raw: Mapping[str, Any]) -> Combination:
    return Combination(
        led=_weighing(raw["led"]),
        both=_weighing(raw["both"]),
        alone=_weighing(raw["alone"]),
        unread=_weighing(raw["unread"]),
        strips=_weighing(raw["strips"]),
        strips_alone=_weighing(raw["strips_alone"]),
        band=Band(low=float(raw["band"]["low"]), high=float(raw["band"]["high"])),
        share=float(raw["share"]),
        thresholds=Thresholds(high=raw["thresholds"]["high"], low=raw["thresholds"]["low"]),
    )


def _weighing(raw: Mapping[str, Any]) -> Weighing:
    found = Weighing(
        weights=np.array(raw["weights"], dtype=np.float64),
        bias=float(raw["bias"]),
        knots=np.array(raw["knots"], dtype=np.float64),
        heights=np.array(raw["heights"], dtype=np.float64),
    )
    if not all(np.isfinite(part).all() for part in (found.weights, found.knots, found.heights)):
        raise ValueError("a fitted number is not finite")
    if (np.diff(found.knots) <= 0).any() or (np.diff(found.heights) < 0).any():
        raise ValueError("the curve must rise")
    return found
