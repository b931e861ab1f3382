"""How likely it is that the evidence answers the question: one score, from which the decision to abstain follows.

A logistic model over a handful of signals of the sentence that would be quoted. Its weights lie in ``sufficiency.json``
beside this file, with what they were fitted on (`benchmarks.answers --fit`): one set where a span reader has read the
evidence, one where only rules have. They are for the default settings of grading and refinement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files

from tadasu.core.grades import Verdict

_SURENESS = {Verdict.CORRECT: 1.0, Verdict.INCORRECT: -1.0}
_RIM = 0.005


@dataclass(frozen=True, slots=True)
class Signals:
    """What the score is made of; each is a number for which more is better.

    `span` is the log-odds of the best answer span in what is quoted (0 without a reader), `strip` those of the sentence
    and `passage` those of its passage by their grades (0 where it has none); `covered` the share of the question's
    terms that stand in the sentence or above it, weighted by how telling they are here, `own` that in the sentence
    alone; `kind` says whether what is asked for (a person, a date, a number) is there: 1, -1, or 0 where the question
    does not tell; `verdict` is 1 for CORRECT, -1 for INCORRECT, 0 where nobody knows; `same_subject` is 0 where the
    rules find a neighbour of what is asked for, and 1 where they do not; `on_topic` is 1 where they hold the sentence
    to be about the question at all.
    """

    span: float
    strip: float
    passage: float
    covered: float
    own: float
    kind: float
    verdict: float
    same_subject: float
    on_topic: float


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """The score in [0, 1], and the signals behind it."""

    score: float
    signals: Signals


@dataclass(frozen=True, slots=True)
class _Weights:
    bias: float
    by_signal: tuple[float, ...]


def log_odds(probability: float) -> float:
    """Of a probability, as far as it tells anything.

    >>> round(log_odds(0.5), 2), round(log_odds(0.0), 2)
    (0.0, -5.29)
    """
    inside = min(1.0 - _RIM, max(_RIM, probability))
    return math.log(inside / (1.0 - inside))


def sureness(verdict: Verdict) -> float:
    """`Signals.verdict` of a verdict."""
    return _SURENESS.get(verdict, 0.0)


def judge(signals: Signals, *, read: bool) -> Sufficiency:
    """The score of `signals`; `read` says whether a span reader has looked."""
    weights = _weights()["read" if read else "rules"]
    total = weights.bias + sum(w * x for w, x in zip(weights.by_signal, astuple(signals), strict=True))
    return Sufficiency(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total)))), signals)


@cache
def _weights() -> Mapping[str, _Weights]:
    told = json.loads((files(__package__) / "sufficiency.json").read_text(encoding="utf-8"))
    names = [field.name for field in fields(Signals)]
    return {
        kind: _Weights(float(one["bias"]), tuple(float(one.get(name, 0.0)) for name in names))
        for kind, one in told["weights"].items()
    }
