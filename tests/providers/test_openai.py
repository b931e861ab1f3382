"""The OpenAI-compatible client, driven over real HTTP on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tadasu.core.usage import Call, Outcome, Pricing, Stage, Tokens, estimated_tokens
from tadasu.errors import (
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
)
from tadasu.ports import ChatDelta, Message
from tadasu.providers.chat_calls import StreamedChat
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_server import Act, ChatServer, Fail, Hang, Raw, Say

pytestmark = pytest.mark.enable_socket


class Book:
    """A ledger that keeps calls in a list."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def record(self, call: Call) -> None:
        self.calls.append(call)

    def elapsed_ms(self) -> float:
        return 12.5


@asynccontextmanager
async def chatting(*acts: Act, key: str = "", **settings: object) -> AsyncIterator[tuple[StreamedChat, ChatServer]]:
    with ChatServer(acts, key=key) as server:
        chat = open_chat(ChatSettings(model="test-model", base_url=server.base_url, **settings))  # type: ignore[arg-type]
        try:
            yield chat, server
        finally:
            await chat.close()


async def reply(chat: StreamedChat, book: Book) -> list[ChatDelta]:
    messages = [Message("system", "Be brief."), Message("user", "長さは？ {x} %s")]
    return [
        delta
        async for delta in chat.stream(messages, max_tokens=64, temperature=0.0, ledger=book, stage=Stage.GENERATE)
    ]


async def test_streams_pieces_and_counts_tokens() -> None:
    book = Book()
    async with chatting(Say("全長は 3 m です[1]。", usage=(90, 11))) as (chat, server):
        deltas = await reply(chat, book)
    assert "".join(d.text for d in deltas) == "全長は 3 m です[1]。"
    assert len(deltas) > 3
    assert deltas[-1].tokens == Tokens(90, 11)
    assert deltas[-1].finish == "stop"
    sent = server.requests[0]
    assert sent["model"] == "test-model"
    assert sent["messages"][1]["content"] == "長さは？ {x} %s"
    assert sent["stream_options"] == {"include_usage": True}
    [call] = book.calls
    assert (call.stage, call.outcome, call.tokens, call.started_ms) == (
        Stage.GENERATE,
        Outcome.OK,
        Tokens(90, 11),
        12.5,
    )
    assert (call.pricing, call.cost_usd) == (Pricing.LOCAL, 0.0)


async def test_prices_from_the_settings() -> None:
    book = Book()
    async with chatting(Say("ok", usage=(1_000_000, 500_000)), price_in=2.0, price_out=8.0) as (chat, _):
        await reply(chat, book)
    assert book.calls[0].pricing is Pricing.PRICED
    assert book.calls[0].cost_usd == pytest.approx(6.0)


async def test_a_priced_server_that_does_not_count_is_estimated_and_said_to_be_not_free() -> None:
    book = Book()
    async with chatting(Say("ok", usage=None), price_in=2.0, price_out=8.0) as (chat, _):
        last = (await reply(chat, book))[-1].tokens
    call = book.calls[0]
    assert (
        call.tokens
        == last
        == Tokens(estimated_tokens("Be brief.", "長さは？ {x} %s"), estimated_tokens("ok"), estimated=True)
    )
    assert call.pricing is Pricing.PRICED
    assert call.cost_usd == pytest.approx((call.tokens.input * 2 + call.tokens.output * 8) / 1e6)


