"""What a scorer says about (question, passage) pairs before anything is calibrated."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from numbers import Real

from tadasu.core.documents import Span


class ScoreScale(enum.Enum):
    """What a scorer's numbers mean. It is declared, never guessed from the numbers."""

    LOGIT = "logit"
    """Any real number; its logistic function is a probability."""
    PROBABILITY = "probability"
    """A number in [0, 1]."""


HOW_TO_DECLARE = 'write scale = "probability" for numbers in [0, 1], or scale = "logit" for any real number'
"""What a user is told whose scorer does not say what its scores mean."""


@dataclass(frozen=True, slots=True)
class PairScore:
    """One score, in the scorer's declared scale; higher is more relevant.

    `score` is NaN exactly where this pair could not be scored; `reason` then says why. `strips` holds one score per
    strip of the passage in the same scale, or nothing where the scorer gives none. `hit` is the window of a long
    passage that the score comes from, relative to the passage's text; None where it was read whole.
    """

    score: float
    strips: tuple[float, ...] = ()
    hit: Span | None = None
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no score."""
        return not math.isfinite(self.score)


def unscored(reason: str) -> PairScore:
    """A pair that could not be scored."""
    return PairScore(score=math.nan, reason=reason)


def number_in(raw: object, scale: ScoreScale) -> float | str:
    """`raw` as a finite number of `scale`, or what is wrong with it, to follow the words "the score".

    >>> number_in(0.5, ScoreScale.PROBABILITY), number_in(1.5, ScoreScale.PROBABILITY)
    (0.5, 'is 1.5, and a probability lies in [0, 1]')
    >>> number_in("0.5", ScoreScale.LOGIT)
    "is no number: '0.5'"
    """
    if isinstance(raw, bool) or not isinstance(raw, Real):
        return f"is no number: {_shown(raw)}"
    try:
        value = float(raw)
    except (OverflowError, ValueError, TypeError):
        return "is no finite number"
    if not math.isfinite(value):
        return f"is no finite number: {value}"
    if scale is ScoreScale.PROBABILITY and not 0.0 <= value <= 1.0:
        return f"is {value:g}, and a probability lies in [0, 1]"
    return value


def logit_of(score: float, scale: ScoreScale) -> float:
    """`score` as a logit, clipped to ±30 so that a certain probability stays finite.

    Raises ValueError where `score` is no number of that scale (NaN, infinite, a probability outside [0, 1]).

    >>> round(logit_of(0.5, ScoreScale.PROBABILITY), 3), logit_of(2.5, ScoreScale.LOGIT)
    (0.0, 2.5)
    """
    if not math.isfinite(score):
        raise ValueError(f"a score is a finite number, not {score}")
    if scale is ScoreScale.LOGIT:
        return max(-_FAR, min(_FAR, score))
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"a probability lies in [0, 1], not {score}")
    if score in {0.0, 1.0}:
        return _FAR if score else -_FAR
    return max(-_FAR, min(_FAR, math.log(score / (1.0 - score))))


def probability_of(logit: float) -> float:
    """The logistic function, without overflow.

    >>> probability_of(0.0), probability_of(-1000.0)
    (0.5, 0.0)
    """
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(max(logit, -700.0)) if logit > -745.0 else 0.0
    return grown / (1.0 + grown)


def _shown(value: object) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a plugin's object may do anything when it is shown
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


_FAR = 30.0
