"""`tadasu calibrate`: from labels to a calibration of this workspace, and whether one still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tadasu.answering.correction.verdicts import verdict_of
from tadasu.answering.grading.calibrated import BEFORE, own_thresholds
from tadasu.answering.grading.calibration import CorpusCalibration, made, write
from tadasu.answering.grading.fitting import Fitted, LabelledScore, Targets, chosen_for, fit_all
from tadasu.answering.grading.staleness import (
    CHANGED_SHARE,
    DRIFT,
    CorpusSketch,
    Stale,
    Staleness,
    changed_share,
    drift,
    shape_of,
    sketch,
)
from tadasu.app.labelled_pairs import GradedLabels, grade_labels
from tadasu.core.documents import Origin
from tadasu.core.grades import Grade, Thresholds, Verdict
from tadasu.core.runs import Run
from tadasu.errors import GradingFailed

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.labels import LabelFile

LATEST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Part:
    """Labelled pairs of the documents below one folder: `missed` relevant ones are LOW; means are in [0, 1]."""

    prefix: str
    pairs: int
    relevant: int
    missed: int
    said: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a calibration came to. `before` and `after` count the labelled questions' verdicts by either borders."""

    calibration: CorpusCalibration
    fitted: Mapping[str, Fitted]
    graded: GradedLabels
    targets: Targets
    parts: tuple[Part, ...]
    before: Mapping[Verdict, int]
    after: Mapping[Verdict, int]


async def calibrate(
    container: Container, labels: LabelFile, *, targets: Targets, on_progress: Callable[[int, int], None]
) -> Outcome:
    """Grade the labelled pairs and fit; nothing is written.

    Raises LabelsTooFew where there are too few labels of either kind, GradingFailed where no pair could be graded.
    """
    grader = container.grader_as_made
    graded = await grade_labels(container, labels.labels, name=labels.name, on_progress=on_progress)
    if graded.failed and not graded.scores:
        raise GradingFailed(grader=grader.id, reason=graded.failed[0][1])
    fitted = fit_all(
        graded.scores, targets=targets, borders=lambda language: own_thresholds(grader, language)
    )  # fmt: skip
    calibration = made(
        fitted,
        grader=grader.id,
        made_at=container.clock.now().isoformat(timespec="seconds"),
        corpus=await corpus_sketch(container),
        scores=shape_of(graded.population, questions=len(graded.asked)),
    )
    return Outcome(
        calibration=calibration,
        fitted=fitted,
        graded=graded,
        targets=targets,
        parts=_parts(graded.scores, calibration),
        before=_verdicts(container, graded, lambda key: (None, own_thresholds(grader, key.partition(">")[0]))),
        after=_verdicts(container, graded, lambda key: _applied(fitted, key)),
    )


def keep(container: Container, outcome: Outcome) -> None:
    """Write `outcome` into the workspace, where every later start finds it."""
    write(outcome.calibration, outcome.fitted, outcome.targets, container.workspace.calibration_file)


async def corpus_sketch(container: Container) -> CorpusSketch:
    """The documents of the reader's tenant in a few lines."""
    return sketch(await container.store.fingerprints(tenant=container.reader.tenant))


async def corpus_change(container: Container, calibration: CorpusCalibration) -> Staleness | None:
    """Whether too many documents have changed since `calibration` was made."""
    now = await corpus_sketch(container)
    share = changed_share(calibration.corpus, now)
    if share <= CHANGED_SHARE:
        return None
    return Staleness(Stale.CORPUS, {"share": share, "documents": now.documents})


def score_drift(runs: Sequence[Run], calibration: CorpusCalibration) -> Staleness | None:
    """Whether the scores of `runs` that were graded by `calibration` are spread otherwise than when it was made."""
    scores: list[float] = []
    questions = 0
    for run in runs:
        grades = [
            one.grade
            for done in run.rounds[:1]
            for one in done.candidates
            if one.origin is Origin.INTERNAL and one.grade.grader.endswith(f"+{calibration.id}")
        ]
        known = [told for grade in grades if (told := _before(grade)) is not None]
        scores += known
        questions += bool(known)
    index = drift(calibration.scores, scores, questions=questions)
    if not index > DRIFT:
        return None
    return Staleness(Stale.SCORES, {"index": index, "questions": questions})


def _before(grade: Grade) -> float | None:
    told = grade.signals.get(BEFORE)
    return None if told is None or grade.probability is None else told


def _applied(fitted: Mapping[str, Fitted], key: str) -> tuple[Fitted | None, Thresholds]:
    name = chosen_for(fitted, key)
    return (fitted[name], fitted[name].thresholds) if name else (None, Thresholds())


def _verdicts(
    container: Container, graded: GradedLabels, rule: Callable[[str], tuple[Fitted | None, Thresholds]]
) -> dict[Verdict, int]:
    chosen = container.correction
    counts: Counter[Verdict] = Counter()
    for candidates in graded.asked:
        grades = []
        for number, (key, probability) in enumerate(candidates):
            fit, borders = rule(key)
            told = probability if fit is None else float(fit.curve.apply(np.array([probability]))[0])
            grades.append(Grade(str(number), borders.level(told), min(1.0, max(0.0, told)), "", ""))
        if grades:
            counts[verdict_of(grades, rule=chosen.rule, quality_threshold=chosen.quality_threshold)] += 1
    return dict(counts)


def _parts(rows: Sequence[LabelledScore], calibration: CorpusCalibration) -> tuple[Part, ...]:
    """By the first folder in which the sources differ."""
    folders = [row.source.split("/")[:-1] for row in rows]
    depth = 0
    while all(len(one) > depth for one in folders) and len({tuple(one[: depth + 1]) for one in folders}) == 1:
        depth += 1
    grouped: dict[str, list[LabelledScore]] = {}
    for row, folder in zip(rows, folders, strict=True):
        grouped.setdefault("/".join(folder[: depth + 1]) or ".", []).append(row)
    return tuple(_part(prefix, grouped[prefix], calibration) for prefix in sorted(grouped))


def _part(prefix: str, rows: Sequence[LabelledScore], calibration: CorpusCalibration) -> Part:
    said, missed = [], 0
    for row in rows:
        fitted = calibration.of(row.language)
        told = row.probability if fitted is None else float(fitted.curve.apply(np.array([row.probability]))[0])
        low = fitted.thresholds.low if fitted is not None else Thresholds().low
        said.append(told)
        missed += row.relevant and told < low
    return Part(prefix, len(rows), sum(row.relevant for row in rows), missed, float(np.mean(said)))
