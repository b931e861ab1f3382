"""A chat model's whole reply, for those who do not show it as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from tadasu.core.usage import Stage
from tadasu.ports import ChatModel, Ledger, Message


@dataclass(frozen=True, slots=True)
class Said:
    """A reply and how it ended: ``stop``, ``length``, ``refusal``."""

    text: str
    finish: str

    @property
    def cut_off(self) -> bool:
        """Whether it reached its limit: its last line is not whole."""
        return self.finish == "length"


async def whole_reply(
    chat: ChatModel,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    ledger: Ledger,
    stage: Stage,
    temperature: float = 0.0,
) -> Said:
    """The reply to `messages`; raises as `ports.ChatModel.stream` does. Being cancelled ends the call, too."""
    pieces: list[str] = []
    finish = ""
    reply = chat.stream(messages, max_tokens=max_tokens, temperature=temperature, ledger=ledger, stage=stage)
    async with aclosing(cast("Any", reply)):
        async for delta in reply:
            pieces.append(delta.text)
            finish = delta.finish or finish
    return Said("".join(pieces), finish)
