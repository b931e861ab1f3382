"""Any grader under a calibration of its own documents: its probabilities through a curve, its levels by its borders."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np

from tadasu.answering.grading.calibration import CorpusCalibration
from tadasu.answering.grading.features import HELD
from tadasu.answering.grading.signals import language_of
from tadasu.answering.grading.staleness import Stale, Staleness
from tadasu.core.documents import Passage
from tadasu.core.grades import Calibration, Grade, Level, Thresholds
from tadasu.core.retrieved import Retrieval
from tadasu.ports import Grader, Ledger

BEFORE = "before_calibration"
"""The signal under which a grade keeps the grader's own probability."""
_OWN_RULES = frozenset({"llm", "guard"})
_LOOKED_EVERY = 500
_BELOW_HIGH = 0.01


class CalibratedGrader:
    """Grades as `grader` does, with probabilities and levels as `calibration` has them.

    A passage that a rule of the grader held back (it lacks the code that is asked about) is never made HIGH by a curve.
    Left as they are: what could not be graded, what a language model or a guard decided by rules of its own, passages
    in another language than the question's where no such pairs were labelled, and strip scores, which compare strips
    within a passage. After a change of grader its own grades are given, marked STALE, for the curve was another's;
    after a change of documents the curve still is the best that is known, and grades are marked STALE too.

    Args:
        grader: what grades.
        calibration: what was fitted, for a grader of some id.
        tau_high: HIGH from this probability, whatever was fitted; None: as fitted.
        tau_low: LOW below this probability, whatever was fitted; None: as fitted.
        look: tells whether the documents are still those that were labelled; asked at the first question and then at
            every five-hundredth.
    """

    def __init__(
        self,
        grader: Grader,
        calibration: CorpusCalibration,
        *,
        tau_high: float | None = None,
        tau_low: float | None = None,
        look: Callable[[], Awaitable[Staleness | None]] | None = None,
    ) -> None:
        self._grader = grader
        self._calibration = calibration
        self._tau = (tau_high, tau_low)
        self._look = look
        self._found: Staleness | None = None
        self._asked = 0

    @property
    def id(self) -> str:
        """The grader's, and the calibration's."""
        return f"{self._grader.id}+{self._calibration.id}"

    @property
    def calibration(self) -> CorpusCalibration:
        """What it grades by."""
        return self._calibration

    @property
    def inner(self) -> Grader:
        """What grades."""
        return self._grader

    def thresholds(self, language: str) -> Thresholds:
        """The borders between the levels that apply to a question in `language`."""
        if self._fits:
            return self._thresholds(language)
        return self._moved(own_thresholds(self._grader, language))

    def regraded(self, grade: Grade, pair: str, *, mark: Calibration = Calibration.CORPUS) -> Grade:
        """`grade` of a pair of language `pair` (see `pair_language`) as this calibration has it, whoever's it is."""
        fitted = self._calibration.of(pair)
        if fitted is None or grade.probability is None or grade.tier in _OWN_RULES:
            return replace(grade, grader=self.id)
        borders = self._thresholds(pair)
        probability = float(np.clip(fitted.curve.apply(np.array([grade.probability]))[0], 0.0, 1.0))
        if HELD in grade.signals and grade.level is not Level.HIGH and borders.level(probability) is Level.HIGH:
            # A curve knows nothing of rules: what lacks the code that is asked about does not become HIGH through one.
            probability = min(probability, max(borders.high - _BELOW_HIGH, 0.0))
        return replace(
            grade,
            grader=self.id,
            probability=probability,
            level=borders.level(probability),
            calibration=mark,
            signals={**grade.signals, BEFORE: grade.probability},
        )

    def _thresholds(self, pair: str) -> Thresholds:
        own = own_thresholds(self._grader, pair.partition(">")[0])
        fitted = self._calibration.of(pair)
        return self._moved(own if fitted is None else fitted.thresholds(own))

    async def staleness(self) -> Staleness | None:
        """Why the calibration holds no longer, None where it does: the grader first, then the documents."""
        if not self._fits:
            details = {"made_for": self._calibration.grader, "now": self._grader.id}
            return Staleness(Stale.GRADER, details)
        if self._look is not None and self._asked % _LOOKED_EVERY == 0:
            self._found = await self._look()
        self._asked += 1
        return self._found

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate, in order; see `tadasu.ports.Grader`."""
        grades = await self._grader.grade(question, retrieval, ledger=ledger)
        stale = await self.staleness()
        candidates = retrieval.context + retrieval.candidates
        language = language_of(question, candidates) if candidates else ""
        passages = {candidate.passage.id: candidate.passage for candidate in retrieval.candidates}
        return [self._graded(grade, passages.get(grade.passage_id), language, stale) for grade in grades]

    @property
    def _fits(self) -> bool:
        return self._calibration.grader == self._grader.id

    def _graded(self, grade: Grade, passage: Passage | None, language: str, stale: Staleness | None) -> Grade:
        if grade.probability is None or grade.tier in _OWN_RULES or passage is None:
            return replace(grade, grader=self.id)
        if not self._fits:
            level = self.thresholds(language).level(grade.probability) if any_set(self._tau) else grade.level
            return replace(grade, grader=self.id, level=level, calibration=Calibration.STALE)
        mark = Calibration.CORPUS if stale is None else Calibration.STALE
        return self.regraded(grade, pair_language(language, passage), mark=mark)

    def _moved(self, fitted: Thresholds) -> Thresholds:
        return moved(fitted, self._tau)


def pair_language(language: str, passage: Passage) -> str:
    """The language of a pair: the question's, or ``ja>en`` where the passage is in another."""
    return language if passage.language in {language, "und"} else f"{language}>{passage.language}"


def own_thresholds(grader: Grader, language: str) -> Thresholds:
    """The borders that `grader` itself goes by, the usual ones where it does not tell."""
    told = getattr(grader, "thresholds", None)
    borders = told(language) if callable(told) else None
    return borders if isinstance(borders, Thresholds) else Thresholds()


def moved(borders: Thresholds, named: tuple[float | None, float | None]) -> Thresholds:
    """`borders` with those that the settings name, (high, low), in their place.

    A border that is named moves the other one along where they would cross.
    """
    high, low = named
    top = high if high is not None else max(borders.high, low or 0.0)
    return Thresholds(high=top, low=low if low is not None else min(borders.low, top))


def any_set(borders: tuple[float | None, float | None]) -> bool:
    """Whether the settings name a border."""
    return any(border is not None for border in borders)
