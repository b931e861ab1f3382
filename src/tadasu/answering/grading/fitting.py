"""From labelled scores to curves and borders, per language where the labels suffice, else for all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tadasu.answering.grading.curves import AsGiven, Curve, Method, fit
from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.reliability import Bin, calibration_error, log_loss, log_losses, reliability, sorts
from tadasu.answering.grading.thresholds import (
    CONFIDENCE,
    TARGET_MISSED,
    TARGET_PRECISION,
    Border,
    choose_high,
    choose_low,
    more_needed,
    ordered,
)
from tadasu.core.grades import Level, Thresholds
from tadasu.core.ids import digest
from tadasu.errors import LabelsTooFew

ALL = "*"
"""The curve and borders of every language that has none of its own."""
LEAST_A_CLASS = 10
"""Below so many labels of either kind nothing is fitted."""
OWN_A_CLASS = 30
"""From so many labels of either kind a language has a curve and borders of its own."""
NO_SPREAD = 0.06
"""Scores that lie within this tell the labelled passages hardly apart (as cosines of some encoders do)."""
_FOLDS = 5
_MIDDLE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledScore:
    """A labelled pair as the grader sees it.

    `language` is the question's, or ``ja>en`` where the passage is in another: such pairs are a matter of their own.
    `probability` is the grader's, before any curve. `weight` is how many pairs it stands for, where some were likelier
    to be picked for labelling than others.
    """

    question: str
    language: str
    source: str
    probability: float
    relevant: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What the borders promise: relevant passages called LOW at most, HIGH ones relevant at least, and how surely."""

    missed: float = TARGET_MISSED
    precision: float = TARGET_PRECISION
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A curve, its borders, and what is known of both.

    `borders` are those that apply to each language of the labelled pairs: a border that `low` and `high` do not promise
    is the grader's own of that language. `thresholds` are those of the most frequent one.
    `losses` are the held-out logarithmic losses by which the curve was chosen; calibration errors and `bins` are
    measured on labels that the curve had not seen (questions in five parts, each predicted from the others).
    `missed` counts (relevant pairs that are LOW, relevant pairs), `auc` says how well the grader sorts these pairs.
    """

    curve: Curve
    borders: Mapping[str, Thresholds]
    thresholds: Thresholds
    low: Border
    high: Border
    pairs: int
    relevant: int
    questions: int
    losses: Mapping[Method, float]
    error_before: float
    error_after: float
    auc: float
    spread: float
    missed: tuple[int, int]
    between: tuple[int, int]
    bins_before: tuple[Bin, ...] = ()
    bins_after: tuple[Bin, ...] = ()

    @property
    def flat(self) -> bool:
        """Whether the grader hardly tells the labelled passages apart."""
        return self.spread < NO_SPREAD


def fit_all(
    rows: Sequence[LabelledScore],
    *,
    targets: Targets | None = None,
    borders: Callable[[str], Thresholds] = lambda _: Thresholds(),
) -> dict[str, Fitted]:
    """Curves and borders by language, those of all pairs within one language under `ALL`.

    `borders` gives the grader's own thresholds by language: they stay where the labels promise nothing better.

    Raises LabelsTooFew where there are fewer than ten pairs of either kind.
    """
    wanted = targets or Targets()
    within = [row for row in rows if ">" not in row.language]
    _check(within)
    fitted = {ALL: _fit(within, wanted, borders)}
    for language in sorted({row.language for row in rows}):
        own = [row for row in rows if row.language == language]
        relevant = sum(row.relevant for row in own)
        if min(relevant, len(own) - relevant) >= OWN_A_CLASS and len(own) < len(within) + (">" in language) * len(own):
            fitted[language] = _fit(own, wanted, borders)
    return fitted


def chosen_for(fitted: Container[str], language: str) -> str:
    """Which key of `fitted` applies to pairs of `language`; empty where none does (another language than asked in)."""
    if language in fitted:
        return language
    return "" if ">" in language else ALL


def missing_labels(relevant: int, irrelevant: int) -> tuple[int, int]:
    """(relevant, irrelevant) labels that are missing before anything can be fitted."""
    return max(0, LEAST_A_CLASS - relevant), max(0, LEAST_A_CLASS - irrelevant)


def _check(rows: Sequence[LabelledScore]) -> None:
    relevant = sum(row.relevant for row in rows)
    if any(missing_labels(relevant, len(rows) - relevant)):
        raise LabelsTooFew(relevant=relevant, irrelevant=len(rows) - relevant, least=LEAST_A_CLASS)


def _fit(rows: Sequence[LabelledScore], targets: Targets, own: Callable[[str], Thresholds]) -> Fitted:
    scores = np.array([row.probability for row in rows])
    labels = np.array([float(row.relevant) for row in rows])
    weights = np.array([row.weight for row in rows])
    folds = _folds([row.question for row in rows])
    unseen = {method: _held_out(method, scores, labels, weights, folds) for method in Method}
    losses = {method: log_loss(found, labels, weights) for method, found in unseen.items() if found is not None}
    method = _chosen({name: found for name, found in unseen.items() if found is not None}, labels, weights)
    curve = fit(method, scores, labels, weights) or AsGiven()
    told = curve.apply(scores)
    most = _most_frequent(rows)
    kept = {language: own(language.partition(">")[0]) for language in {row.language for row in rows}}
    low, high = _borders(rows, told.tolist(), targets, kept)
    borders = {language: _in_force(low, high, one) for language, one in kept.items()}
    predicted = unseen[method]
    assert predicted is not None
    levels = [borders[row.language].level(score) for row, score in zip(rows, told.tolist(), strict=True)]
    missed = sum(row.relevant and level is Level.LOW for row, level in zip(rows, levels, strict=True))
    return Fitted(
        curve=curve,
        borders=borders,
        thresholds=borders[most],
        low=low,
        high=high,
        pairs=len(rows),
        relevant=int(labels.sum()),
        questions=len({row.question for row in rows}),
        losses=losses,
        error_before=calibration_error(scores, labels),
        error_after=calibration_error(predicted, labels),
        auc=sorts(scores, labels),
        spread=float(scores.max() - scores.min()),
        missed=(missed, int(labels.sum())),
        between=(levels.count(Level.MEDIUM), len(rows)),
        bins_before=reliability(scores, labels),
        bins_after=reliability(predicted, labels),
    )


def _chosen(unseen: Mapping[Method, Numbers], labels: Numbers, weights: Numbers) -> Method:
    """The simplest method that none with more freedom beats, on labels not seen, by more than chance would.

    By chance means within a standard error of the mean difference; `Method` lists the simpler ones first.
    """
    best = Method.AS_GIVEN
    for method, found in unseen.items():
        gained = weights * (log_losses(unseen[best], labels) - log_losses(found, labels))
        if gained.mean() > gained.std() / np.sqrt(len(gained)):
            best = method
    return best


def _borders(
    rows: Sequence[LabelledScore], told: Sequence[float], targets: Targets, kept: Mapping[str, Thresholds]
) -> tuple[Border, Border]:
    own = kept[_most_frequent(rows)]
    relevant = [at for at, row in enumerate(rows) if row.relevant]
    low = choose_low(
        [told[at] for at in relevant],
        [score for score, row in zip(told, rows, strict=True) if not row.relevant],
        target=targets.missed,
        confidence=targets.confidence,
        groups=[rows[at].question for at in relevant],
        weights=[rows[at].weight for at in relevant],
        keep=own.low,
        # What is likelier relevant than not is never LOW, nor is what is likelier not relevant ever HIGH.
        at_most=_MIDDLE,
    )
    high = choose_high(
        told,
        [row.relevant for row in rows],
        target=targets.precision,
        confidence=targets.confidence,
        weights=[row.weight for row in rows],
        keep=own.high,
        at_least=_MIDDLE,
    )
    if len(set(kept.values())) > 1:  # what stays where it was is somewhere else in each language
        pairs = list(zip(rows, told, strict=True))
        if not low.promised:
            missed = sum(row.relevant and score < kept[row.language].low for row, score in pairs)
            low = replace(low, hits=missed, bound=math.nan)
        if not high.promised:
            above = [row.relevant for row, score in pairs if score >= kept[row.language].high]
            needed = more_needed(sum(above), len(above), targets.precision, targets.confidence)
            high = replace(high, hits=sum(above), counted=len(above), bound=math.nan, needed=needed)
    return low, high


def _in_force(low: Border, high: Border, own: Thresholds) -> Thresholds:
    """The borders of a language whose own are `own`: they stay where nothing is promised."""
    kept_low = low if low.promised else replace(low, value=own.low)
    return ordered(kept_low, high if high.promised else replace(high, value=own.high))


def _held_out(method: Method, scores: Numbers, labels: Numbers, weights: Numbers, folds: Numbers) -> Numbers | None:
    """What curves say of labels that they had not seen; None where one of the parts allows no such curve."""
    found = np.full(len(scores), np.nan)
    for fold in np.unique(folds):
        seen, unseen = folds != fold, folds == fold
        curve = fit(method, scores[seen], labels[seen], weights[seen]) if seen.any() else None
        if curve is None and method is not Method.AS_GIVEN:
            return None
        found[unseen] = (curve or AsGiven()).apply(scores[unseen])
    return found


def _folds(questions: Sequence[str]) -> Numbers:
    """Five parts, all pairs of a question in one; the same for the same questions in any order."""
    distinct = sorted(set(questions), key=digest)
    place = {question: float(at % _FOLDS) for at, question in enumerate(distinct)}
    return np.array([place[question] for question in questions])


def _most_frequent(rows: Sequence[LabelledScore]) -> str:
    languages = [row.language for row in rows]
    return max(sorted(set(languages)), key=languages.count)
