"""Grading through the real client and real HTTP on loopback: failures, limits, time, tokens, cost."""

from __future__ import annotations

import asyncio
import re
import selectors
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tadasu.answering.correction.policy import CorrectionSettings, Reaction
from tadasu.answering.grading.llm import LlmGrader
from tadasu.core.grades import Grade, Level, Verdict
from tadasu.core.runs import ActionKind
from tadasu.core.usage import Outcome, Pricing, Stage, Tokens, total
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_server import Act, ChatServer, Fail, Say
from tests.answering.correction.worlds import ScriptedSearch, correct
from tests.answering.grading.judges import (
    BAD,
    GOOD,
    QUESTION,
    blocks,
    grader,
    honest,
    ledger,
    lines,
    retrieval,
    sent_blocks,
)
from tests.answering.writing import passage

pytestmark = pytest.mark.enable_socket


def saying(answer: Callable[[Mapping[str, str]], str], **more: Any) -> Callable[[dict[str, Any]], Act]:
    return lambda body: Say(answer(sent_blocks(body)), **more)


def graded_lines(shown: Mapping[str, str]) -> str:
    return lines(*honest(shown))


@asynccontextmanager
async def grading(
    act: Act | Callable[[dict[str, Any]], Act], *, batch: int = 5, calls: int = 10, **settings: Any
) -> AsyncIterator[tuple[LlmGrader, ChatServer]]:
    with ChatServer([act]) as server:
        chat = open_chat(ChatSettings(model="m", base_url=server.base_url, **settings))
        try:
            yield grader(chat, batch=batch, calls=calls), server
        finally:
            await chat.close()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("thanks, great!", "You are welcome! It is always nice to hear that the answer was of help to somebody."),
        (
            "ありがとう、助かりました！",
            "どういたしまして。お役に立てたようで何よりです。ほかにも知りたいことがあれば、お聞かせください。",
        ),
    ],
)
@pytest.mark.parametrize("reaction", Reaction)
async def test_a02_prose_without_numbers_is_ungraded_after_one_repair_and_the_policy_decides(
    question: str, said: str, reaction: Reaction
) -> None:
    async with grading(Say(said)) as (made, server):
        corrected = await correct(
            ScriptedSearch([passage([BAD["en"]], name="p0"), passage([BAD["ja"]], name="p1")]),
            made,
            question=question,
            settings=CorrectionSettings(grader_failed=reaction, ungraded=reaction),
        )
    assert len(server.requests) == 2
    [only] = corrected.rounds
    assert only.verdict is Verdict.GRADER_FAILED
    assert all("(unparsed)" in one.grade.reason for one in only.candidates)
    assert only.action.kind is (ActionKind.COMBINE if reaction is Reaction.OPEN else ActionKind.ABSTAIN)
    assert bool(corrected.passages) is (reaction is Reaction.OPEN)


async def test_a63_ten_of_fifty_fail_by_name_and_never_too_many_run() -> None:
    def act(body: dict[str, Any]) -> Act:
        [text] = sent_blocks(body).values()
        number = int(re.findall(r"\d+", text)[-1])
        if number % 5 == 3:
            return Fail(500, f"fault of {number}")
        return Say(graded_lines(sent_blocks(body)), wait_s=0.02, piece=200)

    book = ledger()
    async with grading(act, batch=1, calls=7) as (made, server):
        given = await made.grade(QUESTION["en"], retrieval(*(f"Passage {n}." for n in range(50))), ledger=book)
    failed = {one.passage_id: one.reason for one in given if one.level is Level.UNGRADED}
    assert list(failed) == [f"p{n}" for n in range(50) if n % 5 == 3]
    assert all(f"HTTP 500: fault of {name[1:]}" in reason for name, reason in failed.items())
    assert [one.passage_id for one in given] == [f"p{n}" for n in range(50)]
    assert 1 < server.most_at_once <= 7
    assert [call.outcome for call in book.calls].count(Outcome.FAILED) == 10
    assert len(book.calls) == len(server.requests) == 50


async def test_a64_ten_documents_go_out_five_at_a_time_and_every_call_is_counted() -> None:
    book = ledger()
    async with grading(saying(graded_lines, wait_s=0.2, piece=200), batch=1, calls=5) as (made, server):
        began = time.perf_counter()
        given = await made.grade(QUESTION["en"], retrieval(*(f"Passage {n}." for n in range(10))), ledger=book)
        wall = time.perf_counter() - began
    assert all(one.level is Level.LOW for one in given)
    assert len(book.calls) == len(server.requests) == 10
    assert server.most_at_once == 5
    spent = [call.duration_ms / 1000 for call in book.calls]
    # Whatever a call takes on a busy machine: five at a time end by then (Graham 1966), one after another do not.
    assert wall <= sum(spent) / 5 + max(spent) < sum(spent)


