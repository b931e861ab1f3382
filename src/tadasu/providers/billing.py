"""Calls that cost something, held against the run's budget before they are made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from tadasu.core.usage import Charge, Stage, Tokens, estimated_tokens
from tadasu.ports import ChatDelta, ChatModel, Ledger, Message, Purse
from tadasu.providers.prices import price_of
from tadasu.providers.registry import ChatSettings
from tadasu.runtime.budget import spending

_WHAT = {
    Stage.GENERATE: "writing the answer",
    Stage.GRADE: "grading by the language model",
    Stage.REWRITE: "rewriting the query",
    Stage.CHECK: "checking the answer",
}


class BilledChat:
    """A chat model whose every call is estimated and held beforehand: what it says goes through unchanged.

    The estimate is an upper one: the tokens of the messages by `estimated_tokens`, and a reply as long as it may be, at
    the price of `settings` or of the list. A model with the attribute ``free`` costs nothing wherever it runs.
    """

    __slots__ = ("_inner", "_settings")

    def __init__(self, inner: ChatModel, settings: ChatSettings) -> None:
        self._inner = inner
        self._settings = settings

    @property
    def id(self) -> str:
        """The model's own."""
        return self._inner.id

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        """As the model's own; raises BudgetSpent or PriceUnknown before the call where the budget does not allow it."""
        charge = await self._charge(messages, max_tokens, stage) if isinstance(ledger, Purse) else Charge("")
        async with spending(ledger, charge) as held:
            reply = self._inner.stream(
                messages, max_tokens=max_tokens, temperature=temperature, ledger=held, stage=stage
            )
            # Closed at once where the reader walks away, so that its line is in the ledger before the run ends.
            async with aclosing(cast("Any", reply)):
                async for delta in reply:
                    yield delta

    async def window(self) -> int | None:
        """The model's own; None where it does not say."""
        ask = getattr(self._inner, "window", None)
        found: int | None = await ask() if ask is not None else None
        return found

    async def close(self) -> None:
        """Give back connections."""
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()

    async def _charge(self, messages: Sequence[Message], max_tokens: int, stage: Stage) -> Charge:
        tokens = Tokens(estimated_tokens(*(message.content for message in messages)), max_tokens)
        provider, _, model = self.id.partition("/")
        if getattr(self._inner, "free", False):
            usd: float | None = 0.0
        else:
            # The first look into the price list loads it, which takes most of a second.
            usd = (await asyncio.to_thread(price_of, tokens, self._settings)).usd
        what = _WHAT.get(stage, f"calling {self.id}")
        return Charge(what, usd=usd, tokens=tokens.input + tokens.output, provider=provider, model=model)
