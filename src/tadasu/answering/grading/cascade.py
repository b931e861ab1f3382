"""Three tiers, each deciding only what the one before left uncertain (DESIGN §3.2).

Features grade everything and cost no model call. A scorer (ours: a small cross-encoder) reads the passages that the
features are not sure about, in two helpings: the most promising ones, a fitted share at the most, and all others where
none of those is HIGH. Both tiers together give the probability, and what was read moves that of the passages left out.
A language model, where one is configured, reads what is still uncertain. A grade names the tier that decided it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tadasu.answering.grading.combination import FILE, Band, CombinationTable, Weighing, lead_of, load
from tadasu.answering.grading.features import FeatureGrader, open_features
from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.scoring import checked_scores
from tadasu.answering.grading.signals import language_of
from tadasu.core.documents import label_of
from tadasu.core.grades import Calibration, Grade, Level, Thresholds, ungraded
from tadasu.core.ids import digest
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.scores import PairScore, logit_of, probability_of
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import GradingFailed, SettingsInvalid, TadasuError
from tadasu.ports import Grader, GraderParts, Ledger, PairScorer
from tadasu.runtime.ledger import timed

TIER = "cross_encoder"
_CERTAIN = 1e-4
_EVERYTHING = Band(low=-1.0, high=2.0)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all passages of one question share; `rivals` are the scorer's logits of passages of earlier rounds."""

    question: str
    language: str
    borders: Thresholds
    rivals: tuple[float, ...] = ()


