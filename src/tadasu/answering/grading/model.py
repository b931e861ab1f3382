"""The fitted numbers of the first tier and how they become probabilities: plain numpy at run time.

A language has one small model per *view*: the set of signals that are known for a passage. A logistic regression fitted
with everything known says nothing useful where a third of its inputs is missing, so each view has weights of its own,
fitted on passages where the rest was hidden. A monotone curve fitted on other articles turns its logit into a
calibrated probability.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tadasu.answering.grading.views import PASSAGE_SIGNALS, STRIP_SIGNALS
from tadasu.core.grades import Thresholds
from tadasu.errors import ModelUnavailable

Numbers: TypeAlias = NDArray[np.float64]

FORMAT = 1
_TAIL = 1e-4


@dataclass(frozen=True, slots=True)
class Logistic:
    """Calibrated logistic regression over named signals.

    `columns` index the signals that it looks at (`views.PASSAGE_SIGNALS` or `views.STRIP_SIGNALS`); `weights` apply to
    ``(x - mean) / scale``, clipped to ±`CLIP`. The logit goes through the curve of `knots` (increasing logits) to
    `heights` (non-decreasing probabilities), linear between.
    """

    CLIP = 6.0

    columns: NDArray[np.intp]
    mean: Numbers
    scale: Numbers
    weights: Numbers
    bias: float
    knots: Numbers
    heights: Numbers

    def logits(self, signals: Numbers) -> Numbers:
        """One logit per row of `signals` (n, all signals); NaN where a signal that it needs is unknown."""
        standard = (signals[:, self.columns] - self.mean) / self.scale
        result: Numbers = np.clip(standard, -self.CLIP, self.CLIP) @ self.weights + self.bias
        return result

    def probabilities(self, signals: Numbers) -> Numbers:
        """One calibrated probability in (0, 1) per row; NaN where a signal that it needs is unknown."""
        logits = self.logits(signals)
        result: Numbers = np.clip(np.interp(logits, self.knots, self.heights), _TAIL, 1.0 - _TAIL)
        result[np.isnan(logits)] = np.nan
        return result


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """What was fitted for one language: a passage model per view, a strip model per view, and its thresholds."""

    passages: Mapping[str, Logistic]
    strips: Mapping[str, Logistic]
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class FeatureModel:
    """All languages, and the version of the fitted numbers."""

    version: str
    languages: Mapping[str, LanguageModel]


def load(path: Path) -> FeatureModel:
    """Read fitted numbers; raises ModelUnavailable where the file is missing, damaged or of another format."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ModelUnavailable(path=path, reason=f"format {raw['format']}, not {FORMAT}")
        return _read(raw)
    except FileNotFoundError as error:
        raise ModelUnavailable(path=path, reason="no such file") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(path=path, reason=f"damaged: {error!r}") from error


def _read(raw: Mapping[str, Any]) -> FeatureModel:
    return FeatureModel(
        version=str(raw["version"]),
        languages={
            language: LanguageModel(
                passages={view: _logistic(one, PASSAGE_SIGNALS) for view, one in part["passages"].items()},
                strips={view: _logistic(one, STRIP_SIGNALS) for view, one in part["strips"].items()},
                thresholds=Thresholds(high=part["thresholds"]["high"], low=part["thresholds"]["low"]),
            )
            for language, part in raw["languages"].items()
        },
    )


def _logistic(raw: Mapping[str, Any], signals: tuple[str, ...]) -> Logistic:
    model = Logistic(
        columns=np.array([signals.index(name) for name in raw["signals"]], dtype=np.intp),
        mean=np.array(raw["mean"], dtype=np.float64),
        scale=np.array(raw["scale"], dtype=np.float64),
        weights=np.array(raw["weights"], dtype=np.float64),
        bias=float(raw["bias"]),
        knots=np.array(raw["knots"], dtype=np.float64),
        heights=np.array(raw["heights"], dtype=np.float64),
    )
    if not all(np.isfinite(part).all() for part in (model.mean, model.weights, model.knots, model.heights)):
        raise ValueError("a fitted number is not finite")
    if not (model.scale > 0).all() or (np.diff(model.knots) <= 0).any() or (np.diff(model.heights) < 0).any():
        raise ValueError("scales must be positive and the curve must rise")
    return model
