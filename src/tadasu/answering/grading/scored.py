"""A grader made of any scorer: its score is the probability, as it declares it, and nothing was fitted to anything."""

from __future__ import annotations

from collections.abc import Sequence

from tadasu.answering.grading.scoring import checked_scores
from tadasu.core.documents import Passage, label_of
from tadasu.core.grades import Calibration, Grade, Thresholds, ungraded
from tadasu.core.retrieved import Retrieval
from tadasu.core.scores import HOW_TO_DECLARE, PairScore, ScoreScale, logit_of, probability_of
from tadasu.core.vectors import PassageText
from tadasu.errors import SettingsInvalid
from tadasu.ports import GraderParts, Ledger, PairScorer

TIER = "scorer"


class ScoredGrader:
    """Grades every candidate by one scorer, in one batch.

    A logit becomes a probability by the logistic function, a probability stays as it is. Grades are marked as not
    calibrated until ``tadasu calibrate`` has fitted them to labels.

    Args:
        scorer: what scores pairs.
        thresholds: the borders between the levels.
        timeout_s: how long the scorer may take for the passages of one search, in seconds.
    """

    def __init__(self, scorer: PairScorer, *, thresholds: Thresholds | None = None, timeout_s: float = 30.0) -> None:
        self._scorer = scorer
        self._thresholds = thresholds or Thresholds()
        self._timeout_s = timeout_s

    @property
    def id(self) -> str:
        """The scorer's name and version, as graded by itself alone."""
        return f"{TIER}/{self._scorer.id}"

    def thresholds(self, language: str) -> Thresholds:
        """The borders between the levels: the same in every `language`, for none was fitted."""
        del language
        return self._thresholds

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate, in order. What cannot be graded is UNGRADED with the scorer's reason."""
        texts = [text_of(candidate.passage) for candidate in retrieval.candidates]
        scores = await checked_scores(self._scorer, question, texts, ledger=ledger, timeout_s=self._timeout_s)
        return [
            self._grade(candidate.passage.id, score)
            for candidate, score in zip(retrieval.candidates, scores, strict=True)
        ]

    def _grade(self, passage_id: str, score: PairScore) -> Grade:
        if score.failed:
            return ungraded(passage_id, reason=score.reason, grader=self.id, tier=TIER)
        probability = self._probability(score.score)
        note = f"; {score.reason}" if score.reason else ""
        return Grade(
            passage_id=passage_id,
            level=self._thresholds.level(probability),
            probability=probability,
            reason=f"{self._scorer.scale.value} {score.score:.3g} by {self._scorer.id}{note}",
            grader=self.id,
            tier=TIER,
            calibration=Calibration.NONE,
            strip_scores=tuple(self._probability(strip) for strip in score.strips),
            signals={"score": score.score},
            hit=score.hit,
        )

    def _probability(self, score: float) -> float:
        if self._scorer.scale is ScoreScale.PROBABILITY:
            return score
        return probability_of(logit_of(score, self._scorer.scale))


def open_grader(parts: GraderParts) -> ScoredGrader:
    """The plugin behind ``tadasu.graders: scorer``.

    Raises:
        SettingsInvalid: no scorer is chosen, it does not declare its scale, or the borders cross.
    """
    if parts.scorer is None:
        reason = 'is empty, and grading.grader = "scorer" needs one: shipped, onnx, rerank or http'
        raise SettingsInvalid(where="tadasu.toml", key="grading.scorer", reason=reason)
    scale: object = parts.scorer.scale
    if not isinstance(scale, ScoreScale):
        raise SettingsInvalid(where="tadasu.toml", key="scorer.scale", reason=f"is {scale!r}; {HOW_TO_DECLARE}")
    borders = _borders(parts.tau_high, parts.tau_low)
    return ScoredGrader(parts.scorer, thresholds=borders, timeout_s=parts.timeout_s)


def text_of(passage: Passage) -> PassageText:
    """The passage as scorers read it; one whose parts are damaged has no text, so that nobody is asked about it."""
    try:
        strips = tuple((strip.start, strip.end) for strip in passage.strips)
        return PassageText(text=passage.text, strips=strips, title=label_of(passage))
    except (AttributeError, TypeError):
        return PassageText(text=None)  # type: ignore[arg-type]


def _borders(tau_high: float | None, tau_low: float | None) -> Thresholds:
    usual = Thresholds()
    # A border that is set moves the usual one along where they would cross.
    high = tau_high if tau_high is not None else max(usual.high, tau_low or 0.0)
    low = tau_low if tau_low is not None else min(usual.low, high)
    try:
        return Thresholds(high=high, low=low)
    except ValueError as error:
        reason = f"must satisfy 0 <= tau_low <= tau_high <= 1 (they are {low} and {high})"
        raise SettingsInvalid(where="tadasu.toml", key="grading.tau_high", reason=reason) from error
