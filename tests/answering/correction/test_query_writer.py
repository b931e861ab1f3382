"""Queries from a chat model: the question goes out whole, and what comes back is used only where it asks the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import date

import pytest

from tadasu.answering.correction.keeping import lost, lost_together
from tadasu.answering.correction.query_writer import MOST_REWRITES, ChatQueryWriter, Written, read_queries
from tadasu.core.usage import Call, Outcome, Stage
from tadasu.errors import ProviderLimited, ProviderUnreachable
from tadasu.ports import ChatDelta, ChatModel, Ledger, Message
from tadasu.prompts import load
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tests.answering.correction.jumping_loop import run_in

TODAY = date(2026, 3, 5)
ENGLISH = "What is the range of the PT-300 at 20 °C?"
JAPANESE = "PT-300の保証期間は何年ですか？"
PROMPTS = {name: {language: load(name, language) for language in ("en", "ja")} for name in ("rewrite", "decompose")}


def writer(chat: ChatModel, *, seconds: float = 10.0) -> ChatQueryWriter:
    return ChatQueryWriter(chat, rewrite=PROMPTS["rewrite"], decompose=PROMPTS["decompose"], seconds=seconds)


def purse(limits: Limits | None = None, *, world: FixedWorld | None = None) -> tuple[Budget, RunLedger]:
    ledger = RunLedger(world or FixedWorld())
    return Budget(limits or Limits(), ledger), ledger


async def rewrites(chat: ChatModel, question: str = ENGLISH, *, tried: Sequence[str] = ()) -> Written:
    budget, _ = purse()
    return await writer(chat).rewrites(question, [question, *tried], today=TODAY, budget=budget)


async def test_one_call_gives_several_queries_and_the_ledger_calls_it_rewriting() -> None:
    chat = ScriptedChat(["span of the PT-300 at 20 °C\nmeasuring limits, PT-300, 20 °C\nPT-300 20 °C specification"])
    budget, ledger = purse()
    written = await writer(chat).rewrites(ENGLISH, [ENGLISH], today=TODAY, budget=budget)
    assert written.queries == (
        "span of the PT-300 at 20 °C",
        "measuring limits, PT-300, 20 °C",
        "PT-300 20 °C specification",
    )
    assert [(call.stage, call.outcome) for call in ledger.calls] == [(Stage.REWRITE, Outcome.OK)]
    assert ledger.calls[0].tokens.input > 0


HOSTILE = ["{x}", "{{y}} {0}", "%s $z {question} {tried}", "  What\tis\u3000the  😀 {nonce}?\r\n ", "\\1 \\g<0>『「」"]


@pytest.mark.parametrize("question", [*HOSTILE, ENGLISH, JAPANESE])
async def test_a53_a54_the_question_is_in_the_outgoing_request_byte_for_byte(question: str) -> None:
    chat = ScriptedChat(["nothing", "nothing"])
    budget, _ = purse()
    await writer(chat).rewrites(question, [question], today=TODAY, budget=budget)
    await writer(chat).parts(question, [question], today=TODAY, budget=budget)
    assert len(chat.requests) == 2
    for request in chat.requests:
        assert question in request[-1].content
        assert "{question}" not in request[-1].content.replace(question, "")


async def test_what_was_tried_is_shown_and_not_taken_again() -> None:
    chat = ScriptedChat(["PT-300 at 20 °C: SPAN?\nlimits of the PT-300 at 20 °C"])
    written = await rewrites(chat, tried=["PT-300 at 20 °C span"])
    assert "PT-300 at 20 °C span" in chat.requests[0][-1].content
    assert written.queries == ("limits of the PT-300 at 20 °C",)
    assert written.refused == "it repeats a query"


async def test_the_question_itself_in_other_width_and_case_is_no_rewrite() -> None:
    written = await rewrites(ScriptedChat(["ＰＴ－300の保証期間は何年ですか"]), JAPANESE)
    assert written == Written((), "it repeats a query")


@pytest.mark.parametrize(
    ("question", "query", "reason"),
    [
        (ENGLISH, "span of the PT-300 at 20 °C", ""),
        (ENGLISH, "span of the PT-300", "it lost 20 °C"),
        (ENGLISH, "span at 20 °C", "it lost PT-300"),
        (ENGLISH, "PT-3000 span at 20 °C", "it lost PT-300"),
        (ENGLISH, "PT-300 span at 20 °C and 85 °C", "it added 85 °C"),
        (ENGLISH, "PT-300 の測定範囲 20 °C", "it is in another language"),
        (ENGLISH, "PT-300 20 °C " + "very " * 60, "it is too long"),
        (JAPANESE, "PT-300 無償修理期間", ""),
        (JAPANESE, "PT-500 無償修理期間", "it lost PT-300"),
        (JAPANESE, "PT-300 warranty", "it is in another language"),
        (JAPANESE, "PT-300 保証期間 5年", "it added 5年"),
        ("Which valves must not be opened?", "valves that must never be opened", ""),
        ("Which valves must not be opened?", "valves to open", "it lost the negation"),
        ("Which valves must be opened?", "valves that must not be opened", "it turned the question round"),
        ("開けてはいけない弁はどれですか？", "開放禁止の弁", ""),
        ("開けてはいけない弁はどれですか？", "開けてよい弁", "it lost the negation"),
        ('What does "fail safe" mean?', "meaning of fail safe", ""),
        ('What does "fail safe" mean?', "meaning of safe failure", "it lost “fail safe”"),
        ("「安全弁」とは？", "リリーフ弁の定義", "it lost “安全弁”"),
        ("How does the VPN work?", "virtual private network set-up", ""),
        ("今年の祝日は？", "2026年 国民の祝日", ""),
        ("今年の祝日は？", "国民の祝日", "it lost 2026年"),
        ("今年の祝日は？", "2025年 国民の祝日", "it lost 2026年"),
        ("Does 1,200 L fit?", "capacity 1200 litres", ""),
        ("3つの条件は何ですか", "三つの要件", ""),
    ],
)
def test_a_rewrite_has_to_ask_for_the_same(question: str, query: str, reason: str) -> None:
    assert lost(question, query, today=TODAY) == reason


def test_sub_questions_keep_together_what_each_need_not_hold() -> None:
    question = "How do the PT-300 and the PT-500 differ at 20 °C?"
    assert lost_together(question, ("PT-300 at 20 °C", "PT-500 at 20 °C"), today=TODAY) == ""
    assert lost_together(question, ("PT-300 at 20 °C", "PT-400 at 20 °C"), today=TODAY) == "it lost PT-500"


@pytest.mark.parametrize(
    "said",
    [
        "span PT-300 20 °C\nlimits PT-300 20 °C",
        "Here are the queries:\n1. span PT-300 20 °C\n2. limits PT-300 20 °C\n",
        '- "span PT-300 20 °C"\n- "limits PT-300 20 °C"',
        '{"queries": ["span PT-300 20 °C", "limits PT-300 20 °C"]}',
        'Sure!\n```json\n["span PT-300 20 °C", "limits PT-300 20 °C",]\n```',
        '[{"query": "span PT-300 20 °C"}, {"query": "limits PT-300 20 °C"}]',
        "<think>PT-300…</think>Query 1: span PT-300 20 °C\nQuery 2: limits PT-300 20 °C",
        "検索語1：「span PT-300 20 °C」\n検索語2：「limits PT-300 20 °C」",
    ],
)
def test_a_reply_is_read_in_whatever_form_it_comes(said: str) -> None:
    assert read_queries(said)[-2:] == ["span PT-300 20 °C", "limits PT-300 20 °C"]


@pytest.mark.parametrize("said", ["", "   \n\n", "```\n```", "{}", "<think>hm", "…"])
async def test_a_reply_without_a_query_is_said_to_be_one(said: str) -> None:
    assert await rewrites(ScriptedChat([said])) == Written((), "the reply holds no query")


async def test_more_queries_than_wanted_are_cut() -> None:
    said = "\n".join(f"{word} of the PT-300 at 20 °C" for word in ("span", "limit", "scope", "reach", "extent"))
    assert len((await rewrites(ScriptedChat([said]))).queries) == MOST_REWRITES


async def test_a_reply_that_was_cut_off_loses_its_last_line() -> None:
    chat = ScriptedChat(["span of the PT-300 at 20 °C\nlimits of the PT-300 at 20 °C in the man"], finish="length")
    assert (await rewrites(chat)).queries == ("span of the PT-300 at 20 °C",)


@pytest.mark.parametrize(
    "failure",
    [ProviderUnreachable(provider="chat", reason="down"), ProviderLimited(provider="chat", reason="429")],
)
async def test_a_failure_of_the_model_is_a_reason_and_in_the_ledger(failure: ProviderUnreachable) -> None:
    budget, ledger = purse()
    written = await writer(ScriptedChat([failure])).rewrites(ENGLISH, [ENGLISH], today=TODAY, budget=budget)
    assert written.queries == ()
    assert str(failure) == written.refused
    assert [(call.stage, call.outcome) for call in ledger.calls] == [(Stage.REWRITE, Outcome.FAILED)]


class _Slow:
    id = "slow/chat"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        try:
            await asyncio.sleep(3600)
            yield ChatDelta("too late")
        finally:
            ledger.record(Call(stage, "slow", outcome=Outcome.CANCELLED))


class _Broken:
    id = "broken/chat"

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(("left", "waited"), [(100.0, 10.0), (6.0, 3.0), (None, 10.0)])
def test_a_model_that_hangs_takes_its_time_or_half_of_what_is_left(left: float | None, waited: float) -> None:
    world = FixedWorld()
    budget, ledger = purse(Limits(seconds=left), world=world)
    written = run_in(world, writer(_Slow()).rewrites(ENGLISH, [ENGLISH], today=TODAY, budget=budget))
    assert written.queries == ()
    assert "no answer within" in written.refused
    assert world.elapsed() == waited
    assert ledger.calls[0].outcome is Outcome.CANCELLED


async def test_a_bug_of_the_model_is_a_reason() -> None:
    assert (await rewrites(_Broken())).refused == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("limits", [Limits(seconds=0.0), Limits(calls=4)])
async def test_where_the_budget_leaves_no_room_for_the_search_after_it_no_model_is_asked(limits: Limits) -> None:
    chat = ScriptedChat(["span of the PT-300 at 20 °C"])
    budget, ledger = purse(limits)
    written = await writer(chat).rewrites(ENGLISH, [ENGLISH], today=TODAY, budget=budget)
    assert written == Written((), "the budget leaves no room for it")
    assert chat.requests == []
    assert ledger.calls == ()


@pytest.mark.parametrize(
    ("question", "said", "parts", "refused"),
    [
        (
            "How do the PT-300 and the PT-500 differ?",
            "What is the PT-300?\nWhat is the PT-500?",
            ("What is the PT-300?", "What is the PT-500?"),
            "",
        ),
        (
            "青葉計器と赤城製作所の設立年は？",
            "青葉計器の設立年は？\n赤城製作所の設立年は？",
            ("青葉計器の設立年は?", "赤城製作所の設立年は?"),
            "",
        ),
        ("Who wrote this and why?", "Who wrote this and why?", (), ""),
        ("How do the PT-300 and the PT-500 differ?", "What is the PT-300?\nWhat is it?", (), "it lost PT-500"),
        ("A and B?", "a1x\nb2x\nc3x\nd4x\ne5x", (), "it made 5 parts"),
    ],
)
async def test_parts_are_taken_together_or_not_at_all(
    question: str, said: str, parts: tuple[str, ...], refused: str
) -> None:
    budget, _ = purse()
    written = await writer(ScriptedChat([said])).parts(question, [question], today=TODAY, budget=budget)
    assert written == Written(parts, refused)
