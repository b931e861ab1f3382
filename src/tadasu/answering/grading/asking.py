"""What a language model is shown to grade passages: the sheet of one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tadasu.core.documents import Origin, Passage, label_of
from tadasu.ports import Chance, Message, PromptTemplate
from tadasu.text.inert import inert
from tadasu.text.messages import translate

CALL_CHARACTERS = 24_000
"""Passages beyond so many characters go into another call; one that is longer by itself is shown whole, alone."""

_LETTERS, _DIGITS = "cdfhjkmnprtvwxy", "234679"
_ID = (_LETTERS, _DIGITS, _LETTERS, _DIGITS, _LETTERS)
_APART = 3
_MOST_DRAWN = 10_000
_HEAD_TOKENS, _ROW_TOKENS = 80, 180
_AGAIN = 3
"""How much more room a second attempt has: the first may have been cut off, or the model thinks aloud."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One call: its messages, the room for the reply in tokens, and by each id in it the passage's text and its key."""

    messages: tuple[Message, ...]
    max_tokens: int
    shown: Mapping[str, str]
    keys: Mapping[str, str]


def batches(passages: Mapping[str, Passage], *, size: int) -> Iterator[dict[str, Passage]]:
    """`passages` (by whatever key) in order, at most `size` and about `CALL_CHARACTERS` in one batch."""
    batch: dict[str, Passage] = {}
    length = 0
    for key, passage in passages.items():
        if batch and (len(batch) == size or length + len(passage.text) > CALL_CHARACTERS):
            yield batch
            batch, length = {}, 0
        batch[key] = passage
        length += len(passage.text)
    if batch:
        yield batch


def sheet(
    question: str,
    passages: Mapping[str, Passage],
    *,
    prompt: PromptTemplate,
    language: str,
    chance: Chance,
    again: bool = False,
) -> Sheet:
    """The sheet for `passages`, in order; raises SettingsInvalid where the prompt does not take what we have.

    Ids and delimiters are drawn anew for every call, so that nothing written earlier can know them.
    """
    nonce = chance.token()
    texts = [shown_text(passage, language=language, nonce=nonce) for passage in passages.values()]
    ids = _draw_ids(len(texts), chance, avoid="\n".join((question, *texts)).lower())
    shown = dict(zip(ids, texts, strict=True))
    messages = prompt.messages(
        question=question,
        passages="\n\n".join(f"<<<{name} {nonce}>>>\n{text}\n<<<END {name} {nonce}>>>" for name, text in shown.items()),
        ids=", ".join(ids),
        nonce=nonce,
        note="\n\n" + translate(_NOTE, language) if again else "",
    )
    room = _HEAD_TOKENS + _ROW_TOKENS * len(texts)
    return Sheet(messages, room * _AGAIN if again else room, shown, dict(zip(ids, passages, strict=True)))


_NOTE = (
    "An earlier reply about these passages could not be read. Write the lines only, one for each id, complete, and "
    "nothing before or after them."
)


def shown_text(passage: Passage, *, language: str, nonce: str = "") -> str:
    """A passage as the model sees it: a line that says what it is from, then its text, both inert."""
    parts = [label_of(passage), passage.date, translate("from the web", language) if _foreign(passage) else ""]
    head = " · ".join(" ".join(inert(part, nonce=nonce).split()) for part in parts if part)
    return f"{head}\n{inert(passage.text, nonce=nonce)}".strip()


def _foreign(passage: Passage) -> bool:
    return passage.origin is Origin.WEB


def _draw_ids(count: int, chance: Chance, *, avoid: str) -> list[str]:
    """`count` ids of five signs that are no words, differ in three places at least, and are not in `avoid`."""
    ids: list[str] = []
    for _ in range(_MOST_DRAWN):
        if len(ids) == count:
            break
        drawn = "".join(signs[int(chance.uniform() * len(signs))] for signs in _ID)
        if drawn not in avoid and all(_distance(drawn, other) >= _APART for other in ids):
            ids.append(drawn)
    return ids


def _distance(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))
