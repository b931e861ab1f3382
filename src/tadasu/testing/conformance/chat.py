"""What every chat model does alike, as a suite of tests.

::

    class TestMyChat(ChatConformance):
        too_long = Fail(400, "what my service says where a request does not fit the window")

        @pytest.fixture
        def serve(self, monkeypatch):
            def served(*acts, timeout_s=10.0):
                server = ...  # one on loopback that does `acts` in turn, in the protocol of my service
                prices = {"price_in": 2.0, "price_out": 8.0}
                settings = ChatSettings(model="m", base_url=server.base_url, timeout_s=timeout_s, **prices)
                return Served(my_package.open_chat(settings), server)
            yield served
            ...  # close the servers

The server may be a `tadasu.testing.chat_server.ChatServer` with a dialect of one's own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, cast

import pytest

from tadasu.core.usage import Outcome, Pricing, Stage, Tokens
from tadasu.errors import (
    ContentRefused,
    ContextTooLong,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    ReplyEmpty,
    ReplyMalformed,
    ReplyTruncated,
)
from tadasu.ports import ChatDelta, ChatModel, JsonForm, Message
from tadasu.testing.chat_acts import Act, Fail, Fault, Hang, Raw, Say
from tadasu.testing.conformance.pairs import Book

TEXTS = (
    "The warranty is 36 months. [1]",
    "保証期間は３６か月です。[1]\n\n※ 改訂 2024年4月1日",
    '{"a": "}", "b": [1, 2]}',
    " leading, trailing \n",
    "👩‍👩‍👧 e\u0301 \u200b¥1,000 data: [DONE]",
)
ASKED = (
    Message("system", "Be brief. 簡潔に。"),
    Message("user", "長さは？ {x} %s"),
    Message("assistant", "どの部品ですか。"),
    Message("user", 'The "KPT-340" \\ pump'),
)
FORM = JsonForm(
    "verdict",
    {
        "type": "object",
        "properties": {"relevant": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["relevant", "reason"],
        "additionalProperties": False,
    },
)


class Server(Protocol):
    """What the suite wants to know of the server."""

    requests: list[dict[str, Any]]

    @property
    def asked(self) -> Any:
        """A `threading.Event` that is set once a request has come."""
        ...

    @property
    def hung_up(self) -> Any:
        """A `threading.Event` that is set once a client closed its connection early."""
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """A model and the server that plays its service."""

    model: ChatModel
    server: Server


Serve: TypeAlias = Callable[..., Served]
"""Takes acts, and `timeout_s`: a model at 2 and 8 dollars a million tokens whose service does them in turn."""


class ChatConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `serve`.

    `too_long` is how the service says that a request does not fit the window. `limited` and `overloaded` are faults
    within a stream that ask for fewer calls, and that come from the service; None where it has none. `refuses` is False
    for a service that never declines, `free` True for one whose calls cost nothing whatever the settings say.
    """

    too_long: ClassVar[Act] = Fail(400, "maximum context length is 4096 tokens", code="context_length_exceeded")
    limited: ClassVar[Fault | None] = None
    overloaded: ClassVar[Fault | None] = Fault("Overloaded")
    refuses: ClassVar[bool] = True
    takes_forms: ClassVar[bool] = True

    @pytest.fixture
    def serve(self) -> Serve:
        """Override this."""
        raise NotImplementedError("give the suite a serve fixture")

    @pytest.mark.parametrize("piece", [1, 4, 500])
    async def test_the_pieces_make_the_reply(self, serve: Serve, piece: int) -> None:
        served = serve(*(Say(text, piece=piece) for text in TEXTS))
        for text in TEXTS:
            deltas = await reply(served.model, Book())
            assert said(deltas) == text
            assert deltas[-1].finish == "stop"
            assert all(not delta.finish and delta.tokens is None for delta in deltas[:-1])
            assert piece != 1 or len(deltas) > 5, "it streams"
        await closed(served.model)

    async def test_tokens_and_price_are_the_services_own_count(self, serve: Serve) -> None:
        served, book = serve(Say("ok, and so on", usage=(1000, 500))), Book()
        deltas = await reply(served.model, book)
        assert deltas[-1].tokens == Tokens(1000, 500)
        [call] = book.calls
        assert (call.stage, call.outcome, call.tokens) == (Stage.GENERATE, Outcome.OK, Tokens(1000, 500))
        assert call.pricing is Pricing.PRICED
        assert call.cost_usd == pytest.approx(0.006)
        assert f"{call.provider}/{call.model}" == served.model.id
        assert call.duration_ms > 0
        await closed(served.model)

    async def test_a_service_that_does_not_count_is_estimated_and_said_to_be(self, serve: Serve) -> None:
        served, book = serve(Say("some words, as many as may be", usage=None)), Book()
        told = (await reply(served.model, book))[-1].tokens
        assert told is not None
        assert told.estimated
        assert told.input > 10
        assert told.output > 5
        assert book.calls[0].tokens == told
        assert book.calls[0].cost_usd == pytest.approx((told.input * 2 + told.output * 8) / 1e6)
        await closed(served.model)

    async def test_a_reply_that_was_cut_off_says_so(self, serve: Serve) -> None:
        served, book = serve(Say("The warranty is", finish="length")), Book()
        deltas = await reply(served.model, book)
        assert (said(deltas), deltas[-1].finish) == ("The warranty is", "length")
        assert book.calls[0].outcome is Outcome.OK
        await closed(served.model)

    @pytest.mark.parametrize(
        ("act", "kind"),
        [
            (Say(""), ReplyEmpty),
            (Say("\n "), ReplyEmpty),
            (Say("", finish="length"), ReplyTruncated),
            (Raw("<html>Welcome to the proxy</html>", "text/html"), ReplyMalformed),
            (Say("a long reply that breaks", cut_after=2), ProviderUnreachable),
            (Say("", cut_after=0), ProviderUnreachable),
            (Fail(500, "boom"), ProviderUnreachable),
            (Fail(503, "try later"), ProviderUnreachable),
            (Fail(429, "slow down"), ProviderLimited),
            (Fail(401, "bad key"), ProviderRefused),
            (Fail(403, "not yours"), ProviderRefused),
            (Fail(404, "no such model"), ProviderRefused),
            (Fail(400, "max_tokens is not what it should be"), ProviderRefused),
            (Fail(307, headers={"location": "http://127.0.0.1:9/"}), ProviderRefused),
        ],
    )
    async def test_faults_have_names_and_a_line_in_the_ledger(
        self, serve: Serve, act: Act, kind: type[ProviderError]
    ) -> None:
        served, book = serve(act), Book()
        with pytest.raises(kind) as caught:
            await reply(served.model, book)
        assert type(caught.value) is kind, "no kind below it, which would say something else"
        assert caught.value.retryable is (kind in (ProviderUnreachable, ProviderLimited))
        [call] = book.calls
        assert call.outcome is Outcome.FAILED
        assert call.error.startswith(f"{caught.value.code}: ")
        if isinstance(act, Fail):
            assert (call.tokens, call.cost_usd) == (Tokens(), 0.0), "what is turned down is not paid for"
            assert caught.value.details["status"] == act.status
            assert str(act.status) in str(caught.value)
        await closed(served.model)

    async def test_one_call_is_one_request(self, serve: Serve) -> None:
        served = serve(Fail(503), Say("ok"))
        with pytest.raises(ProviderUnreachable):
            await reply(served.model, Book())
        assert len(served.server.requests) == 1, "retries belong to the scheduler"
        await closed(served.model)

    async def test_the_wait_that_is_asked_for_is_kept(self, serve: Serve) -> None:
        served = serve(Fail(429, "slow down", headers={"retry-after": "7"}))
        with pytest.raises(ProviderLimited) as caught:
            await reply(served.model, Book())
        assert caught.value.details["retry_after_s"] == 7.0
        await closed(served.model)

    async def test_what_does_not_fit_the_window_is_named(self, serve: Serve) -> None:
        served, book = serve(self.too_long), Book()
        with pytest.raises(ContextTooLong) as caught:
            await reply(served.model, book)
        assert "token_budget" in caught.value.hint
        assert not caught.value.retryable
        assert book.calls[0].cost_usd == 0.0
        await closed(served.model)

    async def test_a_refusal_is_no_answer(self, serve: Serve) -> None:
        if not self.refuses:
            pytest.skip("its service never declines")
        for text in ("", "I was about to say"):
            served, book = serve(Say(text, finish="refusal")), Book()
            with pytest.raises(ContentRefused):
                await reply(served.model, book)
            assert book.calls[0].outcome is Outcome.FAILED
            assert book.calls[0].tokens == Tokens(100, 20), "it is paid for"
            await closed(served.model)

    async def test_faults_within_a_stream_come_after_what_was_said(self, serve: Serve) -> None:
        for fault, kind in ((self.limited, ProviderLimited), (self.overloaded, ProviderUnreachable)):
            if fault is None:
                continue
            served, book = serve(Say("one two three four", cut_after=2, fault=fault)), Book()
            heard: list[ChatDelta] = []
            with pytest.raises(kind, match=fault.message):
                await reply(served.model, book, into=heard)
            assert said(heard) == "one two th"
            assert book.calls[0].outcome is Outcome.FAILED
            assert book.calls[0].tokens.output > 0, "what came is paid for"
            await closed(served.model)

    async def test_silence_ends_in_time(self, serve: Serve) -> None:
        served, book = serve(Hang(), timeout_s=0.3), Book()
        with pytest.raises(ProviderUnreachable, match=r"0\.3 s"):
            await asyncio.wait_for(reply(served.model, book), 10)
        assert book.calls[0].tokens.estimated, "nobody knows whether it is paid for"
        await closed(served.model)

    async def test_nobody_there_is_unreachable(self, serve: Serve) -> None:
        served, book = serve(), Book()
        with pytest.raises(ProviderUnreachable):
            await asyncio.wait_for(reply(served.model, book), 20)
        assert book.calls[0].cost_usd == 0.0
        await closed(served.model)

    async def test_a_reader_that_walks_away_closes_the_connection(self, serve: Serve) -> None:
        served, book = serve(Say("word " * 500, pause_s=0.02)), Book()
        async with aclosing(stream(served.model, book)) as reading:
            await anext(reading)
        [call] = book.calls
        assert call.outcome is Outcome.CANCELLED
        assert call.tokens.estimated
        assert call.tokens.input > 0
        assert await asyncio.to_thread(served.server.hung_up.wait, 5), "the service is told at once"
        await closed(served.model)

    @pytest.mark.parametrize("act", [Hang(20), Say("x" * 200, piece=2, pause_s=5)])
    async def test_cancelling_closes_the_connection(self, serve: Serve, act: Act) -> None:
        served, book = serve(act), Book()
        task = asyncio.create_task(reply(served.model, book))
        await asyncio.to_thread(served.server.asked.wait, 10)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]
        if self.hangs_up_while_waiting or isinstance(act, Say):
            assert await asyncio.to_thread(served.server.hung_up.wait, 5)
        await closed(served.model)

    hangs_up_while_waiting: ClassVar[bool] = True
    """Whether a call that is cancelled before its first byte closes its connection at once too."""

    async def test_calls_at_the_same_time_do_not_mix(self, serve: Serve) -> None:
        texts = [f"reply {number} " * 5 for number in range(6)]
        served = serve(*(Say(text, piece=3, pause_s=0.001) for text in texts))
        found = await asyncio.gather(*(reply(served.model, Book()) for _ in texts))
        assert sorted(map(said, found)) == sorted(texts)
        await closed(served.model)

    def test_one_model_serves_one_event_loop_after_another(self, serve: Serve) -> None:
        served = serve(Say("ok"))

        async def once() -> str:
            deltas = await reply(served.model, Book())
            await closed(served.model)
            return said(deltas)

        assert [asyncio.run(once()), asyncio.run(once())] == ["ok", "ok"]

    async def test_closing_twice_is_no_mistake(self, serve: Serve) -> None:
        served = serve(Say("ok"))
        await closed(served.model)
        await reply(served.model, Book())
        await closed(served.model)
        await closed(served.model)

    async def test_a_form_is_asked_for_and_comes_as_text(self, serve: Serve) -> None:
        if not self.takes_forms:
            pytest.skip("its service knows no forms")
        wanted = {"relevant": True, "reason": "保証「36か月」"}
        served = serve(Say(json.dumps(wanted, ensure_ascii=False), piece=3))
        messages = (ASKED[0], Message("user", "Judge it, as JSON.", form=FORM))
        deltas = await reply(served.model, Book(), messages)
        assert json.loads(said(deltas)) == wanted
        assert "relevant" in json.dumps(served.server.requests[0]), "the service is told the form"
        await reply(served.model, Book())
        assert "relevant" not in json.dumps(served.server.requests[1]), "and only where it is wanted"
        await closed(served.model)

    async def test_keys_are_never_told(self, serve: Serve) -> None:
        served = serve(Fail(401, "the key k-very-secret is wrong"))
        with pytest.raises(ProviderRefused) as caught:
            await reply(served.model, Book())
        shown = f"{caught.value} {caught.value.hint} {caught.value.details!r}"
        assert "k-very-secret" not in shown
        await closed(served.model)


def stream(model: ChatModel, book: Book, messages: Sequence[Message] = ASKED) -> Any:
    """The reply to `messages` as it comes."""
    return model.stream(messages, max_tokens=64, temperature=0.0, ledger=book, stage=Stage.GENERATE)


async def reply(
    model: ChatModel, book: Book, messages: Sequence[Message] = ASKED, *, into: list[ChatDelta] | None = None
) -> list[ChatDelta]:
    """The whole reply to `messages`; `into` keeps what came before a fault."""
    found = [] if into is None else into
    async for delta in stream(model, book, messages):
        found.append(delta)
    return found


def said(deltas: Sequence[ChatDelta]) -> str:
    """The text of a reply."""
    return "".join(delta.text for delta in deltas)


async def closed(model: ChatModel) -> None:
    """Close `model`, where it can be closed."""
    close = getattr(model, "close", None)
    if close is not None:
        await cast("Any", close)()
