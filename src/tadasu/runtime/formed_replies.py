"""A JSON object from a chat model: asked for in the way its service takes, read with tolerance, mended once.

The way (a schema, a tool call, JSON mode, or the prompt's words alone) is the provider's to choose; see
`tadasu.ports.JsonForm`. What comes may still be prose around JSON, JSON with slips, or JSON that was cut off, and a
reader decides what is enough. A reply that cannot be read is shown to the model once with what is wrong; after that it
is a named failure, and never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tadasu.core.usage import Stage
from tadasu.errors import ContentRefused, ReplyTruncated, ReplyUnreadable
from tadasu.ports import ChatModel, JsonForm, Ledger, Message
from tadasu.runtime.whole_replies import Said, whole_reply
from tadasu.text.language import detect
from tadasu.text.messages import translate
from tadasu.text.replies import read_reply

T = TypeVar("T")
_LONGEST_REASON = 200
_SHOWN_BACK = 2000
"""Letters of an unreadable reply that the model is shown again."""
_MORE_ROOM = 2
"""How much more room the second attempt has where the first was cut off."""


async def ask_for_object(
    chat: ChatModel,
    messages: Sequence[Message],
    *,
    form: JsonForm,
    read: Callable[[Mapping[str, object]], T],
    max_tokens: int,
    ledger: Ledger,
    stage: Stage,
    language: str = "",
) -> T:
    """What `read` makes of the model's object.

    Args:
        chat: the model.
        messages: what it is told; the form is added to the last one in words too, for models that only read those.
        form: what the object should look like.
        read: takes an object of the reply and raises ValueError, TypeError or LookupError where it is not one that was
            asked for; its words tell the model what to mend. Objects are tried in order, the first that is read counts.
        max_tokens: of a reply.
        ledger: where both calls are written down.
        stage: of the run.
        language: of the words that are added; empty: as the last message.

    Raises:
        ReplyUnreadable: neither reply could be read.
        ReplyTruncated: both were cut off before anything could be read.
        ProviderError: as the model does; but a first reply that was cut off before a word is asked for again.
    """
    spoken = language or detect(messages[-1].content)
    asked = [*messages[:-1], _formed(messages[-1], form, spoken)]
    said = await _said(chat, asked, max_tokens=max_tokens, ledger=ledger, stage=stage)
    found, why = _read(said.text, read)
    if found:
        return found[0]
    room = max_tokens * _MORE_ROOM if said.cut_off else max_tokens
    again = [*asked, *_repair(said.text, why, form, spoken)]
    said = await _said(chat, again, max_tokens=room, ledger=ledger, stage=stage)
    found, why = _read(said.text, read)
    if found:
        return found[0]
    if said.cut_off:
        raise ReplyTruncated(provider=chat.id, reason=f"no {form.name} within {room} tokens: {why}")
    raise ReplyUnreadable(provider=chat.id, reason=f"{form.name}: {why}", form=form.name)


async def _said(chat: ChatModel, messages: Sequence[Message], *, max_tokens: int, ledger: Ledger, stage: Stage) -> Said:
    """The reply; one that was cut off before a word is an empty one."""
    try:
        said = await whole_reply(chat, messages, max_tokens=max_tokens, ledger=ledger, stage=stage)
    except ReplyTruncated:
        return Said("", "length")
    if said.finish == "refusal":
        raise ContentRefused(provider=chat.id, reason="the model stopped the reply")
    return said


def _read(said: str, read: Callable[[Mapping[str, object]], T]) -> tuple[list[T], str]:
    """What was read (one thing, or nothing), and what is wrong where nothing was."""
    why = "it holds no JSON object"
    for one in read_reply(said).objects:
        try:
            return [read(one)], ""
        except (ValueError, TypeError, LookupError) as problem:
            said_why = str(problem) if isinstance(problem, ValueError) else f"{type(problem).__name__}: {problem}"
            why = " ".join(said_why.split())[:_LONGEST_REASON]
    return [], why


def _formed(message: Message, form: JsonForm, language: str) -> Message:
    schema = json.dumps(form.schema, ensure_ascii=False)
    words = translate("Reply with one JSON object only, by this JSON schema: {schema}", language, schema=schema)
    return replace(message, content=f"{message.content}\n\n{words}", form=form)


def _repair(said: str, why: str, form: JsonForm, language: str) -> list[Message]:
    text = translate(
        "That could not be read ({reason}). Reply with the JSON object only, complete, and nothing before or after it.",
        language,
        reason=why,
    )
    repair = Message("user", text, form=form)
    return [Message("assistant", said[:_SHOWN_BACK]), repair] if said.strip() else [repair]
