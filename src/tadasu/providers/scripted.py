"""A chat model that says what it was told to: for tests and for trying Tadasu without a key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from tadasu.core.usage import Call, Outcome, Pricing, Stage, Tokens
from tadasu.errors import ProviderAnswerInvalid, ProviderError
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.providers.registry import ChatSettings

Reply = str | ProviderError
"""What one call gives: a text, or an error that is raised."""


class ScriptedChat:
    """Plays `script`: replies in turn (then fails), or a function of the messages.

    `cuts` says where a reply is cut into pieces: a piece length, or the lengths of the first pieces in turn with the
    rest as the last. Every request is kept in `requests`. Tokens are counted as words, which no price applies to.
    """

    __slots__ = ("_cuts", "_finish", "_script", "_turn", "requests")
    free = True
    """No price applies to it; see `tadasu.providers.billing`."""

    def __init__(
        self,
        script: Iterable[Reply] | Callable[[Sequence[Message]], Reply],
        *,
        cuts: int | Sequence[int] = 4,
        finish: str = "stop",
    ) -> None:
        self._script = script if callable(script) else tuple(script)
        self._cuts = cuts
        self._finish = finish
        self._turn = 0
        self.requests: list[tuple[Message, ...]] = []

    @property
    def id(self) -> str:
        """Always ``scripted/script``."""
        return "scripted/script"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        """The next reply in pieces; raises the error that the script holds, or ProviderAnswerInvalid at its end."""
        del max_tokens, temperature
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        self.requests.append(tuple(messages))
        tokens, outcome, fault = Tokens(input=sum(len(m.content.split()) for m in messages)), Outcome.CANCELLED, ""
        try:
            reply = self._next(messages)
            if isinstance(reply, ProviderError):
                raise reply
            for piece in self._pieces(reply):
                await asyncio.sleep(0)
                yield ChatDelta(text=piece)
            tokens = Tokens(input=tokens.input, output=len(reply.split()))
            outcome = Outcome.OK
            yield ChatDelta(tokens=tokens, finish=self._finish)
        except ProviderError as error:
            outcome, fault = Outcome.FAILED, f"{error.code}: {error}"
            raise
        finally:
            ledger.record(
                Call(
                    stage=stage,
                    provider="scripted",
                    model="script",
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    tokens=tokens,
                    pricing=Pricing.LOCAL,
                    outcome=outcome,
                    error=fault,
                )
            )

    def _next(self, messages: Sequence[Message]) -> Reply:
        if callable(self._script):
            return self._script(messages)
        if self._turn >= len(self._script):
            reason = f"the script has {len(self._script)} replies, and this is one call more"
            return ProviderAnswerInvalid(provider="scripted", reason=reason)
        self._turn += 1
        return self._script[self._turn - 1]

    def _pieces(self, reply: str) -> list[str]:
        if isinstance(self._cuts, int):
            borders = [*range(0, len(reply), max(1, self._cuts)), len(reply)]
        else:
            borders = [*accumulate(self._cuts, initial=0)]
            borders = [at for at in borders if at < len(reply)] + [len(reply)]
        return [reply[a:b] for a, b in pairwise(borders)]


def open_chat(settings: ChatSettings) -> ScriptedChat:
    """The plugin's entry: plays ``settings.replies`` in turn."""
    return ScriptedChat(settings.replies)
