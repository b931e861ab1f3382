"""The first tier of grading: signals that cost no model call, fused by a small calibrated model (DESIGN §3.2).

The model and how it was fitted and measured: ``models/grader/card.md``; made by ``python -m training.train_features``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tadasu.answering.grading.model import FeatureModel, LanguageModel, Numbers, load
from tadasu.answering.grading.rivals import kept_shares, kept_without_name
from tadasu.answering.grading.signals import FLAT_SPREAD, Measured, measure
from tadasu.answering.grading.views import PASSAGE_COLUMN as _P
from tadasu.answering.grading.views import PASSAGE_SIGNALS
from tadasu.core.grades import Calibration, Grade, Thresholds, ungraded
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.usage import Stage
from tadasu.errors import GradingFailed, SettingsInvalid
from tadasu.ports import GraderParts, Ledger
from tadasu.runtime.ledger import timed

TIER = "features"
HELD = "held_back"
"""The signal of a grade that a rule held back after the model: the share of the probability that was kept."""
_FALLBACK_LANGUAGE = "en"
# Across languages, nearness alone makes a passage a candidate, never an answer.
_BELOW_HIGH = 0.01
_KEPT_BEHIND = 0.5


class FeatureGrader:
    """Grades all candidates of one retrieval together, in about a millisecond for ten.

    A probability says how likely it is that the passage holds the answer; it is calibrated for questions in a language
    that the model was fitted for, and marked as not calibrated for others. Strip scores are the probability that the
    strip holds the answer if its passage does.
    """

    def __init__(self, model: FeatureModel) -> None:
        self._model = model

    @property
    def id(self) -> str:
        """Name and version of the fitted model."""
        return f"{TIER}-{self._model.version}"

    def thresholds(self, language: str) -> Thresholds:
        """The borders between the levels that apply to a question in `language`."""
        return self._of(language).thresholds

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate, in order; see `tadasu.ports.Grader`."""
        with timed(ledger, Stage.GRADE, provider="local", model=self.id, items=len(retrieval.candidates)):
            return self.grade_now(question, retrieval)

    def grade_now(self, question: str, retrieval: Retrieval) -> list[Grade]:
        """`grade` without a ledger; raises GradingFailed where the question itself cannot be measured."""
        if not retrieval.candidates:
            return []
        seen = len(retrieval.context)
        try:
            compared = retrieval.context + retrieval.candidates
            measured = measure(question, replace(retrieval, candidates=compared))
        except (ValueError, TypeError, AttributeError) as error:
            raise GradingFailed(grader=self.id, reason=f"{type(error).__name__}: {error}") from error
        kept = _kept(question, compared)
        passages, strips = self.probabilities(measured)
        return [
            self._grade(index, candidate, measured, strips, probability=float(passages[index]), kept=float(kept[index]))
            for index, candidate in enumerate(retrieval.candidates, start=seen)
        ]

    def probabilities(self, measured: Measured) -> tuple[Numbers, Numbers]:
        """Of every passage and of every strip, NaN where nothing can be said."""
        model = self._of(measured.language)
        passages, strips = _probabilities(model, measured)
        # A name that is missing keeps a passage from being HIGH; it may be said in other words, so it makes none LOW.
        kept = passages * kept_without_name(measured.passages)
        return np.maximum(kept, np.minimum(passages, model.thresholds.low)), strips

    def _of(self, language: str) -> LanguageModel:
        return self._model.languages.get(language) or self._model.languages[_FALLBACK_LANGUAGE]

    def _grade(
        self, index: int, candidate: Candidate, measured: Measured, strips: Numbers, *, probability: float, kept: float
    ) -> Grade:
        passage_id = candidate.passage.id
        if math.isnan(probability):
            reason = measured.failures.get(index) or _why_unknown(measured)
            return ungraded(passage_id, reason=reason, grader=self.id, tier=TIER)
        row = measured.passages[index]
        borders, foreign = self.thresholds(measured.language), measured.views[index].startswith("names")
        probability *= kept
        if foreign and row[_P["cosine_rank"]] < 1.0:
            probability *= _KEPT_BEHIND
        if foreign and not _anchored(measured, row):
            probability = min(probability, max(borders.high - _BELOW_HIGH, 0.0))
        own = strips[measured.bounds[index] : measured.bounds[index + 1]]
        return Grade(
            passage_id=passage_id,
            level=borders.level(probability),
            probability=probability,
            reason=_reason(measured, index) + ("; it lacks the code that is asked about" if kept < 1 else ""),
            grader=self.id,
            tier=TIER,
            calibration=Calibration.PUBLIC
            if measured.language in self._model.languages and not foreign
            else Calibration.NONE,
            strip_scores=() if np.isnan(own).any() else tuple(own.tolist()),
            signals={
                name: value for name, value in zip(PASSAGE_SIGNALS, row.tolist(), strict=True) if not math.isnan(value)
            }
            | ({HELD: kept} if kept < 1.0 else {}),
        )


