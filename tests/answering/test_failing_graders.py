"""A grader that fails costs its passages their grade, never the run: through the whole line, with the cache in front."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tadasu.answering.conversation import restate_by_rules
from tadasu.answering.correction.loop import CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings, Reaction
from tadasu.answering.generation import AnswerComposer, ExtractiveWriter
from tadasu.answering.grading.cached import CachedScorer
from tadasu.answering.grading.scored import ScoredGrader
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Refinery
from tadasu.core.answers import AnswerStatus, Reason
from tadasu.core.documents import Passage
from tadasu.core.grades import Grade, Level, Verdict
from tadasu.core.retrieved import Retrieval
from tadasu.core.runs import ActionKind, Run
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.vectors import PassageText
from tadasu.errors import GradingFailed, ProviderLimited, ProviderUnreachable
from tadasu.ports import Grader, Ledger, PairScorer, ScorerSettings
from tadasu.providers import rerank
from tadasu.runtime.budget import Limits
from tadasu.runtime.world import SystemChance, SystemClock, SystemIds
from tadasu.storage.runs import SqlRunBook
from tadasu.testing.scorer_server import Manner, ScorerServer
from tests.answering.correction.worlds import ScriptedGrader, ScriptedSearch
from tests.answering.grading.scorers import Scoring, WildScorer, raising
from tests.answering.writing import Words, passage

ENGLISH = "How long is the warranty of the PT-300?"
JAPANESE = "PT-300の保証期間は何年ですか？"
QUESTIONS = [(ENGLISH, "en"), (JAPANESE, "ja")]
NOT_ASSESSED = {"en": "could not be assessed", "ja": "評価できなかった"}


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SqlRunBook]:
    book = SqlRunBook.open(tmp_path / "state.db")
    yield book
    book.close()


class Shelf:
    """A cache that keeps everything and can be looked into."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    async def put(self, entries: Mapping[str, bytes]) -> None:
        self.kept.update(entries)

    async def close(self) -> None:
        """Nothing to close."""


def shelf(language: str) -> list[Passage]:
    if language == "ja":
        return [
            passage(["PT-300の保証期間は3年です。", "横浜で作られています。"], name="good", document="d1"),
            passage(["社員食堂は12時に開きます。"], name="bad", document="d2"),
            passage(["取締役会は4月に開かれました。"], name="worse", document="d3"),
        ]
    return [
        passage(["The warranty of the PT-300 is 3 years. ", "It is made in Yokohama."], name="good", document="d1"),
        passage(["The canteen opens at 12:00."], name="bad", document="d2"),
        passage(["The board met in April."], name="worse", document="d3"),
    ]


async def answered(
    runs: SqlRunBook,
    grader: Grader,
    question: str,
    language: str,
    *,
    correction: CorrectionSettings | None = None,
    seconds: float | None = 60.0,
    passages: Sequence[Passage] | None = None,
) -> Run:
    line = Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(
            search=ScriptedSearch(shelf(language) if passages is None else passages),
            grader=grader,
            outside=None,
            settings=correction or CorrectionSettings(max_searches=0),
            k=10,
        ),
        composer=AnswerComposer(ExtractiveWriter()),
        refinery=Refinery(Words(), RefinementSettings()),
        limits=Limits(seconds=seconds),
        runs=runs,
        clock=SystemClock(),
        ids=SystemIds(),
        chance=SystemChance(),
    )
    run = await line.answer(Inquiry(question))
    assert runs.load(run.id, reader=run.reader) == run
    return run


def levels(run: Run) -> dict[str, Level]:
    return {one.passage_id: one.grade.level for one in run.rounds[-1].candidates}


def reasons(run: Run) -> dict[str, str]:
    return {one.passage_id: one.grade.reason for one in run.rounds[-1].candidates}


def good(text: str) -> bool:
    return "3 years" in text or "3年" in text


def well(question: str, passages: Sequence[PassageText]) -> list[PairScore]:
    return [PairScore(3.0 if good(one.text) else -3.0) for one in passages]


def changed(make: Callable[[list[PairScore]], Any]) -> Scoring:
    return lambda question, passages: make(well(question, passages))


# --- scorers: everything fails -------------------------------------------------------------------


