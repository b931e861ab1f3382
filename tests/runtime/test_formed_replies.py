"""A JSON object from a chat model: read with tolerance, mended once, then a named failure."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tadasu.core.usage import Outcome, Stage
from tadasu.errors import (
    ContentRefused,
    ProviderError,
    ProviderLimited,
    ReplyEmpty,
    ReplyTruncated,
    ReplyUnreadable,
)
from tadasu.ports import Message
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.formed_replies import ask_for_object
from tadasu.testing.conformance.chat import FORM
from tadasu.testing.conformance.pairs import Book

QUESTIONS = {"en": "Is the passage relevant? {x}", "ja": "この段落は関連していますか。{x}"}
GOOD = '{"relevant": true, "reason": "it states 36 months"}'


def verdict(row: Mapping[str, object]) -> tuple[bool, str]:
    relevant, reason = row["relevant"], row["reason"]
    if not isinstance(relevant, bool):
        raise ValueError("relevant is neither true nor false")  # noqa: TRY004
    return relevant, str(reason)


async def ask(
    *replies: str | ProviderError, language: str = "en", finish: str = "stop"
) -> tuple[object, ScriptedChat, Book]:
    chat, book = ScriptedChat(replies, finish=finish), Book()
    messages = (Message("system", "You judge."), Message("user", QUESTIONS[language]))
    found = await ask_for_object(chat, messages, form=FORM, read=verdict, max_tokens=50, ledger=book, stage=Stage.CHECK)
    return found, chat, book


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        f"Here it is:\n```json\n{GOOD}\n```\nHope it helps!",
        f"<think>{{}}</think>{GOOD}",
        "{'relevant': True, 'reason': 'it states 36 months',}",
        f'{{"verdict": {GOOD}}}',
        f'{{"relevant": "perhaps", "reason": ""}} or rather {GOOD}',
    ],
)
async def test_what_can_be_read_is_read_at_once(said: str) -> None:
    found, chat, book = await ask(said)
    assert found == (True, "it states 36 months")
    assert len(chat.requests) == 1
    assert [call.stage for call in book.calls] == [Stage.CHECK]


@pytest.mark.parametrize(("language", "words"), [("en", "could not be read"), ("ja", "読み取れませんでした")])
async def test_what_cannot_be_read_is_mended_once_with_what_is_wrong(language: str, words: str) -> None:
    found, chat, book = await ask('{"relevant": "perhaps", "reason": "?"}', GOOD, language=language)
    assert found == (True, "it states 36 months")
    first, second = chat.requests
    assert first[-1].content.startswith(QUESTIONS[language])
    assert json.dumps(dict(FORM.schema)) in first[-1].content, "models that know no forms read it in words"
    assert first[-1].form is second[-1].form is FORM
    assert second[:-2] == first
    assert second[-2] == Message("assistant", '{"relevant": "perhaps", "reason": "?"}')
    assert words in second[-1].content
    assert "relevant is neither true nor false" in second[-1].content
    assert len(book.calls) == 2


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        (("I think so.", "Yes, it is!"), "no JSON object"),
        (('{"relevant": 1}', '{"relevant": 1}'), "KeyError: 'reason'"),
        (('{"relevant": "x", "reason": ""}',) * 2, "neither true nor false"),
    ],
)
async def test_after_that_it_is_a_named_failure(replies: tuple[str, str], words: str) -> None:
    with pytest.raises(ReplyUnreadable, match="verdict") as caught:
        await ask(*replies)
    assert words in str(caught.value)
    assert "chat.structured" in caught.value.hint


async def test_a07_a_reply_that_was_cut_off_gets_more_room_and_then_a_name() -> None:
    rooms: list[int] = []

    class Counting(ScriptedChat):
        def stream(self, messages, *, max_tokens, **rest):  # type: ignore[no-untyped-def]
            rooms.append(max_tokens)
            return super().stream(messages, max_tokens=max_tokens, **rest)

    chat = Counting(['{"relevant": tr', '{"relevant": true, "rea'], finish="length")
    with pytest.raises(ReplyTruncated, match="100 tokens"):
        await ask_for_object(
            chat, (Message("user", "q"),), form=FORM, read=verdict, max_tokens=50, ledger=Book(), stage=Stage.CHECK
        )
    assert rooms == [50, 100]


async def test_a07_what_is_whole_counts_although_the_reply_was_cut_off() -> None:
    found, chat, _ = await ask(f'{GOOD}\n{{"relevant": fal', finish="length")
    assert found == (True, "it states 36 months")
    assert len(chat.requests) == 1


async def test_a_first_reply_that_was_all_thought_is_asked_for_again() -> None:
    found, chat, _ = await ask(ReplyTruncated(provider="p", reason="the reply is empty"), GOOD)
    assert found == (True, "it states 36 months")
    assert [message.role for message in chat.requests[1]] == ["system", "user", "user"], "there is nothing to show back"


@pytest.mark.parametrize(
    "fault", [ProviderLimited(provider="p", reason="429"), ReplyEmpty(provider="p", reason="nothing")]
)
async def test_what_the_provider_says_is_the_providers_word(fault: ProviderError) -> None:
    with pytest.raises(type(fault)):
        await ask(fault, GOOD)


async def test_a_refusal_is_not_mended() -> None:
    chat, book = ScriptedChat(["I am sorry, but", GOOD], finish="refusal"), Book()
    with pytest.raises(ContentRefused):
        await ask_for_object(
            chat, (Message("user", "q"),), form=FORM, read=verdict, max_tokens=50, ledger=book, stage=Stage.CHECK
        )
    assert [call.outcome for call in book.calls] == [Outcome.OK]