class _Skipping(selectors.DefaultSelector):
    """Waits for nothing: its clock jumps to where the wait would end."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class _Thoughtful:
    """A model that thinks for 200 ms before each reply."""

    id = "test/thoughtful"
    calls = 0

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        self.calls += 1
        await asyncio.sleep(0.2)
        yield ChatDelta(text=graded_lines(blocks(messages)), tokens=Tokens(), finish="stop")


@pytest.mark.parametrize(("batch", "calls", "made", "seconds"), [(1, 5, 10, 0.4), (2, 5, 5, 0.2), (5, 10, 2, 0.2)])
def test_a64_ten_documents_of_200_ms_take_no_longer_than_two_calls(
    batch: int, calls: int, made: int, seconds: float
) -> None:
    selector, model = _Skipping(), _Thoughtful()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]

    async def wall() -> tuple[float, Sequence[Grade]]:
        texts = retrieval(*(f"Passage {n}." for n in range(10)))
        given = await grader(model, batch=batch, calls=calls).grade(QUESTION["ja"], texts, ledger=ledger())
        return loop.time(), given

    try:
        took, given = loop.run_until_complete(wall())
    finally:
        loop.close()
    assert [one.level for one in given] == [Level.LOW] * 10
    assert model.calls == made
    assert took == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize("piece", [1, 9, 100_000])
@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a65_tokens_and_cost_of_grading_are_counted_however_the_reply_is_cut(piece: int, language: str) -> None:
    book = ledger()
    act = saying(graded_lines, piece=piece, usage=(1000, 200))
    async with grading(act, batch=1, price_in=2.0, price_out=8.0) as (made, _):
        given = await made.grade(QUESTION[language], retrieval(GOOD[language], BAD[language]), ledger=book)
    assert [one.level for one in given] == [Level.HIGH, Level.LOW]
    assert [(call.stage, call.tokens, call.pricing) for call in book.calls] == [
        (Stage.GRADE, Tokens(1000, 200), Pricing.PRICED)
    ] * 2
    assert total(book.calls).usd == pytest.approx(2 * (1000 * 2.0 + 200 * 8.0) / 1e6)


async def test_a65_a_server_that_does_not_count_is_estimated_and_said_to_be() -> None:
    book = ledger()
    async with grading(saying(graded_lines, usage=None), price_in=2.0, price_out=8.0) as (made, _):
        await made.grade(QUESTION["en"], retrieval(GOOD["en"]), ledger=book)
    [call] = book.calls
    assert call.tokens.estimated
    assert call.pricing is Pricing.PRICED
    assert call.tokens.output > 0
    assert call.cost_usd == pytest.approx((call.tokens.input * 2.0 + call.tokens.output * 8.0) / 1e6)


async def test_a_stream_that_breaks_off_leaves_the_rows_that_came() -> None:
    def act(body: dict[str, Any]) -> Act:
        said = graded_lines(sent_blocks(body))
        first = len(said.splitlines()[0])
        return Say(said, piece=first + 1, cut_after=1)

    book = ledger()
    async with grading(act) as (made, server):
        given = await made.grade(QUESTION["en"], retrieval(GOOD["en"], BAD["en"], BAD["ja"]), ledger=book)
    assert [one.level for one in given] == [Level.HIGH, Level.UNGRADED, Level.UNGRADED]
    assert "the provider failed" in given[1].reason
    assert len(server.requests) == 1


async def test_a_reply_at_its_limit_is_asked_for_again_with_more_room() -> None:
    def act(body: dict[str, Any]) -> Act:
        shown = sent_blocks(body)
        said = graded_lines(shown)
        return Say(
            said if body["max_tokens"] > 1000 else said[: len(said) // 2],
            finish="stop" if body["max_tokens"] > 1000 else "length",
        )

    async with grading(act) as (made, server):
        given = await made.grade(QUESTION["en"], retrieval(GOOD["en"], BAD["en"], BAD["ja"]), ledger=ledger())
    assert [one.level for one in given] == [Level.HIGH, Level.LOW, Level.LOW]
    first, second = server.requests
    assert (len(sent_blocks(first)), len(sent_blocks(second))) == (3, 2)
    assert first["temperature"] == second["temperature"] == 0.0


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_passages_that_do_not_fit_together_are_graded_one_by_one(language: str) -> None:
    def small(body: dict[str, Any]) -> Act:
        if len(sent_blocks(body)) > 1:
            return Fail(400, "This model's maximum context length is 512 tokens.", code="context_length_exceeded")
        return Say(graded_lines(sent_blocks(body)))

    book = ledger()
    async with grading(small) as (made, server):
        given = await made.grade(QUESTION[language], retrieval(GOOD[language], BAD[language]), ledger=book)
    assert [one.level for one in given] == [Level.HIGH, Level.LOW]
    assert len(server.requests) == 3


async def test_a_passage_that_does_not_fit_alone_is_ungraded_and_says_so() -> None:
    async with grading(Fail(400, "maximum context length is 512 tokens"), batch=1) as (made, server):
        [given] = await made.grade(QUESTION["en"], retrieval(GOOD["en"]), ledger=ledger())
    assert given.level is Level.UNGRADED
    assert "too long" in given.reason
    assert len(server.requests) == 1
