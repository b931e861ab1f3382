from __future__ import annotations

import pytest

from tadasu.core.usage import Call, Outcome, Stage
from tadasu.errors import ProviderAnswerInvalid, ProviderLimited
from tadasu.ports import Message
from tadasu.providers.scripted import ScriptedChat


class Book:
    def __init__(self) -> None:
        self.calls: list[Call] = []

    def record(self, call: Call) -> None:
        self.calls.append(call)

    def elapsed_ms(self) -> float:
        return 0.0


async def say(chat: ScriptedChat, book: Book, question: str = "q") -> list[str]:
    stream = chat.stream([Message("user", question)], max_tokens=1, temperature=0.0, ledger=book, stage=Stage.GENERATE)
    return [delta.text async for delta in stream if delta.text]


@pytest.mark.parametrize(
    ("cuts", "pieces"), [(4, ["abcd", "ef"]), ([1, 2], ["a", "bc", "def"]), ([2, 90], ["ab", "cdef"])]
)
async def test_cuts_where_told(cuts: int | list[int], pieces: list[str]) -> None:
    assert await say(ScriptedChat(["abcdef"], cuts=cuts), Book()) == pieces


async def test_replies_in_turn_then_fails() -> None:
    chat, book = ScriptedChat(["a", ProviderLimited(provider="scripted", reason="busy")]), Book()
    assert await say(chat, book) == ["a"]
    with pytest.raises(ProviderLimited):
        await say(chat, book)
    with pytest.raises(ProviderAnswerInvalid, match="one call more"):
        await say(chat, book)
    assert [call.outcome for call in book.calls] == [Outcome.OK, Outcome.FAILED, Outcome.FAILED]


async def test_a_function_sees_the_messages() -> None:
    chat = ScriptedChat(lambda messages: messages[-1].content.upper())
    assert "".join(await say(chat, Book(), "はい yes")) == "はい YES"
    assert chat.requests[0][-1].content == "はい yes"
