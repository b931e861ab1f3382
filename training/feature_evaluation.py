"""How well probabilities sort and how far they can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tadasu.answering.grading.features import FeatureGrader
from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.views import PASSAGE_SIGNALS
from training.feature_rows import Asking

Labels = NDArray[np.int8]
BINS = 10


@dataclass(frozen=True, slots=True)
class Graded:
    """Probabilities of many passages and of their strips, NaN where ungraded; in the order of the askings."""

    probabilities: Numbers
    strips: Numbers


@dataclass(frozen=True, slots=True)
class Report:
    """One row of the model card; all shares in [0, 1].

    `ece` is over ten bins of equal mass. `precision_high` is the share of HIGH passages that hold the answer, `missed`
    the share of passages that hold it and are LOW. `present_…` are shares of the questions whose answer was in the
    index, `absent_…` of those whose article or passage had been taken out, `swapped_…` of those that were given another
    name, number or attribute, by verdict (rule any_high); the pairs of swapped questions count nowhere else.
    `strip_best` is how often the best strip of a passage that holds the answer holds it, `strip_kept` how often one at
    0.5 or above, the best one or a neighbour of these does.
    """

    name: str
    questions: int
    pairs: int
    positives: int
    auc: float
    cosine_auc: float
    ece: float
    precision_high: float
    missed: float
    present_correct: float
    present_incorrect: float
    absent_correct: float
    absent_incorrect: float
    swapped_correct: float
    swapped_incorrect: float
    strip_auc: float
    strip_ece: float
    strip_best: float
    strip_kept: float


def auc(scores: Numbers, labels: Labels) -> float:
    """Area under the ROC curve: how often a positive lies above a negative, ties half."""
    positives = int((labels == 1).sum())
    negatives = int((labels == 0).sum())
    if not positives or not negatives:
        return float("nan")
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    return float((ranks[labels == 1].sum() - positives * (positives + 1) / 2.0) / (positives * negatives))


def reliability(probabilities: Numbers, labels: Labels, *, bins: int = BINS) -> list[tuple[int, float, float]]:
    """(pairs, mean probability, share of positives) in bins of equal mass, by probability."""
    order = np.argsort(probabilities, kind="stable")
    return [
        (len(part), float(probabilities[part].mean()), float(labels[part].mean()))
        for part in np.array_split(order, bins)
        if len(part)
    ]


def calibration_error(probabilities: Numbers, labels: Labels, *, bins: int = BINS) -> float:
    """Expected calibration error over bins of equal mass."""
    table = reliability(probabilities, labels, bins=bins)
    return sum(count * abs(mean - share) for count, mean, share in table) / sum(count for count, _, _ in table)


def grade(grader: FeatureGrader, askings: Sequence[Asking]) -> Graded:
    """Grade every asking as the product does."""
    found = [grader.probabilities(asking.measured) for asking in askings]
    return Graded(np.concatenate([passages for passages, _ in found]), np.concatenate([strips for _, strips in found]))


def report(name: str, grader: FeatureGrader, askings: Sequence[Asking]) -> Report:
    """Measure `grader` on `askings`; passages of unknown label, and ungraded ones, are left out of the pairs."""
    graded = grade(grader, askings)
    labels = np.concatenate([asking.labels for asking in askings])
    cosines = np.concatenate([asking.measured.passages[:, PASSAGE_SIGNALS.index("cosine")] for asking in askings])
    used = (labels >= 0) & ~np.isnan(graded.probabilities)
    used &= np.repeat([not asking.swapped for asking in askings], [len(asking.labels) for asking in askings])
    probabilities, truth = graded.probabilities[used], labels[used]
    high = probabilities >= grader.thresholds(askings[0].measured.language).high
    low = probabilities < grader.thresholds(askings[0].measured.language).low
    present, absent, swapped = _verdicts(grader, graded, askings)
    strip_labels = np.concatenate([asking.strip_labels for asking in askings])
    known = (strip_labels >= 0) & ~np.isnan(graded.strips)
    best, kept = _strips(graded, askings)
    return Report(
        name=name,
        questions=len(askings),
        pairs=len(truth),
        positives=int(truth.sum()),
        auc=auc(probabilities, truth),
        cosine_auc=auc(cosines[used], truth),
        ece=calibration_error(probabilities, truth),
        precision_high=_share(truth[high] == 1),
        missed=_share(low[truth == 1]),
        present_correct=_share(present == "correct"),
        present_incorrect=_share(present == "incorrect"),
        absent_correct=_share(absent == "correct"),
        absent_incorrect=_share(absent == "incorrect"),
        swapped_correct=_share(swapped == "correct"),
        swapped_incorrect=_share(swapped == "incorrect"),
        strip_auc=auc(graded.strips[known], strip_labels[known]),
        strip_ece=calibration_error(graded.strips[known], strip_labels[known]),
        strip_best=best,
        strip_kept=kept,
    )


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else float("nan")


def _verdicts(
    grader: FeatureGrader, graded: Graded, askings: Sequence[Asking]
) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.str_]]:
    present: list[str] = []
    absent: list[str] = []
    swapped: list[str] = []
    start = 0
    for asking in askings:
        own = graded.probabilities[start : start + len(asking.labels)]
        start += len(asking.labels)
        borders = grader.thresholds(asking.measured.language)
        verdict = (
            "correct" if (own >= borders.high).any() else "incorrect" if (own < borders.low).all() else "ambiguous"
        )
        (swapped if asking.swapped else present if asking.answerable else absent).append(verdict)
    return np.array(present), np.array(absent), np.array(swapped)


def _strips(graded: Graded, askings: Sequence[Asking]) -> tuple[float, float]:
    best, kept, start = [], [], 0
    for asking in askings:
        for first, last in pairwise(asking.measured.bounds):
            scores, labels = graded.strips[start + first : start + last], asking.strip_labels[first:last]
            if len(labels) and labels.max() == 1 and not np.isnan(scores).any():
                top = int(scores.argmax())
                chosen = np.pad((scores >= 0.5) | (np.arange(len(scores)) == top), 1)
                best.append(labels[top] == 1)
                kept.append(bool(labels[chosen[:-2] | chosen[1:-1] | chosen[2:]].max(initial=0) == 1))
        start += len(asking.strip_labels)
    return _share(np.array(best)), _share(np.array(kept))
