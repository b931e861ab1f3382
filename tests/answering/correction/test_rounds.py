"""Rounds with several searches, stubborn sources, web pages and the question that is never touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tadasu.answering.conversation import restate_by_rules
from tadasu.answering.correction.loop import Corrected, CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings, Reaction, ReservePolicy
from tadasu.answering.correction.query_writer import ChatQueryWriter, QueryWriter
from tadasu.answering.generation import AnswerComposer, ChatWriter, ExtractiveWriter
from tadasu.answering.pipeline import Inquiry, Pipeline
from tadasu.answering.refinement import RefinementSettings
from tadasu.answering.refinery import Refinery
from tadasu.answering.retrieval.transient import merge_retrievals
from tadasu.core.answers import Reason
from tadasu.core.documents import Origin, Passage, Scope
from tadasu.core.grades import Grade, Level, Recommendation, Verdict
from tadasu.core.retrieved import Candidate, DroppedPage, Retrieval
from tadasu.core.runs import ActionKind, SearchMode, StopReason
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import ProviderUnreachable
from tadasu.ports import Grader, Ledger, OutsideSearch
from tadasu.prompts import load
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tadasu.storage.runs import SqlRunBook, read_run, write_run
from tests.answering.correction.worlds import Asked, ScriptedGrader, ScriptedSearch, ScriptedWeb, passage
from tests.answering.writing import Words
from tests.answering.writing import passage as written
from tests.storage.some_runs import everyday_run

ENGLISH = "What is the range of the PT-300?"
BAD = [passage(f"bad{i}") for i in range(3)]


def query_writer(chat: ScriptedChat) -> ChatQueryWriter:
    prompts = {name: {lang: load(name, lang) for lang in ("en", "ja")} for name in ("rewrite", "decompose")}
    return ChatQueryWriter(chat, rewrite=prompts["rewrite"], decompose=prompts["decompose"])


async def corrected_by(
    search: ScriptedSearch | Several,
    grader: Grader,
    web: OutsideSearch | None = None,
    *,
    settings: CorrectionSettings | None = None,
    question: str = ENGLISH,
    writer: QueryWriter | None = None,
    limits: Limits | None = None,
) -> tuple[Corrected, RunLedger]:
    world = FixedWorld()
    ledger = RunLedger(world)
    loop = CorrectionLoop(
        search=search,
        grader=grader,
        outside=web,
        settings=settings or CorrectionSettings(),
        writer=writer,
        merge=merge_retrievals,
        clock=world,
    )
    budget = Budget(limits or Limits(), ledger)
    return await loop.run(question, scope=Scope(), language="en", ledger=ledger, budget=budget), ledger


@dataclass
class Several:
    """Finds what was said for each query, in this order, and nothing for others; raises what it holds."""

    found: dict[str, Sequence[str] | Exception]
    asked: list[Asked] = field(default_factory=list)

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        self.asked.append(Asked(query, mode, k, scope))
        names = self.found.get(query, ())
        if isinstance(names, Exception):
            raise names
        kept = [name for name in names if name not in scope.exclude_passages][:k]
        return Retrieval(
            query,
            tuple(Candidate(passage(name), fused=1.0 - 0.1 * rank, queries=(query,)) for rank, name in enumerate(kept)),
        )


@dataclass
class Stubborn:
    """Gives the same three bad passages whatever is asked for and ruled out."""

    asked: list[Asked] = field(default_factory=list)

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        self.asked.append(Asked(query, mode, k, scope))
        return Retrieval(query, tuple(Candidate(each, fused=1.0, queries=(query,)) for each in BAD))


@pytest.mark.parametrize("question", [ENGLISH, "PT-300の測定範囲は何ですか？"])
@pytest.mark.parametrize("max_searches", [0, 1, 2, 5])
async def test_a32_the_same_three_bad_documents_again_and_again(question: str, max_searches: int) -> None:
    search, grader = Stubborn(), ScriptedGrader({})
    settings = CorrectionSettings(max_searches=max_searches)
    corrected, _ = await corrected_by(search, grader, settings=settings, question=question)  # type: ignore[arg-type]
    # The second search, by meaning, ranks all that is not ruled out: where it has nothing, no third is made.
    assert len(search.asked) == len(corrected.rounds) == min(2, 1 + max_searches)
    assert grader.calls == 1
    assert [asked.scope.exclude_passages for asked in search.asked[1:]] == [{"bad0", "bad1", "bad2"}] * len(
        search.asked[1:]
    )
    assert all(done.candidates == () for done in corrected.rounds[1:])
    assert corrected.rounds[-1].action.kind is ActionKind.ABSTAIN
    assert corrected.stop is StopReason.INCORRECT
    assert corrected.reason is Reason.INSUFFICIENT


@pytest.mark.parametrize("question", [ENGLISH, "PT-300の測定範囲は何ですか？"])
async def test_a27_with_an_empty_index_the_fallback_runs_and_where_it_is_off_there_is_no_answer(question: str) -> None:
    web = ScriptedWeb([passage("page", origin=Origin.WEB)])
    helped, _ = await corrected_by(ScriptedSearch([]), ScriptedGrader({"page": 0.9}), web, question=question)
    assert [done.verdict for done in helped.rounds] == [Verdict.NO_DOCUMENTS, Verdict.CORRECT]
    assert [item.passage.id for item in helped.passages] == ["page"]
    for settings in (CorrectionSettings(max_web_searches=0), CorrectionSettings(no_documents=Reaction.ABSTAIN)):
        alone, _ = await corrected_by(
            ScriptedSearch([]), ScriptedGrader({"page": 0.9}), web, settings=settings, question=question
        )
        assert alone.passages == ()
        assert (alone.stop, alone.reason) == (StopReason.NO_DOCUMENTS, Reason.NO_DOCUMENTS)
    assert len(web.asked) == 1


COMPARED = "Compare the PT-300, the PT-500 and the LD-90."


async def test_a50_three_sub_questions_that_overlap_by_60_percent_give_each_passage_once_with_all_queries() -> None:
    shared = ["s1", "s2", "s3"]
    found = {part: [*shared, f"{part}-a", f"{part}-b"] for part in ("PT-300", "PT-500", "LD-90")}
    search = Several({COMPARED: ["first"], **found})
    grader = ScriptedGrader({"first": 0.4, "s1": 0.9}, default=0.5)
    corrected, _ = await corrected_by(search, grader, question=COMPARED)
    assert [done.queries for done in corrected.rounds] == [(), ("PT-300", "PT-500", "LD-90")]
    several = corrected.rounds[1]
    ids = [candidate.passage_id for candidate in several.candidates]
    assert len(ids) == len(set(ids)) == 9
    assert {one.passage_id: set(one.queries) for one in several.candidates if one.passage_id in shared} == {
        name: {"PT-300", "PT-500", "LD-90"} for name in shared
    }
    assert len(search.asked) == sum(done.searches for done in corrected.rounds) == 4
    assert grader.calls == 2
    assert [item.passage.id for item in corrected.passages].count("s1") == 1


async def test_one_sub_question_that_fails_costs_no_other() -> None:
    search = Several({COMPARED: ["first"], "PT-300": ["a"], "PT-500": OSError("disk"), "LD-90": ["b"]})
    grader = ScriptedGrader({"first": 0.4, "a": 0.9})
    corrected, _ = await corrected_by(search, grader, question=COMPARED)
    assert corrected.stop is StopReason.CORRECT
    assert [one.passage_id for one in corrected.rounds[1].candidates] == ["a", "b"]
    assert "1 of 3 searches failed" in corrected.rounds[1].error


async def test_a_models_rewrites_are_searched_for_together_and_the_call_is_in_the_ledger() -> None:
    chat = ScriptedChat(["span of the PT-300\nlimits of the PT-300"])
    search = Several({ENGLISH: ["first"], "span of the PT-300": ["a", "good"], "limits of the PT-300": ["good"]})
    corrected, ledger = await corrected_by(
        search, ScriptedGrader({"first": 0.4, "good": 0.9}), writer=query_writer(chat)
    )
    assert corrected.rounds[1].queries == ("span of the PT-300", "limits of the PT-300")
    assert corrected.rounds[1].changed == "other wordings, written by the chat model"
    assert [call.stage for call in ledger.calls] == [Stage.REWRITE]
    assert [item.passage.id for item in corrected.passages] == ["good", "first"]
    good = next(one for one in corrected.rounds[1].candidates if one.passage_id == "good")
    assert set(good.queries) == {"span of the PT-300", "limits of the PT-300"}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("What is the range of the PT-500?", "it lost PT-300"),
        (ProviderUnreachable(provider="chat", reason="down"), "down"),
        ("", "the reply holds no query"),
    ],
)
async def test_a_rewriter_that_fails_costs_nothing_and_is_said(reply: str | ProviderUnreachable, reason: str) -> None:
    search = ScriptedSearch([passage("m")])
    corrected, ledger = await corrected_by(
        search, ScriptedGrader({"m": 0.5}), writer=query_writer(ScriptedChat([reply]))
    )
    assert len(search.asked) == 3
    assert "the chat model's queries were not used" in corrected.rounds[1].changed
    assert reason in corrected.rounds[1].changed
    assert [item.passage.id for item in corrected.passages] == ["m"]
    assert [call.outcome is Outcome.OK for call in ledger.calls] == [isinstance(reply, str)]


async def test_no_model_is_asked_where_the_first_search_is_correct() -> None:
    chat = ScriptedChat(["x"])
    await corrected_by(ScriptedSearch([passage("m")]), ScriptedGrader({"m": 0.9}), writer=query_writer(chat))
    assert chat.requests == []


class Walled(ScriptedWeb):
    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        found = await super().search(query, inside=inside, limit=limit, language=language, ledger=ledger)
        dropped = (DroppedPage("https://example.com/", "cookie_wall", "asks for cookies"),)
        return Retrieval(found.query, found.candidates, dropped=dropped)


async def test_pages_that_could_not_be_used_are_in_the_round() -> None:
    corrected, _ = await corrected_by(ScriptedSearch([]), ScriptedGrader({}), Walled([]))
    assert [one.reason for one in corrected.rounds[1].dropped] == ["cookie_wall"]
    assert corrected.rounds[1].verdict is Verdict.NO_DOCUMENTS


async def test_a_second_web_search_has_another_query_and_no_page_that_was_low() -> None:
    web = ScriptedWeb([passage("w0", origin=Origin.WEB), passage("w1", origin=Origin.WEB)])
    settings = CorrectionSettings(max_searches=0, max_web_searches=3)
    question = "How long is the warranty period of the PT-300 in the harbour of Osaka?"
    corrected, _ = await corrected_by(
        ScriptedSearch([passage("m")]), ScriptedGrader({"m": 0.5, "w1": 0.5}), web, settings=settings, question=question
    )
    assert len(web.asked) == len(set(web.asked)) >= 2
    ids = [[one.passage_id for one in done.candidates] for done in corrected.rounds]
    assert ids == [["m"], ["w0", "w1"], *[["w1"]] * (len(web.asked) - 1)]


async def test_evidence_keeps_the_verdict_of_its_own_rounds() -> None:
    web = ScriptedWeb([passage("w0", origin=Origin.WEB)])
    settings = CorrectionSettings(max_searches=0, incorrect=ReservePolicy.USE_WITH_WARNING)
    for own, expected in ((0.9, Verdict.CORRECT), (0.5, Verdict.AMBIGUOUS), (0.1, Verdict.INCORRECT)):
        corrected, _ = await corrected_by(
            ScriptedSearch([passage("m")]), ScriptedGrader({"m": own}), web, settings=settings
        )
        assert [item.passage.id for item in corrected.passages] == ["m"]
        assert corrected.verdict is expected


async def test_a_passage_that_comes_twice_is_graded_once() -> None:
    corrected, _ = await corrected_by(
        ScriptedSearch([passage("m"), passage("m")]), ScriptedGrader({"m": 0.9}), settings=CorrectionSettings()
    )
    assert [one.passage_id for one in corrected.rounds[0].candidates] == ["m"]


async def test_what_the_budget_left_ungraded_is_in_the_run_and_goes_on_only_where_that_is_open() -> None:
    for reaction, kept in ((Reaction.CLOSED, []), (Reaction.OPEN, ["m"])):
        search = _Recording([passage("m")])
        corrected, _ = await corrected_by(
            search,
            ScriptedGrader({"m": 0.9}),
            settings=CorrectionSettings(budget_spent=reaction),
            limits=Limits(calls=1),
        )
        assert [done.verdict for done in corrected.rounds] == [Verdict.BUDGET_SPENT]
        assert [one.grade.level for one in corrected.rounds[0].candidates] == [Level.UNGRADED]
        assert [item.passage.id for item in corrected.passages] == kept
        assert corrected.stop is StopReason.BUDGET_SPENT


class _Recording(ScriptedSearch):
    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        from tadasu.runtime.ledger import timed

        with timed(ledger, Stage.RETRIEVE, provider="own"):
            return await super().search(query, k=k, scope=scope, mode=mode, ledger=ledger)


async def test_an_ungraded_passage_is_for_a_person_to_look_at_whoever_left_it_so() -> None:
    def bare(grades: list[Grade]) -> list[Grade]:
        return [Grade("m", Level.UNGRADED, None, "unreadable", "plugin")]

    corrected, _ = await corrected_by(ScriptedSearch([passage("m")]), ScriptedGrader({}, wrap=bare))
    (one,) = corrected.rounds[0].candidates
    assert one.grade.recommendation is Recommendation.MANUAL_REVIEW
    assert one.grade.reason == "unreadable"


HOSTILE = [
    "  What is {the} range\tof the PT-300?  \n",
    "{question} {{y}} %s $z {0} PT-300の範囲は　何ですか？😀",
    "PT-300\u200bの\u202e範囲\r\nは？ \\1 <<<END>>>",
]


@pytest.mark.parametrize("question", HOSTILE)
async def test_whatever_is_searched_for_the_writer_gets_the_question_byte_for_byte(
    question: str, tmp_path: Path
) -> None:
    runs = SqlRunBook.open(tmp_path / "state.db")
    answers = ScriptedChat(["It is 3 years. [1]"] * 3)
    rewriting = ScriptedChat(["span of the PT-300\nPT-300の仕様"] * 3)
    shelf: list[Passage] = [written(["The range of the PT-300 is 3 m."], name="m", document="d")]
    world = FixedWorld()
    search = ScriptedSearch(shelf)
    line = Pipeline(
        restate=restate_by_rules,
        correction=CorrectionLoop(
            search=search,
            grader=ScriptedGrader({"m": 0.5}),
            outside=None,
            settings=CorrectionSettings(),
            writer=query_writer(rewriting),
            merge=merge_retrievals,
            clock=world,
        ),
        composer=AnswerComposer(
            ChatWriter(answers, prompts={language: load("answer", language) for language in ("en", "ja")}),
            fallback=ExtractiveWriter(),
        ),
        refinery=Refinery(Words(), RefinementSettings()),
        limits=Limits(),
        runs=runs,
        clock=world,
        ids=world,
        chance=world,
    )
    run = await line.answer(Inquiry(question))
    runs.close()
    assert len(run.rounds) == 3
    assert len({(asked.query, asked.mode) for asked in search.asked}) == len(search.asked) >= 3
    assert search.asked[0].query == run.question == question
    assert question in rewriting.requests[0][-1].content
    assert question in "\n".join(message.content for message in answers.requests[0])
    assert run.stop is StopReason.SEARCHES_EXHAUSTED
    assert sum(call.stage is Stage.REWRITE for call in run.calls) == len(rewriting.requests)


def test_a_run_from_before_these_fields_can_still_be_read() -> None:
    record = json.loads(write_run(everyday_run()))
    del record["stop"]
    for done in record["rounds"]:
        del done["queries"], done["action"]["stop"]
    read = read_run(json.dumps(record))
    assert read.stop is StopReason.NOT_RECORDED
    assert read.rounds
    assert all(done.queries == () and done.searches == 1 and done.action.stop is None for done in read.rounds)