@pytest.mark.parametrize(
    "frames",
    [
        [
            '{"choices":[{"delta":{"role":"assistant","content":null}}]}',
            '{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}',
        ],
        [
            '{"choices":[{"delta":{"content":"o"},"finish_reason":null}],"usage":null}',
            '{"choices":[{"delta":{"content":"k"}}]}',
            '{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}',
        ],
        ['{"choices":null}', '{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"eos"}]}'],
    ],
)
@pytest.mark.parametrize("end", ["", "data: [DONE]\n\n"])
async def test_reads_what_compatible_servers_send(frames: list[str], end: str) -> None:
    body = "".join(f"data: {frame}\n\n" for frame in frames) + end
    async with chatting(Raw(body)) as (chat, _):
        assert "".join(delta.text for delta in await reply(chat, Book())) == "ok"


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (Fail(401, "Incorrect API key provided"), ProviderRefused, "401"),
        (Fail(403, "not allowed"), ProviderRefused, "403"),
        (Fail(404, "model not found"), ProviderRefused, "model not found"),
        (Fail(400, "context too long"), ProviderRefused, "context too long"),
        (Fail(429, "quota", code="insufficient_quota"), ProviderRefused, "quota"),
        (Fail(500, "boom"), ProviderUnreachable, "500"),
        (Fail(503, "overloaded"), ProviderUnreachable, "overloaded"),
        (Fail(307, headers={"location": "http://127.0.0.1:9/"}), ProviderRefused, "redirects"),
        (Say("a long reply that breaks", cut_after=2), ProviderUnreachable, ""),
        (Say(""), ProviderAnswerInvalid, "empty"),
        (Say("", finish="length"), ProviderAnswerInvalid, "cut off"),
        (Say("", finish="content_filter"), ProviderRefused, "declined"),
        (Raw("data: {not json\n\n"), ProviderAnswerInvalid, "form"),
        (Raw("data: [DONE]\n\n"), ProviderUnreachable, "broke off"),
        (Raw('data: {"error": {"message": "CUDA out of memory"}}\n\n'), ProviderUnreachable, "CUDA"),
    ],
)
async def test_faults_have_names_and_are_in_the_ledger(act: Act, kind: type[ProviderError], words: str) -> None:
    book = Book()
    async with chatting(act) as (chat, _):
        with pytest.raises(kind) as caught:
            await reply(chat, book)
    assert words in str(caught.value)
    [call] = book.calls
    assert call.outcome is Outcome.FAILED
    assert caught.value.code in call.error


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", None)]
)
async def test_limits_keep_the_wait_asked_for(header: str, seconds: float | None) -> None:
    async with chatting(Fail(429, "slow down", headers={"retry-after": header})) as (chat, server):
        with pytest.raises(ProviderLimited) as caught:
            await reply(chat, Book())
    assert caught.value.details["retry_after_s"] == seconds
    assert caught.value.retryable
    assert len(server.requests) == 1, "retries belong to the scheduler"


async def test_a_server_that_hangs_is_unreachable_in_time() -> None:
    async with chatting(Hang(), timeout_s=0.2) as (chat, _):
        with pytest.raises(ProviderUnreachable, match=r"0\.2 s"):
            await reply(chat, Book())


def test_one_model_serves_one_event_loop_after_another() -> None:
    async def once() -> str:
        deltas = await reply(chat, Book())
        await chat.close()
        return "".join(delta.text for delta in deltas)

    with ChatServer([Say("ok")]) as server:
        chat = open_chat(ChatSettings(model="m", base_url=server.base_url))
        assert [asyncio.run(once()), asyncio.run(once())] == ["ok", "ok"]


async def test_no_server_is_unreachable() -> None:
    with ChatServer([Say("x")]) as server:
        address = server.base_url
    chat = open_chat(ChatSettings(model="m", base_url=address))
    with pytest.raises(ProviderUnreachable):
        await reply(chat, Book())
    await chat.close()


async def test_walking_away_is_written_down() -> None:
    book = Book()
    async with chatting(Say("one two three four five six")) as (chat, _):
        stream = chat.stream([Message("user", "q")], max_tokens=9, temperature=0.0, ledger=book, stage=Stage.REWRITE)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
    assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]


async def test_cancelling_is_written_down() -> None:
    book = Book()
    async with chatting(Hang(5)) as (chat, _):
        task = asyncio.create_task(reply(chat, book))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]


@pytest.mark.parametrize(
    ("option", "newer"), [("max_tokens", "max_completion_tokens"), ("temperature", None), ("stream_options", None)]
)
async def test_learns_what_a_server_does_not_know(option: str, newer: str | None) -> None:
    refusal = Fail(400, f"Unsupported parameter: '{option}'", code="unsupported_parameter", param=option)
    async with chatting(refusal, Say("ok")) as (chat, server):
        await reply(chat, Book())
        await reply(chat, Book())
    assert [option in request for request in server.requests] == [True, False, False]
    assert newer is None or server.requests[-1][newer] == 64


async def test_key_comes_from_the_named_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " k-123\n")
    async with chatting(Say("ok"), key="k-123", key_variable="MY_KEY") as (chat, _):
        assert (await reply(chat, Book()))[0].text == "ok"


async def test_a_wrong_key_is_refused_and_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "wrong-secret")
    async with chatting(Say("ok"), key="k-123", key_variable="MY_KEY") as (chat, _):
        with pytest.raises(ProviderRefused) as caught:
            await reply(chat, Book())
    assert "wrong-secret" not in str(caught.value) + repr(caught.value.details)


async def test_a_missing_key_is_named_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    book = Book()
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        await reply(open_chat(ChatSettings(model="m")), book)
    assert book.calls[0].outcome is Outcome.FAILED