class Cascade:
    """Grades all candidates of one retrieval, in at most three passes.

    Args:
        features: the first tier.
        scorer: the second; None leaves the first one's grades.
        table: how both are weighed; it applies where it was fitted for `scorer`, else the scorer's own probability
            counts, uncalibrated.
        assessor: the third, for what the second leaves between the borders; None leaves those MEDIUM.
        tau_high: HIGH from this probability, in every language; as fitted where None.
        tau_low: LOW below this probability, in every language; as fitted where None.
        fall_back: where a later tier fails, keep the earlier one's grade; else the passage is UNGRADED.
        timeout_s: how long the second tier may take for one helping of passages, in seconds.
        read_everything: let the second tier read every passage, whatever the first one says.
    """

    def __init__(
        self,
        features: FeatureGrader,
        *,
        scorer: PairScorer | None,
        table: CombinationTable | None = None,
        assessor: Grader | None = None,
        tau_high: float | None = None,
        tau_low: float | None = None,
        fall_back: bool = False,
        timeout_s: float = 30.0,
        read_everything: bool = False,
    ) -> None:
        self._features = features
        self._scorer = scorer
        self._table = table if table is not None and scorer is not None and table.scorer == scorer.id else None
        self._tier = TIER if self._table is not None or scorer is None else scorer.id.partition("@")[0]
        self._assessor = assessor
        self._tau = (tau_high, tau_low)
        self._fall_back = fall_back
        self._timeout_s = timeout_s
        self._read_everything = read_everything

    @property
    def id(self) -> str:
        """The tiers' ids and what weighs them, shortened to a digest: equal ids grade alike."""
        parts = [self._features.id]
        if self._scorer is not None:
            parts += [self._scorer.id, self._table.version if self._table is not None else "unfitted"]
        if self._assessor is not None:
            parts.append(self._assessor.id)
        parts += [str(part) for part in (*self._tau, self._fall_back, self._read_everything)]
        return f"cascade-{digest('/'.join(parts))[:12]}"

    def thresholds(self, language: str) -> Thresholds:
        """The borders between the levels that apply to a question in `language`."""
        if self._scorer is None:
            fitted = self._features.thresholds(language)
        else:
            fitted = self._table.of(language).thresholds if self._table is not None else Thresholds()
        high, low = self._tau
        top = high if high is not None else max(fitted.high, low or 0.0)
        return Thresholds(high=top, low=low if low is not None else min(fitted.low, top))

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate, in order; see `tadasu.ports.Grader`."""
        candidates = retrieval.candidates
        if not candidates:
            return []
        language = language_of(question, retrieval.context + candidates)
        earlier = (grade.signals.get(TIER) for grade in retrieval.context_grades)
        rivals = tuple(logit for logit in earlier if logit is not None)
        asked = _Asked(question, language, self.thresholds(language), rivals)
        first = self._first_tier(question, retrieval, ledger=ledger)
        grades = [self._leveled(grade, asked) for grade in first]
        if self._scorer is not None:
            for index, grade in (await self._second_tier(asked, candidates, first, ledger=ledger)).items():
                grades[index] = grade
        if self._assessor is not None:
            await self._third_tier(asked, retrieval, grades, ledger=ledger)
        return grades

    def _first_tier(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> list[Grade]:
        with timed(ledger, Stage.GRADE, provider="local", model=self._features.id, items=len(retrieval.candidates)):
            try:
                return self._features.grade_now(question, retrieval)
            except GradingFailed as problem:
                # A reader needs no signals: the second tier can grade what the first could not measure.
                reason = str(problem)
                return [
                    ungraded(candidate.passage.id, reason=reason, grader=self._features.id, tier="features")
                    for candidate in retrieval.candidates
                ]

    def _uncertain(self, grade: Grade, asked: _Asked, candidate: Candidate) -> bool:
        if grade.probability is None or self._read_everything or _foreign(candidate, asked.language):
            return True
        return self._band(asked.language).holds(grade.probability)

    def _promising(
        self, uncertain: Sequence[int], asked: _Asked, candidates: Sequence[Candidate], first: Sequence[Grade]
    ) -> Sequence[int]:
        """What of `uncertain` is read first: where there is too much of it, not what the features think least of.

        What they cannot judge is read in any case: it has no grade of theirs, or is in another language.
        """
        most = self._table.of(asked.language).most_read(len(candidates)) if self._table is not None else len(candidates)
        if self._read_everything or len(uncertain) <= most:
            return uncertain

        def promise(index: int) -> float:
            probability = first[index].probability
            return 2.0 if probability is None or _foreign(candidates[index], asked.language) else probability

        best = sorted(uncertain, key=lambda index: (-promise(index), index))
        return sorted(index for place, index in enumerate(best) if place < most or promise(index) > 1.0)

    def _band(self, language: str) -> Band:
        return self._table.of(language).band if self._table is not None else _EVERYTHING

    def _leveled(self, grade: Grade, asked: _Asked) -> Grade:
        """The grade under this grader's name and borders."""
        if grade.probability is None:
            return replace(grade, grader=self.id)
        return replace(grade, grader=self.id, level=asked.borders.level(grade.probability))

    async def _second_tier(
        self, asked: _Asked, candidates: Sequence[Candidate], first: Sequence[Grade], *, ledger: Ledger
    ) -> Mapping[int, Grade]:
        """Grades of all passages that were read, and of those beside them that should have been."""
        uncertain = [index for index, grade in enumerate(first) if self._uncertain(grade, asked, candidates[index])]
        helping = self._promising(uncertain, asked, candidates, first)
        scores = await self._read(asked, candidates, helping, ledger=ledger)
        found = self._decided(asked, candidates, first, scores)
        rest = [index for index in range(len(candidates)) if index not in scores]
        sure = [grade for index, grade in enumerate(first) if index not in uncertain]
        down = bool(scores) and all(score.failed for score in scores.values())
        if rest and not down and self._table is not None and not self._settled(asked, sure, found):
            scores |= await self._read(asked, candidates, rest, ledger=ledger)
            return self._decided(asked, candidates, first, scores)
        left_out = [index for index in uncertain if index not in scores]
        if not down:
            return found | self._beside(asked, first, left_out, scores)
        reason = next(score.reason for score in scores.values())
        return found | {index: self._failed(asked, first[index], tier=self._tier, reason=reason) for index in left_out}

    def _settled(self, asked: _Asked, sure: Sequence[Grade], found: Mapping[int, Grade]) -> bool:
        """Whether a passage is HIGH: one that was read, or one that the features may decide by themselves."""
        grades = [*(self._leveled(grade, asked) for grade in sure), *found.values()]
        return any(grade.level is Level.HIGH for grade in grades)

    async def _read(
        self, asked: _Asked, candidates: Sequence[Candidate], chosen: Sequence[int], *, ledger: Ledger
    ) -> dict[int, PairScore]:
        if not chosen:
            return {}
        assert self._scorer is not None
        texts = [as_text(candidates[index]) for index in chosen]
        scores = await checked_scores(self._scorer, asked.question, texts, ledger=ledger, timeout_s=self._timeout_s)
        return dict(zip(chosen, scores, strict=True))

    def _decided(
        self,
        asked: _Asked,
        candidates: Sequence[Candidate],
        first: Sequence[Grade],
        scores: Mapping[int, PairScore],
    ) -> dict[int, Grade]:
        """The grades of what was read, each in the light of the others."""
        logits = self._logits(scores)
        found: dict[int, Grade] = {}
        for index, score in scores.items():
            if score.failed:
                found[index] = self._failed(asked, first[index], tier=self._tier, reason=score.reason)
                continue
            rivals = [*asked.rivals, *(logit for other, logit in logits.items() if other != index)]
            lead = lead_of(logits[index], rivals)
            found[index] = self._weighed(asked, candidates[index], first[index], score, logit=logits[index], lead=lead)
        return found

    def _logits(self, scores: Mapping[int, PairScore]) -> dict[int, float]:
        assert self._scorer is not None
        scale = self._scorer.scale
        return {index: logit_of(score.score, scale) for index, score in scores.items() if not score.failed}

    def _beside(
        self, asked: _Asked, first: Sequence[Grade], left_out: Sequence[int], scores: Mapping[int, PairScore]
    ) -> dict[int, Grade]:
        """Grades of passages that were not read, in the light of the best one that was."""
        best = max((*asked.rivals, *self._logits(scores).values()), default=None)
        if self._table is None or best is None:
            return {}
        weighing, found = self._table.of(asked.language).unread, {}
        for index in left_out:
            before = first[index]
            assert before.probability is not None
            probability = _one(weighing, [_feature_logit(before.probability), best])
            found[index] = replace(
                self._leveled(replace(before, probability=probability), asked),
                reason=f"not read, another is likelier (features alone {before.probability:.2f}: {before.reason})",
                signals={**before.signals, "features": before.probability, "best_read": best},
            )
        return found

    def _weighed(
        self, asked: _Asked, candidate: Candidate, first: Grade, score: PairScore, *, logit: float, lead: float | None
    ) -> Grade:
        foreign = _foreign(candidate, asked.language)
        probability = self._probability(asked.language, first, logit, lead)
        known = first.probability is not None
        alone = f" (features alone {first.probability:.2f}: {first.reason})" if known else f" ({first.reason})"
        reader = "the cross-encoder" if self._tier == TIER else self._tier
        fitted = self._table is not None and asked.language in self._table.languages and not foreign
        return Grade(
            passage_id=first.passage_id,
            level=asked.borders.level(probability),
            probability=probability,
            reason=f"read: {probability_of(logit):.2f} by {reader}{alone}",
            grader=self.id,
            tier=self._tier,
            calibration=Calibration.PUBLIC if fitted else Calibration.NONE,
            strip_scores=self._strips(asked.language, candidate, first, score),
            signals={**first.signals, TIER: logit}
            | ({"lead_read": lead} if lead is not None else {})
            | ({"features": first.probability} if first.probability is not None else {}),
            hit=score.hit,
        )

    def _probability(self, language: str, first: Grade, logit: float, lead: float | None) -> float:
        if self._table is None:
            return probability_of(logit)
        fitted = self._table.of(language)
        if first.probability is None:
            return _one(fitted.alone, [logit])
        counted = _feature_logit(first.probability)
        return _one(fitted.both, [counted, logit]) if lead is None else _one(fitted.led, [counted, logit, lead])

    def _strips(self, language: str, candidate: Candidate, first: Grade, score: PairScore) -> tuple[float, ...]:
        assert self._scorer is not None
        if len(score.strips) != len(candidate.passage.strips) or not score.strips:
            return first.strip_scores
        read = np.array([logit_of(strip, self._scorer.scale) for strip in score.strips])
        if self._table is None:
            return tuple(probability_of(float(logit)) for logit in read)
        fitted = self._table.of(language)
        if len(first.strip_scores) != len(read):
            return _many(fitted.strips_alone, read[:, None])
        counted = np.array([_feature_logit(strip) for strip in first.strip_scores])
        return _many(fitted.strips, np.stack([counted, read], axis=1))

    async def _third_tier(self, asked: _Asked, retrieval: Retrieval, grades: list[Grade], *, ledger: Ledger) -> None:
        """Ask the assessor about what is still between the borders; `grades` are replaced in place."""
        assert self._assessor is not None
        low, high = asked.borders.low, asked.borders.high
        open_ = [
            index
            for index, grade in enumerate(grades)
            if grade.probability is not None and low <= grade.probability < high
        ]
        if not open_:
            return
        part = replace(retrieval, candidates=tuple(retrieval.candidates[index] for index in open_))
        reason, found = "the language model gave no grade for it", {}
        try:
            given = await self._assessor.grade(asked.question, part, ledger=ledger)
            found = {grade.passage_id: grade for grade in given}
        except TadasuError as problem:
            reason = str(problem)
        for index in open_:
            before = grades[index]
            after = found.get(before.passage_id) or ungraded(
                before.passage_id, reason=reason, grader=self.id, tier="llm"
            )
            if after.probability is None:
                grades[index] = self._failed(asked, before, tier="llm", reason=after.reason)
            else:
                assert before.probability is not None
                signals = {**before.signals, **after.signals, "before": before.probability}
                grades[index] = replace(after, grader=self.id, strip_scores=before.strip_scores, signals=signals)

    def _failed(self, asked: _Asked, before: Grade, *, tier: str, reason: str) -> Grade:
        if self._fall_back and before.probability is not None:
            kept = self._leveled(before, asked)
            return replace(kept, reason=f"{before.reason}; the next tier failed: {reason}")
        return ungraded(before.passage_id, reason=reason, grader=self.id, tier=tier)