EVERYTHING_FAILS: dict[str, tuple[Scoring, float, str]] = {
    "raises a named error": (raising(ProviderUnreachable(provider="there", reason="down")), 0.0, "there cannot be"),
    "is limited": (raising(ProviderLimited(provider="there", reason="429")), 0.0, "limits calls"),
    "raises anything": (raising(ZeroDivisionError("division by zero")), 0.0, "ZeroDivisionError"),
    "breaks off": (raising(asyncio.CancelledError()), 0.0, "broke off"),
    "times out": (well, 30.0, "no answer within 0.2 s"),
    "gives NaN": (changed(lambda scores: [replace(one, score=math.nan) for one in scores]), 0.0, "nan"),
    "gives infinity": (changed(lambda scores: [replace(one, score=math.inf) for one in scores]), 0.0, "inf"),
    "gives too few": (changed(lambda scores: scores[:1]), 0.0, "1 scores for 3 passages"),
    "gives too many": (changed(lambda scores: scores * 2), 0.0, "6 scores for 3 passages"),
    "gives none": (changed(lambda scores: []), 0.0, "0 scores for 3 passages"),
    "gives nothing": (changed(lambda scores: None), 0.0, "no list of scores"),
    "gives texts": (changed(lambda scores: ["0.9", "0.1", "0.1"]), 0.0, "no score for it ('0."),
}


@pytest.mark.parametrize("name", EVERYTHING_FAILS)
@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_a_scorer_that_fails_is_grader_failed_never_incorrect_and_never_cached(
    runs: SqlRunBook, name: str, question: str, language: str
) -> None:
    scoring, delay_s, word = EVERYTHING_FAILS[name]
    scorer, kept = WildScorer(scoring, delay_s=delay_s), Shelf()
    grader = ScoredGrader(CachedScorer(scorer, kept), timeout_s=0.2 if delay_s else 60.0)
    run = await answered(runs, grader, question, language)
    assert [one.verdict for one in run.rounds] == [Verdict.GRADER_FAILED]
    assert set(levels(run).values()) == {Level.UNGRADED}
    assert all(word in reason for reason in reasons(run).values()), reasons(run)
    assert (run.answer.status, run.answer.reason) == (AnswerStatus.ABSTAINED, Reason.GRADER_FAILED)
    assert NOT_ASSESSED[language] in run.answer.text
    assert run.evidence == ()
    assert word in run.rounds[0].error
    assert kept.kept == {}


@pytest.mark.parametrize("name", EVERYTHING_FAILS)
@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_where_the_policy_is_open_the_answer_comes_with_a_warning(
    runs: SqlRunBook, name: str, question: str, language: str
) -> None:
    scoring, delay_s, _ = EVERYTHING_FAILS[name]
    grader = ScoredGrader(WildScorer(scoring, delay_s=delay_s), timeout_s=0.2 if delay_s else 60.0)
    opened = CorrectionSettings(max_searches=0, grader_failed=Reaction.OPEN)
    run = await answered(runs, grader, question, language, correction=opened)
    assert [one.verdict for one in run.rounds] == [Verdict.GRADER_FAILED]
    assert run.rounds[0].action.kind is ActionKind.COMBINE
    assert run.answer.status is AnswerStatus.ANSWERED
    assert good(run.answer.text)
    assert any("could not be graded" in warning for warning in run.warnings)


# --- scorers: some of it fails -------------------------------------------------------------------


def without(lost: Callable[[str], bool], spoilt: Any) -> Scoring:
    return lambda question, passages: [
        spoilt if lost(passage.text) else one for passage, one in zip(passages, well(question, passages), strict=True)
    ]


def canteen(text: str) -> bool:
    return "canteen" in text or "食堂" in text


