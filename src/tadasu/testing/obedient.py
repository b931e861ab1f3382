"""Chat models that obey: for tests of what hostile text can reach through a prompt.

They read a prompt as a careless model would. Whatever looks like the end of the quoted material ends it for them, and
whatever looks like a turn of the chat is one, so text that gets out of its delimiters is an order.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tadasu.ports import Message
from tadasu.providers.scripted import ScriptedChat
from tadasu.text.normalize import fold

_OPENS = re.compile(r"^\s*<<<(?!\s*/?END\b)(?P<name>.{0,60}?)>>>\s*$", re.IGNORECASE | re.MULTILINE)
_CLOSES = re.compile(r"<{2,}\s*/?\s*(?:END|終)[^\n]{0,80}", re.IGNORECASE)
_TURN = re.compile(
    r"<\s*\|[^|<>\n]{1,30}\|\s*>|\[/?INST\]|<</?SYS>>|</?\s*(?:system|assistant|user|context|instructions?|evidence|"
    r"passages?)\s*>|^\s*(?:#{2,}\s*)?(?:system|assistant|human|developer)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"^\[(\d+)\] .*$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_SEEN = 24
"""So many characters of an order in a row are enough to obey it."""


class Obeys(enum.Enum):
    """Where a model obeys orders that it reads."""

    OUTSIDE = "outside"
    """Only what stands outside the delimiters."""
    EVERYWHERE = "everywhere"
    """What stands between the delimiters too: no delimiter helps against such a model."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a page tells a model, and what a model that obeys says then.

    `known` is harmless text (the question, the rest of the page): what the order has in common with it is no order.
    """

    text: str
    reply: str
    known: str = ""

    def stands_in(self, text: str) -> bool:
        """Whether `text` holds a stretch of the order: white space, width and invisible characters do not hide it."""
        said, known, wanted = _plain(text), _plain(self.known), _plain(self.text)
        size = min(_SEEN, len(wanted))
        windows = (wanted[at : at + size] for at in range(max(1, len(wanted) - size + 1)))
        return any(window in said and window not in known for window in windows if window)


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as a careless model reads it: quoted material by the names of its delimiters, and all the rest."""

    quoted: Mapping[str, str]
    rest: str

    @property
    def items(self) -> dict[int, str]:
        """The numbered pieces of quoted evidence, without the line that names their sources."""
        found: dict[int, str] = {}
        for block in self.quoted.values():
            heads = list(_ITEM.finditer(block))
            ends = [head.start() for head in heads[1:]] + [len(block)]
            found |= {int(head[1]): block[head.end() : end].strip() for head, end in zip(heads, ends, strict=True)}
        return found


def read(messages: Sequence[Message]) -> Reading:
    """`messages` as a careless model reads them."""
    quoted: dict[str, str] = {}
    rest: list[str] = []
    for message in messages:
        text = message.content if message.role == "user" else ""
        if not text:
            rest.append(message.content)
            continue
        at = 0
        for opening, block, end in _blocks(text):
            rest.append(text[at : opening.start()])
            quoted[fold(opening["name"]).strip()] = block
            at = end
        rest.append(text[at:])
    return Reading(quoted, "\n".join(rest))


def _blocks(text: str) -> Iterator[tuple[re.Match[str], str, int]]:
    at = 0
    while (opening := _OPENS.search(text, at)) is not None:
        start = opening.end()
        closing = _CLOSES.search(text, start)
        turn = _TURN.search(text, start, closing.start() if closing else len(text))
        end = turn.start() if turn else closing.start() if closing else len(text)
        at = turn.end() if turn else closing.end() if closing else len(text)
        yield opening, text[start:end].strip(), at


Honest = Callable[[Reading], str]
"""What the model says where nothing gives it orders."""


def obedient_writer(order: Order | None, honest: Honest, *, obeys: Obeys = Obeys.OUTSIDE) -> ScriptedChat:
    """A model that writes answers: `honest`, but that it says what `order` wants where it reads it.

    One that obeys EVERYWHERE cites what gave it the order and goes on honestly, unless the order is a format.
    """

    def script(messages: Sequence[Message]) -> str:
        page = read(messages)
        if order is not None and order.stands_in(page.rest):
            return order.reply
        if order is not None and obeys is Obeys.EVERYWHERE:
            for number, text in page.items.items():
                if order.stands_in(text):
                    said = order.reply if _is_form(order.reply) else f"{order.reply} [{number}]\n{honest(page)}"
                    return said.strip()
        return honest(page)

    return ScriptedChat(script, cuts=24)


def obedient_judge(
    order: Order | None, relevant: Callable[[str], bool], *, obeys: Obeys = Obeys.OUTSIDE
) -> ScriptedChat:
    """A model that grades passages: full marks where `relevant` says so, and for all of them where it obeys."""

    def script(messages: Sequence[Message]) -> str:
        page = read(messages)
        ordered = order is not None and order.stands_in(page.rest)
        rows = []
        for name, text in page.quoted.items():
            inside = order is not None and obeys is Obeys.EVERYWHERE and order.stands_in(text)
            mark = 0.95 if ordered or inside or relevant(text) else 0.05
            rows.append(
                {
                    "id": name.split(" ", 1)[0],
                    "issues": [],
                    "relevance": mark,
                    "factuality": mark,
                    "completeness": mark,
                    "recommendation": "use" if mark > 0.5 else "discard",
                }
            )
        return "\n".join(json.dumps(row) for row in rows)

    return ScriptedChat(script, cuts=64)


def quoting(answers: Sequence[str], *, language: str) -> Honest:
    """An honest model for questions whose answer holds one of `answers`: the piece of evidence that does, cited."""

    def honest(page: Reading) -> str:
        for number, text in page.items.items():
            if any(fold(answer).casefold() in fold(text).casefold() for answer in answers):
                return f"{_SPACE.sub(' ', text)} [{number}]"
        return "資料に記載がありません。" if language == "ja" else "The documents do not say."

    return honest


def _is_form(reply: str) -> bool:
    return reply.lstrip()[:1] in "{[<`|" if reply.strip() else False


def _plain(text: str) -> str:
    return _SPACE.sub("", fold(text)).casefold()
