"""The table of graders: one line per grader and set, and what the lines add up to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.grading_groups import Group, Labels
from benchmarks.grading_measures import Numbers, Share, auc_interval
from benchmarks.grading_rows import Graded, Row
from benchmarks.grading_sets import HARD
from training.feature_evaluation import auc, calibration_error

HEAD = (
    "set", "grader", "questions", "pairs", "with answer", "ROC-AUC [95 %]", "precision at tau_high",
    "recall at tau_high", "missed at tau_low [95 %]", "ECE", "pairs/s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One grader on one set; what needs probabilities is None where it has none.

    `pairs` counts those whose label is known and that were graded, `ungraded` those that were not. `missed` is the
    false-negative rate: passages with the answer that are LOW. `tiers` counts which tier decided how many pairs.
    """

    set: str
    grader: str
    questions: int
    pairs: int
    ungraded: int
    positives: int
    auc: float
    auc_interval: tuple[float, float]
    precision: Share | None
    recall: Share | None
    missed: Share | None
    ece: float | None
    pairs_per_second: float
    tiers: Mapping[str, int]

    @property
    def cells(self) -> tuple[object, ...]:
        """As `HEAD` wants them."""
        low, high = self.auc_interval
        return (
            self.set, self.grader, self.questions, self.pairs, self.positives,
            f"{self.auc:.4f} [{low:.3f}, {high:.3f}]", _value(self.precision), _value(self.recall),
            self.missed or "-", "-" if self.ece is None else self.ece,
            f"{self.pairs_per_second:,.0f}",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """A line and the pairs behind it: labels 0 or 1, scores, probabilities (None: none), and each pair's question."""

    line: Line
    labels: Labels
    probabilities: Numbers | None
    places: np.ndarray[tuple[int], np.dtype[np.intp]]


def measure(name: str, language: str, row: Row, groups: Sequence[Group], *, resamples: int) -> Measured:
    """Grade all groups of one set; the clock runs while grading only, after one group that is not counted."""
    row.grade(groups[0])
    began = time.perf_counter()
    graded = [row.grade(group) for group in groups]
    seconds = time.perf_counter() - began
    labels = np.concatenate([group.labels for group in groups])
    scores = np.concatenate([found.scores for found in graded])
    places = np.repeat(np.arange(len(groups)), [len(group.labels) for group in groups])
    known = labels >= 0
    used = known & ~np.isnan(scores)
    probabilities = _probabilities(graded, used)
    right = labels[used] == 1
    borders = row.borders(language)
    precision = recall = missed = None
    if borders is not None and probabilities is not None:
        high, low = probabilities >= borders.high, probabilities < borders.low
        precision = Share(int((high & right).sum()), int(high.sum()))
        recall = Share(int((high & right).sum()), int(right.sum()))
        missed = Share(int((low & right).sum()), int(right.sum()))
    line = Line(
        set=name,
        grader=row.name,
        questions=len(groups),
        pairs=int(used.sum()),
        ungraded=int((known & ~used).sum()),
        positives=int(right.sum()),
        auc=auc(scores[used], labels[used]),
        auc_interval=auc_interval(scores[used], labels[used], places[used], times=resamples),
        precision=precision,
        recall=recall,
        missed=missed,
        ece=None if probabilities is None else calibration_error(probabilities, labels[used]),
        pairs_per_second=len(labels) / seconds,
        tiers=dict(Counter(grade.tier for found in graded for grade in found.grades or ())),
    )
    return Measured(line, labels[used], probabilities, places[used])


def _probabilities(graded: Sequence[Graded], used: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Numbers | None:
    given = [found.probabilities for found in graded if found.probabilities is not None]
    return np.concatenate(given)[used] if len(given) == len(graded) else None


@dataclass(frozen=True, slots=True)
class Pooled:
    """One grader over all sets that it was measured on; `sets` counts them."""

    grader: str
    sets: int
    pairs: int
    ece: float
    missed: Share


def pooled(found: Sequence[Measured]) -> list[Pooled]:
    """The calibration error of each grader with probabilities over the pairs of all its sets together.

    The hard sets are left out: their questions were chosen by what the search did with them, and nobody is calibrated
    for that.
    """
    by_grader: dict[str, list[Measured]] = {}
    for one in found:
        if one.probabilities is not None and not one.line.set.endswith(HARD):
            by_grader.setdefault(one.line.grader, []).append(one)
    result = []
    for grader, own in by_grader.items():
        probabilities = np.concatenate([one.probabilities for one in own if one.probabilities is not None])
        labels = np.concatenate([one.labels for one in own])
        missed = [one.line.missed for one in own if one.line.missed is not None]
        share = Share(sum(one.hits for one in missed), sum(one.of for one in missed))
        result.append(Pooled(grader, len(own), len(labels), calibration_error(probabilities, labels), share))
    return result


@dataclass(frozen=True, slots=True)
class Comparison:
    """The shipped grader on one set: against the best other row, and against the full grader.

    `lost` is the full grader's AUC minus the cascade's; `read` the share of pairs that went to the cross-encoder.
    """

    set: str
    shipped: float
    best_other: str
    best_other_auc: float
    lost: float
    read: float

    @property
    def above(self) -> bool:
        """Whether the shipped grader is above every row that is not made of the same parts."""
        return self.shipped > self.best_other_auc


def compared(lines: Sequence[Line], *, shipped: str, full: str) -> list[Comparison]:
    """One comparison per set that has both graders."""
    result = []
    for name in dict.fromkeys(line.set for line in lines):
        own = {line.grader: line for line in lines if line.set == name}
        if shipped not in own or full not in own:
            continue
        others = [line for grader, line in own.items() if grader not in {shipped, full}]
        best, cascade = max(others, key=lambda line: line.auc), own[shipped]
        counted = sum(cascade.tiers.values())
        read = 1.0 - cascade.tiers.get("features", 0) / counted if counted else float("nan")
        result.append(Comparison(name, cascade.auc, best.grader, best.auc, own[full].auc - cascade.auc, read))
    return result


def _value(share: Share | None) -> object:
    return "-" if share is None or not share.of else share.value
