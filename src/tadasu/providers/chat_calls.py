"""One call of a chat model, whoever serves it: its line in the ledger, its window, and its end by name.

A provider brings a `Wire`, which speaks its protocol; what all of them have in common stands here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from tadasu.core.usage import Call, Outcome, Stage, Tokens, estimated_tokens
from tadasu.errors import (
    ContentRefused,
    ContextTooLong,
    ProviderUnreachable,
    ReplyEmpty,
    ReplyMalformed,
    ReplyTruncated,
    TadasuError,
)
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.providers.prices import price_of, window_of
from tadasu.providers.registry import ChatSettings

STOP, LENGTH, REFUSAL = "stop", "length", "refusal"
"""How a reply may end: by itself or at a stop sequence; at its limit; declined by the model or by a filter."""
OVERFLOW = "context"
"""A wire's word for a reply that filled the model's window up."""
_SURELY = 0.6
"""This share of `estimated_tokens` is hardly ever too much: what does not fit by it, does not fit."""
_LEAST_REPLY = 16
"""Room in tokens without which a reply is none. Whether a longer one may be asked for is for the service to say."""


class Wire(Protocol):
    """One provider's protocol."""

    @property
    def name(self) -> str:
        """Whom an error names: the address, without any secret."""
        ...

    def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatDelta, None]:
        """The reply as it comes: text, tokens where they are told, `finish` as one of the words above.

        Ends without any `finish` where the reply broke off. Raises ProviderError and UsageError only; closing it gives
        the connection back at once. ``details["billable"]`` of an error is False where nothing can have been charged.
        """
        ...

    @property
    def missing_key(self) -> str:
        """The environment variable that has to hold a key, or name an account, and does not; empty: none is missing."""
        ...

    async def window(self) -> int | None:
        """What the service itself says of the model's window, in tokens; None where it is not asked or does not say."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class StreamedChat:
    """ports.ChatModel over a wire. One attempt a call: retries belong to the scheduler."""

    __slots__ = ("_listed", "_looked", "_settings", "_wire")

    def __init__(self, wire: Wire, settings: ChatSettings) -> None:
        self._wire = wire
        self._settings = settings
        self._looked = False
        self._listed: int | None = None

    @property
    def id(self) -> str:
        """Provider and model, ``openai/gpt-…``."""
        return f"{self._settings.provider}/{self._settings.model}"

    @property
    def missing_key(self) -> str:
        """The environment variable that has to hold a key, or name an account, and does not; empty: none is missing."""
        return self._wire.missing_key

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        """The reply as it comes; the last delta carries the tokens and why the model stopped.

        The call is written into `ledger` whatever happens, also when the reader walks away. Where the service does not
        say what the call took, the tokens are estimated and marked so.

        Raises:
            KeyMissing: the service is not local and the environment holds no key.
            ContextTooLong: it does not fit the model's window; before it is sent where that is known and sure.
            ProviderUnreachable: no connection, a time-out, a server fault, a stream that broke off.
            ProviderLimited: the service asks for fewer calls; ``details["retry_after_s"]`` is the wait in s, or None.
            ContentRefused: the model or a filter declined.
            ProviderRefused: the key, the model or the request was turned down.
            ReplyEmpty, ReplyTruncated, ReplyMalformed: nothing came; cut off before a word; not in the protocol.
        """
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        told: Tokens | None = None
        said: list[str] = []
        outcome, fault, finish, charged = Outcome.CANCELLED, "", "", False
        try:
            await self._fits(messages, max_tokens)
            charged = True
            async with aclosing(self._wire.pieces(messages, max_tokens=max_tokens, temperature=temperature)) as reply:
                async for delta in reply:
                    told = delta.tokens or told
                    finish = delta.finish or finish
                    if delta.text:
                        said.append(delta.text)
                        yield ChatDelta(text=delta.text)
            self._judge(finish, told, heard=bool("".join(said).strip()), max_tokens=max_tokens)
            outcome = Outcome.OK
            finish = LENGTH if finish == OVERFLOW else finish
            yield ChatDelta(tokens=_taken(told, _estimate(messages, said), whole=True), finish=finish)
        except TadasuError as error:
            outcome, fault = Outcome.FAILED, f"{error.code}: {error}"
            charged = charged and (bool(said) or error.details.get("billable", True) is not False)
            raise
        except Exception as error:
            # A fault of our own or of a plugin's wire: it is no cancellation.
            outcome, fault = Outcome.FAILED, f"{type(error).__name__}: {error}"
            raise
        finally:
            tokens = Tokens()
            if charged:
                tokens = _taken(told, _estimate(messages, said), whole=bool(finish))
            price = price_of(tokens, self._settings)
            ledger.record(
                Call(
                    stage=stage,
                    provider=self._settings.provider,
                    model=self._settings.model,
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    tokens=tokens,
                    pricing=price.pricing,
                    cost_usd=price.usd,
                    outcome=outcome,
                    error=fault,
                )
            )

    async def close(self) -> None:
        """Give back connections."""
        await self._wire.close()

    async def window(self) -> int | None:
        """Tokens that fit one call with its reply: by the settings, the service or the price list; None: unknown."""
        if not self._looked:
            self._listed = await asyncio.to_thread(self._look)
            self._looked = True
        return self._settings.context_window or await self._wire.window() or self._listed

    def _look(self) -> int | None:
        """The listed window. The first look into the price list loads it, which takes most of a second."""
        price_of(Tokens(), self._settings)
        return window_of(self._settings)

    async def _fits(self, messages: Sequence[Message], max_tokens: int) -> None:
        window = await self.window()
        if window is None:
            return
        least = int(estimated_tokens(*(message.content for message in messages)) * _SURELY)
        if least + min(max_tokens, _LEAST_REPLY) > window:
            reason = f"at least {least} tokens, and a reply, do not fit {window}; it was not sent"
            raise ContextTooLong(
                provider=self._wire.name, model=self._settings.model, reason=reason, window=window, billable=False
            )

    def _judge(self, finish: str, told: Tokens | None, *, heard: bool, max_tokens: int) -> None:
        name = self._wire.name
        if finish == REFUSAL:
            raise ContentRefused(provider=name, reason="the model or a content filter stopped the reply")
        if not finish:
            raise ProviderUnreachable(provider=name, reason="the reply broke off")
        if finish not in (STOP, LENGTH, OVERFLOW):
            raise ReplyMalformed(provider=name, reason=f"the reply ended for another reason: {finish[:60]}")
        if heard:
            return
        if finish == OVERFLOW:
            reason = "the reply is empty: the window was full"
            raise ContextTooLong(provider=name, model=self._settings.model, reason=reason)
        if finish == LENGTH:
            used = f", after {told.output} tokens that are not shown" if told is not None and told.output else ""
            raise ReplyTruncated(provider=name, reason=f"the reply is empty, cut off at {max_tokens} tokens{used}")
        raise ReplyEmpty(provider=name, reason="the model stopped by itself")


def _taken(told: Tokens | None, estimate: Tokens, *, whole: bool) -> Tokens:
    """The service's own count; where it had not counted to the end, what it said so far or what was heard, if more."""
    if told is None:
        return estimate
    return told if whole else Tokens(told.input, max(told.output, estimate.output), estimated=True)


def _estimate(messages: Sequence[Message], said: Sequence[str]) -> Tokens:
    reply = "".join(said)
    sent = estimated_tokens(*(message.content for message in messages))
    return Tokens(sent, estimated_tokens(reply) if reply else 0, estimated=True)


def form_of(messages: Sequence[Message]) -> Message | None:
    """The message that asks for a form, which only the last one can; None where none is asked for."""
    return messages[-1] if messages and messages[-1].form is not None else None


def turns(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """What the system says, and the turns: not empty, and none after another of the same role.

    Services that keep the system apart want it so, and refuse empty turns and two of one role.
    """
    system = "\n\n".join(message.content for message in messages if message.role == "system" and message.content)
    found: list[Message] = []
    for message in messages:
        if message.role == "system" or not message.content.strip():
            continue
        if found and found[-1].role == message.role:
            found[-1] = replace(message, content=f"{found[-1].content}\n\n{message.content}")
        else:
            found.append(message)
    return system, found