def open_grader(parts: GraderParts) -> Cascade:
    """The plugin behind ``tadasu.graders: cascade``.

    Raises:
        ModelUnavailable: a shipped file is missing or damaged.
        SettingsInvalid: the borders are not 0 <= tau_low <= tau_high <= 1.
    """
    path = parts.folder / FILE
    table = load(path) if parts.scorer is not None and path.is_file() else None
    made = Cascade(
        open_features(parts.folder),
        scorer=parts.scorer,
        table=table,
        assessor=parts.assessor,
        tau_high=parts.tau_high,
        tau_low=parts.tau_low,
        fall_back=parts.fall_back,
        timeout_s=parts.timeout_s,
    )
    try:
        for language in ("en", "ja"):
            made.thresholds(language)
    except ValueError as error:
        reason = f"must satisfy 0 <= tau_low <= tau_high <= 1 (they are {parts.tau_low} and {parts.tau_high})"
        raise SettingsInvalid(where="tadasu.toml", key="grading.tau_high", reason=reason) from error
    return made


def as_text(candidate: Candidate) -> PassageText:
    """The candidate's passage as scorers read it."""
    passage = candidate.passage
    return PassageText(
        text=passage.text,
        strips=tuple((strip.start, strip.end) for strip in passage.strips),
        title=label_of(passage),
    )


def _foreign(candidate: Candidate, language: str) -> bool:
    return candidate.passage.language not in {language, "und"}


def _feature_logit(probability: float) -> float:
    clipped = min(max(probability, _CERTAIN), 1.0 - _CERTAIN)
    return float(np.log(clipped / (1.0 - clipped)))


def _one(weighing: Weighing, inputs: list[float]) -> float:
    return float(weighing.probabilities(np.array([inputs]))[0])


def _many(weighing: Weighing, inputs: Numbers) -> tuple[float, ...]:
    return tuple(weighing.probabilities(inputs).tolist())
