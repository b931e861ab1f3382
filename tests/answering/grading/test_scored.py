"""Any scorer as a grader: its scale is believed as declared, once; what failed has its reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading import cascade
from tadasu.answering.grading.features import shipped_folder
from tadasu.answering.grading.scored import ScoredGrader, open_grader
from tadasu.core.documents import Span
from tadasu.core.grades import Calibration, Grade, Level, Recommendation, Thresholds
from tadasu.core.retrieved import Candidate, Metric, Retrieval, similarity
from tadasu.core.scores import PairScore, ScoreScale, probability_of, unscored
from tadasu.errors import SettingsInvalid
from tadasu.ports import Grader, GraderParts, PairScorer, ScorerSettings
from tadasu.providers import http_scorer, rerank
from tadasu.testing.scorer_server import ScorerServer
from tests.answering.grading.made import passage
from tests.answering.grading.scorers import Book, Scoring, TableScorer, WildScorer

TEXTS = ["The range of the PT-300 is 0 to 50 bar.", "PT-300の範囲は0〜50 barです。", "The canteen opens at noon."]
FOUND = Retrieval(
    "range?", tuple(Candidate(passage(text, number=number), fused=1.0) for number, text in enumerate(TEXTS))
)


async def graded(scorer: PairScorer, *, found: Retrieval = FOUND, **options: Any) -> list[Grade]:
    return list(await ScoredGrader(scorer, **options).grade("range?", found, ledger=Book()))


def giving(*scores: Any) -> Scoring:
    return lambda question, passages: list(scores)


# --- scales ------------------------------------------------------------------------------------------


async def test_a22_a_probability_is_not_made_one_a_second_time() -> None:
    scorer = WildScorer(giving(*map(PairScore, (0.85, 0.29, 0.31))), scale=ScoreScale.PROBABILITY)
    grades = await graded(scorer)
    assert [grade.probability for grade in grades] == [0.85, 0.29, 0.31]
    assert [grade.level for grade in grades] == [Level.HIGH, Level.LOW, Level.MEDIUM]


async def test_a22_a_logit_becomes_a_probability_once() -> None:
    grades = await graded(WildScorer(giving(*map(PairScore, (0.85, -0.9, 0.0)))))
    assert [grade.probability for grade in grades] == pytest.approx([0.7006, 0.2891, 0.5], abs=1e-4)
    assert [grade.level for grade in grades] == [Level.HIGH, Level.LOW, Level.MEDIUM]


@pytest.mark.enable_socket
@pytest.mark.parametrize("scale", list(ScoreScale))
@pytest.mark.parametrize("kind", ["rerank", "http"])
async def test_a22_a_service_is_believed_as_its_scale_is_declared(kind: str, scale: ScoreScale) -> None:
    def scoring(question: str, text: str) -> float:
        return 0.8 if "bar" in text else 0.2

    with ScorerServer(scoring=scoring, scale=scale) as server:
        opened = rerank.open_scorer if kind == "rerank" else http_scorer.open_scorer
        url = server.base_url if kind == "rerank" else server.score_url
        scorer = opened(ScorerSettings(scale=scale, base_url=url, timeout_s=60))
        grades = await graded(scorer, timeout_s=60)
        await scorer.close()
    assert [grade.probability for grade in grades] == pytest.approx([0.8, 0.8, 0.2])


async def test_a22_logits_where_probabilities_are_declared_are_refused_not_guessed() -> None:
    scorer = WildScorer(giving(PairScore(4.2), PairScore(-7.0), PairScore(0.5)), scale=ScoreScale.PROBABILITY)
    grades = await graded(scorer)
    assert [grade.level for grade in grades] == [Level.UNGRADED, Level.UNGRADED, Level.MEDIUM]
    assert "is 4.2, and a probability lies in [0, 1]" in grades[0].reason


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.INNER_PRODUCT, Metric.L2, Metric.SQUARED_L2])
async def test_a19_what_a_store_calls_its_score_never_turns_a_grade_over(metric: Metric) -> None:
    cosines = [0.9, 0.5, 0.1]
    raw = {
        Metric.COSINE: cosines,
        Metric.INNER_PRODUCT: cosines,
        Metric.L2: [math.sqrt(2 - 2 * one) for one in cosines],
        Metric.SQUARED_L2: [2 - 2 * one for one in cosines],
    }[metric]
    found = replace(
        FOUND,
        candidates=tuple(
            replace(one, dense=similarity(score, metric)) for one, score in zip(FOUND.candidates, raw, strict=True)
        ),
    )
    scorer = TableScorer({TEXTS[0]: 3.0, TEXTS[1]: 0.0})
    grades = await graded(scorer, found=found)
    assert [grade.level for grade in grades] == [Level.HIGH, Level.MEDIUM, Level.LOW]
    assert [grade.probability for grade in grades] == [grade.probability for grade in await graded(scorer)]


@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    low=st.floats(0, 1),
    high=st.floats(0, 1),
)
async def test_a20_borders_are_applied_once_and_higher_is_better(scores: list[float], low: float, high: float) -> None:
    low, high = sorted((low, high))
    found = Retrieval("q", tuple(Candidate(passage("x", number=n), fused=1.0) for n in range(len(scores))))
    scorer = WildScorer(giving(*map(PairScore, scores)), scale=ScoreScale.PROBABILITY)
    grades = await graded(scorer, found=found, thresholds=Thresholds(high=high, low=low))
    assert sum(grade.level is Level.HIGH for grade in grades) == sum(score >= high for score in scores)
    assert sum(grade.level is Level.LOW for grade in grades) == sum(score < low and score < high for score in scores)


@given(logits=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=10))
async def test_a19_a_better_score_is_never_a_worse_grade(logits: list[float]) -> None:
    found = Retrieval("q", tuple(Candidate(passage("x", number=n), fused=1.0) for n in range(len(logits))))
    grades = await graded(WildScorer(giving(*map(PairScore, logits))), found=found)
    ranked = sorted(zip(logits, (grade.probability or 0.0 for grade in grades), strict=True))
    assert [one for _, one in ranked] == sorted(one for _, one in ranked)


# --- a14: what the search says of its own scores ---------------------------------------------------


@pytest.mark.parametrize("unknown", [None, float("nan"), "0.9", float("-inf")], ids=str)
async def test_a14_a_missing_or_broken_search_score_changes_no_grade(unknown: Any) -> None:
    spoilt = tuple(replace(one, fused=unknown, dense=unknown, lexical=unknown) for one in FOUND.candidates)
    scorer = TableScorer({TEXTS[1]: 3.0})
    grades = await graded(scorer, found=replace(FOUND, candidates=spoilt))
    assert [grade.level for grade in grades] == [Level.LOW, Level.HIGH, Level.LOW]


# --- what a grade keeps ------------------------------------------------------------------------------


async def test_a_grade_says_who_gave_it_and_that_it_is_not_calibrated() -> None:
    hit = Span(0, 5)
    grades = await graded(WildScorer(giving(PairScore(2.0, (2.0,), hit), unscored("no room"), PairScore(-2.0))))
    first, second, _ = grades
    assert first.grader == "scorer/wild@1"
    assert first.tier == "scorer"
    assert first.calibration is Calibration.NONE
    assert not first.calibrated
    assert first.hit == hit
    assert first.strip_scores == pytest.approx((probability_of(2.0),))
    assert first.signals == {"score": 2.0}
    assert "logit 2 by wild@1" in first.reason
    assert (second.level, second.probability, second.reason) == (Level.UNGRADED, None, "no room")
    assert second.recommendation is Recommendation.MANUAL_REVIEW


async def test_what_was_left_out_is_said() -> None:
    grades = await graded(WildScorer(giving(PairScore(2.0, (1.0, 2.0, 3.0)), PairScore(0.0), PairScore(0.0))))
    assert grades[0].strip_scores == ()
    assert "strip scores were left out: 3 for 1 strips" in grades[0].reason


async def test_the_scorer_sees_question_text_strips_and_title() -> None:
    seen: list[Any] = []

    @dataclass
    class Looking(TableScorer):
        async def score(self, question: str, passages: Any, *, ledger: Any) -> Any:
            seen.extend(passages)
            return await super().score(question, passages, ledger=ledger)

    titled = replace(passage("One. Two.", number=7, title="Manual"), headings=("Manual", "Ranges"))
    scorer = Looking()
    await graded(scorer, found=Retrieval("range?", (Candidate(titled, fused=1.0),)))
    assert scorer.asked == [("range?", ("One. Two.",))]
    assert seen[0].title == "Manual > Ranges"
    assert seen[0].strips == tuple((strip.start, strip.end) for strip in titled.strips)


async def test_damaged_strips_cost_the_passage_only() -> None:
    broken: Any = (None,)
    spoilt = replace(FOUND.candidates[0].passage, strips=broken)
    found = replace(FOUND, candidates=(replace(FOUND.candidates[0], passage=spoilt), *FOUND.candidates[1:]))
    grades = await graded(TableScorer(default=3.0), found=found)
    assert [grade.level for grade in grades] == [Level.UNGRADED, Level.HIGH, Level.HIGH]


# --- opening -----------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path) -> GraderParts:
    return GraderParts(folder=tmp_path, scorer=TableScorer())


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [
        (None, None, Thresholds(0.7, 0.3)),
        (0.9, None, Thresholds(0.9, 0.3)),
        (None, 0.8, Thresholds(0.8, 0.8)),
        (0.2, None, Thresholds(0.2, 0.2)),
        (0.6, 0.4, Thresholds(0.6, 0.4)),
    ],
)
def test_borders_that_are_set_move_the_usual_ones(
    parts: GraderParts, high: float | None, low: float | None, expected: Thresholds
) -> None:
    grader = open_grader(replace(parts, tau_high=high, tau_low=low))
    assert grader.thresholds("en") == grader.thresholds("ja") == expected


@pytest.mark.parametrize("opened", [open_grader, cascade.open_grader])
async def test_a_grader_waits_for_its_scorer_as_long_as_it_was_told(
    parts: GraderParts, opened: Callable[[GraderParts], Grader]
) -> None:
    slow = WildScorer(giving(), delay_s=60.0)
    grader = opened(replace(parts, folder=shipped_folder(), scorer=slow, timeout_s=0.05))
    grades = await grader.grade("range?", FOUND, ledger=Book())
    assert slow.calls == 1
    late = [grade.reason for grade in grades if grade.level is Level.UNGRADED]
    assert late
    assert all("no answer within 0.05 s" in reason for reason in late)


def test_borders_that_cross_are_refused(parts: GraderParts) -> None:
    with pytest.raises(SettingsInvalid, match="tau_low <= tau_high"):
        open_grader(replace(parts, tau_high=0.3, tau_low=0.6))


def test_a_grader_without_a_scorer_says_what_to_choose(parts: GraderParts) -> None:
    with pytest.raises(SettingsInvalid, match=r"grading\.scorer is empty"):
        open_grader(replace(parts, scorer=None))


@pytest.mark.parametrize("scale", [None, "logit", 1])
def test_a_scorer_without_a_scale_is_refused_with_what_to_write(parts: GraderParts, scale: Any) -> None:
    with pytest.raises(SettingsInvalid, match=r'scorer\.scale is .*scale = "probability"'):
        open_grader(replace(parts, scorer=WildScorer(giving(), scale=scale)))


async def test_a_grading_is_one_batch() -> None:
    scorer = TableScorer()
    await graded(scorer)
    assert len(scorer.asked) == 1