def open_features(
    path: str | Path | None = None, *, tau_high: float | None = None, tau_low: float | None = None
) -> FeatureGrader:
    """The shipped first tier, or one fitted elsewhere.

    Args:
        path: a ``features.json`` or the folder that holds it; the shipped one where None.
        tau_high: HIGH from this probability, in every language; as fitted where None.
        tau_low: LOW below this probability, in every language; as fitted where None.

    Raises:
        ModelUnavailable: the file is missing or damaged.
        SettingsInvalid: the borders are not 0 <= tau_low <= tau_high <= 1.
    """
    place = Path(path) if path is not None else shipped_folder()
    model = load(place if place.suffix == ".json" else place / "features.json")
    return FeatureGrader(_with_borders(model, tau_high, tau_low))


def open_grader(parts: GraderParts) -> FeatureGrader:
    """The plugin behind ``tadasu.graders: features``: the first tier alone."""
    return open_features(parts.folder, tau_high=parts.tau_high, tau_low=parts.tau_low)


def _with_borders(model: FeatureModel, tau_high: float | None, tau_low: float | None) -> FeatureModel:
    languages = {}
    for language, part in model.languages.items():
        fitted = part.thresholds
        # A border that is set moves the fitted one along where they would cross.
        high = tau_high if tau_high is not None else max(fitted.high, tau_low or 0.0)
        low = tau_low if tau_low is not None else min(fitted.low, high)
        try:
            languages[language] = replace(part, thresholds=Thresholds(high=high, low=low))
        except ValueError as error:
            reason = f"must satisfy 0 <= tau_low <= tau_high <= 1 (they are {low} and {high})"
            raise SettingsInvalid(where="tadasu.toml", key="grading.tau_high", reason=reason) from error
    return replace(model, languages=languages)


def shipped_folder() -> Path:
    """Where the shipped weights lie: inside the installed package, or in a checkout under ``models/``."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "models" / "grader"
    return installed if installed.is_dir() else package.parents[1] / "models" / "grader"


def _probabilities(model: LanguageModel, measured: Measured) -> tuple[Numbers, Numbers]:
    passages = np.full(len(measured.passages), np.nan)
    strips = np.full(len(measured.strips), np.nan)
    for view, rows in _grouped(measured.views).items():
        if view in model.passages:
            passages[rows] = model.passages[view].probabilities(measured.passages[rows])
    for view, members in _grouped(measured.strip_views).items():
        if view in model.strips:
            rows = [row for index in members for row in range(measured.bounds[index], measured.bounds[index + 1])]
            strips[rows] = model.strips[view].probabilities(measured.strips[rows])
    return passages, strips


def _anchored(measured: Measured, row: Numbers) -> bool:
    """Whether the question has names, codes or numbers that any language writes alike, and the passage all of them."""
    return measured.anchored and row[_P["names"]] == 0.0 and row[_P["numbers"]] == 0.0


def _kept(question: str, candidates: Sequence[Candidate]) -> Numbers:
    try:
        return kept_shares(question, candidates)
    except (ValueError, TypeError, AttributeError, re.error):
        # A damaged passage is reported where it is measured; the rule is an addition that grades can do without.
        return np.ones(len(candidates))


def _grouped(views: Sequence[str]) -> Mapping[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for index, view in enumerate(views):
        if view:
            groups.setdefault(view, []).append(index)
    return groups


def _why_unknown(measured: Measured) -> str:
    return f"no signal is known: no vectors, and its words are not in the question's language ({measured.language})"


def _reason(measured: Measured, index: int) -> str:
    row = dict(zip(PASSAGE_SIGNALS, measured.passages[index].tolist(), strict=True))
    parts = ["in another language than the question"] if measured.views[index].startswith("names") else []
    if not math.isnan(row["cover"]):
        parts.append(f"{row['cover']:.0%} of the question's weight in words, {row['strip_cover']:.0%} in one strip")
    if not math.isnan(row["bm25"]):
        parts.append(f"keyword score {row['bm25_share']:.0%} of the best")
    if not math.isnan(row["cosine"]):
        parts.append(f"cosine {row['cosine']:.2f} ({row['cosine_lead']:+.3f} to the best other)")
        if "ranks" in measured.views[index]:
            parts.append(
                f"cosines lie within {measured.spreads[index]:.3f} (< {FLAT_SPREAD}): ranks and leads used instead"
            )
    return "; ".join(parts)
