"""`tadasu calibrate`: from labels to a calibration of this workspace, and whether one still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tadasu.answering.correction.verdicts import verdict_of
from tadasu.answering.grading.calibrated import BEFORE, CalibratedGrader, any_set, moved, own_thresholds
from tadasu.answering.grading.calibration import CorpusCalibration, made, write
from tadasu.answering.grading.curves import Method, score_before
from tadasu.answering.grading.fitting import (
    LEAST_A_CLASS,
    Fitted,
    LabelledScore,
    Targets,
    chosen_for,
    fit_all,
    missing_labels,
)
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
from tadasu.core.documents import Origin
from tadasu.core.grades import Grade, Thresholds, Verdict
from tadasu.core.runs import Run
from tadasu.errors import GradingFailed, LabelsTooFew

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.labelled_pairs import GradedLabels
    from tadasu.ports import Grader

LATEST_RUNS = 200
_PLACES = 9


@dataclass(frozen=True, slots=True)
class Part:
    """Labelled pairs of the documents below one folder: `missed` relevant ones are LOW; means are in [0, 1]."""

    prefix: str
    pairs: int
    relevant: int
    missed: int
    said: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A border that is another than before for pairs of one language (``ja>en``: passages in another language).

    `before` and `after` are on the grader's own scale, so that they can be compared; `told` is what the curve makes of
    `after`, None where there is no curve.
    """

    language: str
    border: str
    before: float
    after: float
    told: float | None


@dataclass(frozen=True, slots=True)
class Across:
    """Labelled pairs across languages that are in no fit, by pair of languages; `missed` relevant ones are LOW."""

    pairs: int
    relevant: int
    missed: int
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a calibration came to. `before` and `after` count the labelled questions' verdicts without and with it."""

    calibration: CorpusCalibration
    fitted: Mapping[str, Fitted]
    graded: GradedLabels
    targets: Targets
    parts: tuple[Part, ...]
    across: Across
    moved: tuple[Moved, ...]
    before: Mapping[Verdict, int]
    after: Mapping[Verdict, int]

    @property
    def counted(self) -> list[LabelledScore]:
        """The labelled pairs that are in a fit."""
        return [row for row in self.graded.scores if chosen_for(self.fitted, row.language)]