SPOILT: dict[str, Any] = {
    "NaN": PairScore(math.nan),
    "a reason": PairScore(math.nan, reason="the window was too small"),
    "None": None,
    "a text": "0.9",
}


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_one_failed_grade_costs_one_passage_and_the_answer_still_comes(
    runs: SqlRunBook, spoilt: str, question: str, language: str
) -> None:
    kept = Shelf()
    scorer = WildScorer(without(canteen, SPOILT[spoilt]))
    run = await answered(runs, ScoredGrader(CachedScorer(scorer, kept)), question, language)
    assert levels(run) == {"good": Level.HIGH, "bad": Level.UNGRADED, "worse": Level.LOW}
    assert reasons(run)["bad"]
    assert run.answer.status is AnswerStatus.ANSWERED
    assert good(run.answer.text)
    assert len(kept.kept) == 2, "what failed is not kept, what was scored is"
    await answered(runs, ScoredGrader(CachedScorer(scorer, kept)), question, language)
    assert scorer.calls == 2, "and it is asked for again"
    assert len(kept.kept) == 2


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_an_ungraded_passage_may_be_the_good_one_so_nothing_is_incorrect(
    runs: SqlRunBook, spoilt: str, question: str, language: str
) -> None:
    grader = ScoredGrader(WildScorer(without(good, SPOILT[spoilt])))
    run = await answered(runs, grader, question, language)
    assert levels(run) == {"good": Level.UNGRADED, "bad": Level.LOW, "worse": Level.LOW}
    assert [one.verdict for one in run.rounds] == [Verdict.AMBIGUOUS]
    assert run.answer.status is AnswerStatus.ABSTAINED
    opened = CorrectionSettings(max_searches=0, ungraded=Reaction.OPEN)
    run = await answered(runs, grader, question, language, correction=opened)
    assert run.answer.status is AnswerStatus.ANSWERED
    assert good(run.answer.text)
    assert any("could not be graded" in warning for warning in run.warnings)
    assert {one.passage_id for one in (item.strip for item in run.evidence)} == {"good"}


@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a16_neither_near_zero_nor_ungraded_passages_reach_the_evidence(
    runs: SqlRunBook, question: str, language: str
) -> None:
    texts = ["食堂は正午からです。"] * 4 if language == "ja" else ["The canteen opens at noon."] * 4
    rest = [passage([text], name=f"zero{number}", document=f"z{number}") for number, text in enumerate(texts)]
    lost = passage(["PT-300 ?"], name="lost", document="lost")
    scorer = WildScorer(
        lambda question, passages: [
            PairScore(math.nan if "?" in one.text else 0.95 if good(one.text) else 0.003) for one in passages
        ],
        scale=ScoreScale.PROBABILITY,
    )
    passages = [*rest[:2], lost, shelf(language)[0], *rest[2:]]
    run = await answered(runs, ScoredGrader(scorer), question, language, passages=passages)
    assert run.rounds[0].verdict is Verdict.CORRECT
    assert {item.strip.passage_id for item in run.evidence} == {"good"}
    assert levels(run)["lost"] is Level.UNGRADED


# --- graders: as plugins give them ---------------------------------------------------------------


@dataclass
class WildGrader:
    """Returns whatever `make` makes of good grades, of whatever type."""

    make: Callable[[list[Grade]], Any]
    delay_s: float = 0.0
    id: str = "wild@1"

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        await asyncio.sleep(self.delay_s)
        right = ScriptedGrader({"good": 0.9})
        return self.make(list(await right.grade(question, retrieval, ledger=ledger)))  # type: ignore[no-any-return]


def throwing(problem: BaseException) -> Callable[[list[Grade]], Any]:
    def make(grades: list[Grade]) -> Any:
        raise problem

    return make


def differing(grades: list[Grade]) -> list[Grade]:
    return [*grades, replace(grades[0], probability=0.05, level=Level.LOW)]


ALL, REST = {"good", "bad", "worse"}, {"bad", "worse"}
GRADERS: dict[str, tuple[Callable[[list[Grade]], Any], set[str], str]] = {
    "unordered": (lambda grades: grades[::-1], set(), ""),
    "doubled alike": (lambda grades: grades + grades, set(), ""),
    "too few": (lambda grades: grades[:1], REST, "no grade for it"),
    "a stranger's": (lambda grades: [grades[0], replace(grades[1], passage_id="nobody")], REST, "no grade for it"),
    "some no grades": (lambda grades: [grades[0], None, 0.5], REST, "no grade for it"),
    "doubled and differing": (differing, {"good"}, "two grades for it, and they differ"),
    "none": (lambda grades: [], ALL, "no grade for it"),
    "nothing": (lambda grades: None, ALL, "NoneType instead of a list"),
    "a number": (lambda grades: 0.9, ALL, "float instead of a list"),
    "raises a named error": (throwing(GradingFailed(grader="g", reason="out of memory")), ALL, "out of memory"),
    "raises anything": (throwing(ArithmeticError("NaN")), ALL, "raised ArithmeticError: NaN"),
    "makes NaN": (lambda grades: [replace(one, probability=math.nan) for one in grades], ALL, "raised ValueError"),
    "breaks off": (throwing(asyncio.CancelledError()), ALL, "broke off its own work"),
    "raises a time-out": (throwing(TimeoutError("read")), ALL, "raised TimeoutError: read"),
}


