"""Rewriting through the real client: the question on the wire, tokens and money in the ledger, a server that hangs."""

from __future__ import annotations

from datetime import date

import pytest

from tadasu.answering.correction.query_writer import ChatQueryWriter, Written
from tadasu.core.usage import Outcome, Stage, Tokens
from tadasu.prompts import load
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.chat_server import Act, ChatServer, Fail, Hang, Say

PROMPTS = {name: {language: load(name, language) for language in ("en", "ja")} for name in ("rewrite", "decompose")}


async def rewritten(act: Act, question: str, *, seconds: float = 10.0) -> tuple[Written, RunLedger, str]:
    ledger = RunLedger(SystemClock())
    with ChatServer([act]) as server:
        model = open_chat(ChatSettings(model="m", base_url=server.base_url, price_in=1.0, price_out=2.0))
        writer = ChatQueryWriter(model, rewrite=PROMPTS["rewrite"], decompose=PROMPTS["decompose"], seconds=seconds)
        written = await writer.rewrites(question, [question], today=date(2026, 3, 5), budget=Budget(Limits(), ledger))
        await model.close()
        sent = "\n".join(message["content"] for message in server.requests[0]["messages"])
    return written, ledger, sent


@pytest.mark.parametrize(
    ("question", "said", "query"),
    [
        ("  What is the {range} of the PT-300? %s 😀\n", "span of the PT-300", "span of the PT-300"),
        ("PT-300の保証期間は{何年}ですか？　", "PT-300 無償修理期間", "PT-300 無償修理期間"),
    ],
)
async def test_a54_a65_the_question_is_on_the_wire_and_what_it_cost_in_the_ledger(
    question: str, said: str, query: str
) -> None:
    written, ledger, sent = await rewritten(Say(said, piece=3, usage=(321, 45)), question)
    assert question in sent
    assert written == Written((query,))
    [call] = ledger.calls
    assert (call.stage, call.tokens, call.outcome) == (Stage.REWRITE, Tokens(321, 45), Outcome.OK)
    assert call.cost_usd == pytest.approx((321 * 1.0 + 45 * 2.0) / 1e6)


async def test_a_server_that_hangs_is_left_and_its_call_is_in_the_ledger() -> None:
    written, ledger, _ = await rewritten(Hang(30.0), "What is the range of the PT-300?", seconds=0.3)
    assert written.queries == ()
    assert "no answer within the 0.3 s" in written.refused
    assert [call.outcome for call in ledger.calls] == [Outcome.CANCELLED]


async def test_a_server_that_fails_is_a_reason() -> None:
    written, ledger, _ = await rewritten(Fail(400, "no such model"), "What is the range of the PT-300?")
    assert "no such model" in written.refused
    assert [call.outcome for call in ledger.calls] == [Outcome.FAILED]
