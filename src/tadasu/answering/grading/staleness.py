"""Whether a calibration still holds: grader, documents and scores that it was made with, against those of today."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tadasu.answering.grading.model import Numbers
from tadasu.core.ids import digest

CHANGED_SHARE = 0.2
"""From this share of new, changed or removed documents on, labels on the old ones say too little."""
DRIFT = 0.25
"""From this population stability index on, by common practice, two distributions are not the same."""
LEAST_SCORES = 200
LEAST_QUESTIONS = 20
"""With fewer scores or questions on either side, drift cannot be told from chance, and is not looked for."""
_KEPT = 256
_DIGITS = 12
_BINS = 10
_SMALL = 1e-4


class Stale(enum.Enum):
    """What has changed since."""

    GRADER = "grader"
    CORPUS = "corpus"
    SCORES = "scores"


@dataclass(frozen=True, slots=True)
class Staleness:
    """Why a calibration holds no longer; `details` has the names or shares."""

    why: Stale
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CorpusSketch:
    """A set of documents in a few lines: how many, and the smallest 256 of their hashes (a bottom-k sketch).

    Exact for up to 256 documents; the share of changed ones is within about six points beyond.
    """

    documents: int
    smallest: tuple[str, ...]


def sketch(fingerprints: Mapping[str, str]) -> CorpusSketch:
    """The sketch of documents given as source → content hash."""
    hashes = sorted(digest(source, content)[:_DIGITS] for source, content in fingerprints.items())
    return CorpusSketch(len(hashes), tuple(hashes[:_KEPT]))


def changed_share(before: CorpusSketch, now: CorpusSketch) -> float:
    """The share of documents, of the larger set, that are not in both, in [0, 1]."""
    larger = max(before.documents, now.documents)
    if not larger:
        return 0.0
    union = sorted({*before.smallest, *now.smallest})[:_KEPT]
    both = len(set(union) & set(before.smallest) & set(now.smallest))
    alike = both / len(union) if union else 0.0
    shared = alike * (before.documents + now.documents) / (1.0 + alike)
    return min(1.0, max(0.0, 1.0 - shared / larger))


@dataclass(frozen=True, slots=True)
class ScoreShape:
    """How a grader's probabilities were spread: `shares` of the `count` scores between `edges` (one more share)."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    count: int
    questions: int


def shape_of(scores: Sequence[float], *, questions: int) -> ScoreShape:
    """The shape of `scores`, in tenths where they differ enough."""
    if not scores:
        return ScoreShape((), (1.0,), 0, questions)
    values = np.array(scores, dtype=np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
    return ScoreShape(tuple(edges.tolist()), tuple(_shares(values, edges).tolist()), len(values), questions)


def drift(before: ScoreShape, scores: Sequence[float], *, questions: int) -> float:
    """The population stability index of `scores` against `before`, less what chance alone gives; NaN for too few."""
    enough = min(before.count, len(scores)) >= LEAST_SCORES and min(before.questions, questions) >= LEAST_QUESTIONS
    if not enough or not before.edges:
        return math.nan
    now = np.maximum(_shares(np.array(scores, dtype=np.float64), np.array(before.edges)), _SMALL)
    then = np.maximum(np.array(before.shares), _SMALL)
    index = float(((now - then) * np.log(now / then)).sum())
    return max(0.0, index - (len(then) - 1) * (1.0 / before.count + 1.0 / len(scores)))


def _shares(values: Numbers, edges: Numbers) -> Numbers:
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
    result: Numbers = counts / len(values)
    return result