@pytest.mark.parametrize("name", GRADERS)
@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_whatever_a_grader_returns_each_passage_has_its_own_grade_or_a_reason(
    runs: SqlRunBook, name: str, question: str, language: str
) -> None:
    make, lost, word = GRADERS[name]
    run = await answered(runs, WildGrader(make), question, language)
    assert {name for name, level in levels(run).items() if level is Level.UNGRADED} == lost
    assert all(word in reasons(run)[name] for name in lost)
    if "good" not in lost:
        assert run.rounds[0].verdict is Verdict.CORRECT
        assert good(run.answer.text)
    else:
        expected = Verdict.GRADER_FAILED if lost == ALL else Verdict.AMBIGUOUS
        assert run.rounds[0].verdict is expected
        assert run.answer.status is AnswerStatus.ABSTAINED


@pytest.mark.parametrize(("question", "language"), QUESTIONS)
async def test_a11_a_grader_that_never_ends_is_left_at_the_runs_deadline(
    runs: SqlRunBook, question: str, language: str
) -> None:
    run = await answered(runs, WildGrader(list, delay_s=600), question, language, seconds=0.5)
    assert run.rounds[0].verdict is Verdict.GRADER_FAILED
    assert "no answer within" in run.rounds[0].error
    assert run.answer.reason is Reason.GRADER_FAILED


async def test_cancelling_a_question_ends_it_and_is_no_failure_of_the_grader(runs: SqlRunBook) -> None:
    task = asyncio.create_task(answered(runs, WildGrader(list, delay_s=600), ENGLISH, "en"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# --- over HTTP -----------------------------------------------------------------------------------


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("manner", "verdict"),
    [
        (Manner.WELL, Verdict.CORRECT),
        (Manner.REVERSED, Verdict.CORRECT),
        (Manner.SHORT, Verdict.CORRECT),
        (Manner.MISSING, Verdict.AMBIGUOUS),
        (Manner.NAN, Verdict.AMBIGUOUS),
        (Manner.TEXT, Verdict.AMBIGUOUS),
        (Manner.DOUBLED, Verdict.AMBIGUOUS),
        (Manner.ONE_BASED, Verdict.GRADER_FAILED),
        (Manner.NOTHING, Verdict.GRADER_FAILED),
        (Manner.FAULT, Verdict.GRADER_FAILED),
        (Manner.LIMITED, Verdict.GRADER_FAILED),
        (Manner.NO_JSON, Verdict.GRADER_FAILED),
        (Manner.CLOSED, Verdict.GRADER_FAILED),
    ],
)
async def test_a10_a11_every_manner_of_a_service_ends_in_a_verdict_or_a_named_failure(
    runs: SqlRunBook, manner: Manner, verdict: Verdict
) -> None:
    def scoring(question: str, text: str) -> float:
        return 0.95 if good(text) else 0.05

    kept = Shelf()
    with ScorerServer([manner], scoring=scoring) as server:
        scorer = rerank.open_scorer(
            ScorerSettings(scale=ScoreScale.PROBABILITY, base_url=server.base_url, timeout_s=60)
        )
        cached: PairScorer = CachedScorer(scorer, kept)
        run = await answered(runs, ScoredGrader(cached, timeout_s=60), JAPANESE, "ja")
        await scorer.close()
    assert [one.verdict for one in run.rounds] == [verdict]
    assert (run.answer.status is AnswerStatus.ANSWERED) is (verdict is Verdict.CORRECT)
    failed = [one for one in run.rounds[0].candidates if one.grade.level is Level.UNGRADED]
    assert all(one.grade.reason for one in failed)
    assert len(kept.kept) == len(run.rounds[0].candidates) - len(failed)