async def calibrate(container: Container, graded: GradedLabels, *, targets: Targets, bad: int = 0) -> Outcome:
    """Fit to graded labels; nothing is written. `bad` rows of the file could not be read.

    Raises LabelsTooFew where there are too few labels of either kind, with the way out that fits what became of them;
    GradingFailed where no pair could be graded.
    """
    grader = container.grader_as_made
    if graded.failed and not graded.scores:
        raise GradingFailed(grader=grader.id, reason=graded.failed[0][1])
    try:
        fitted = fit_all(graded.scores, targets=targets, borders=lambda language: own_thresholds(grader, language))
    except LabelsTooFew as error:
        raise _too_few(graded, bad=bad) from error
    calibration = made(
        fitted,
        grader=grader.id,
        made_at=container.clock.now().isoformat(timespec="seconds"),
        corpus=await corpus_sketch(container),
        scores=shape_of(graded.population, questions=len(graded.asked)),
    )
    chosen = container.settings.grading
    borders = (chosen.tau_high, chosen.tau_low)
    after = CalibratedGrader(grader, calibration, tau_high=borders[0], tau_low=borders[1])
    rule = _Before(grader, borders)
    indexed = await container.store.statistics(reader=container.reader)
    languages = {*indexed.languages, *(row.language for row in graded.scores)} - {"und"}
    return Outcome(
        calibration=calibration,
        fitted=fitted,
        graded=graded,
        targets=targets,
        parts=_parts(graded.scores, after),
        across=_across(graded.scores, fitted, rule),
        moved=tuple(one for language in sorted(languages) for one in _moved(language, calibration, rule, after)),
        before=_verdicts(container, graded, rule.regraded),
        after=_verdicts(container, graded, after.regraded),
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


def _too_few(graded: GradedLabels, *, bad: int) -> LabelsTooFew:
    """With the way out for what most labels were lost by; where all of them would not do, more are wanted too."""
    within = [row.relevant for row in graded.scores if ">" not in row.language]
    lost = {
        "Most rows cannot be used: mend those that are listed, then calibrate again.": bad + len(graded.contradicted),
        "Most rows name what is not in the index: ingest it, or mend those that are listed.": len(graded.absent),
        "The grader failed on most pairs: see the rows listed; `tadasu doctor` tells more.": len(graded.failed),
        "A language model decided the pairs by rules of its own: calibrate with grading.llm = false.": graded.ruled,
        "Most pairs are across languages, which are fitted apart, from 30 of either kind on: label passages in the "
        "question's language too.": len(graded.scores) - len(within),
    }
    relevant, irrelevant = sum(within), len(within) - sum(within)
    cause = max(lost, key=lambda name: lost[name])
    way_out = cause if lost[cause] else ""
    if lost[cause] and sum(lost.values()) < sum(missing_labels(relevant, irrelevant)):
        way_out = "Mend the rows that did not count, and label more with `tadasu label`."
    return LabelsTooFew(relevant=relevant, irrelevant=irrelevant, least=LEAST_A_CLASS, way_out=way_out)


class _Before:
    """The grader without a calibration, under the borders that the settings name."""

    def __init__(self, grader: Grader, named: tuple[float | None, float | None]) -> None:
        self._grader = grader
        self._named = named

    def thresholds(self, pair: str) -> Thresholds:
        return moved(own_thresholds(self._grader, pair.partition(">")[0]), self._named)

    def regraded(self, grade: Grade, pair: str) -> Grade:
        if grade.probability is None or not any_set(self._named):
            return grade
        return replace(grade, level=self.thresholds(pair).level(grade.probability))


def _moved(pair: str, calibration: CorpusCalibration, before: _Before, after: CalibratedGrader) -> Iterator[Moved]:
    fitted = calibration.of(pair)
    if fitted is None:
        return
    old, new = before.thresholds(pair), after.thresholds(pair)
    plain = fitted.curve.method is Method.AS_GIVEN
    for name, was, told in (("tau_low", old.low, new.low), ("tau_high", old.high, new.high)):
        now = told if plain else score_before(fitted.curve, told)
        if round(now, _PLACES) != round(was, _PLACES):
            yield Moved(language=pair, border=name, before=was, after=now, told=None if plain else told)


def _across(rows: Sequence[LabelledScore], fitted: Mapping[str, Fitted], before: _Before) -> Across:
    left = [row for row in rows if not chosen_for(fitted, row.language)]
    relevant = [row for row in left if row.relevant]
    missed = sum(row.probability < before.thresholds(row.language).low for row in relevant)
    return Across(len(left), len(relevant), missed, tuple(sorted({row.language for row in left})))


def _verdicts(
    container: Container, graded: GradedLabels, regraded: Callable[[Grade, str], Grade]
) -> dict[Verdict, int]:
    chosen = container.correction
    counts: Counter[Verdict] = Counter()
    for candidates in graded.asked:
        if candidates:
            grades = [regraded(grade, pair) for pair, grade in candidates]
            counts[verdict_of(grades, rule=chosen.rule, quality_threshold=chosen.quality_threshold)] += 1
    return dict(counts)


def _parts(rows: Sequence[LabelledScore], after: CalibratedGrader) -> tuple[Part, ...]:
    """By the first folder in which the sources differ."""
    folders = [row.source.split("/")[:-1] for row in rows]
    depth = 0
    while all(len(one) > depth for one in folders) and len({tuple(one[: depth + 1]) for one in folders}) == 1:
        depth += 1
    grouped: dict[str, list[LabelledScore]] = {}
    for row, folder in zip(rows, folders, strict=True):
        grouped.setdefault("/".join(folder[: depth + 1]) or ".", []).append(row)
    return tuple(_part(prefix, grouped[prefix], after) for prefix in sorted(grouped))


def _part(prefix: str, rows: Sequence[LabelledScore], after: CalibratedGrader) -> Part:
    said, missed = [], 0
    for row in rows:
        fitted = after.calibration.of(row.language)
        told = row.probability if fitted is None else float(fitted.curve.apply(np.array([row.probability]))[0])
        said.append(told)
        missed += row.relevant and told < after.thresholds(row.language).low
    return Part(prefix, len(rows), sum(row.relevant for row in rows), missed, float(np.mean(said)))
