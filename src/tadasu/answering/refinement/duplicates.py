"""The same words twice: overlapping windows of one document, one text in several documents, near-copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from tadasu.answering.refinement.selection import Choice
from tadasu.core.documents import Origin, Strip
from tadasu.core.runs import StripFate
from tadasu.text.normalize import fold
from tadasu.text.polarity import negations

_NOT_WORDS = re.compile(r"[\W_]+")
_NUMERALS = re.compile(r"[\d〇一二三四五六七八九十百千万億兆]+")
# Below this many letters equal words say little ("Overview", 「概要」): only the same place in a document counts.
_TELLING = 8
_SAME_PLACE = 0.9


def merge_duplicates(choices: Sequence[Choice], *, near: float) -> tuple[list[Choice], dict[str, tuple[str, ...]]]:
    """`choices` with every repetition marked DUPLICATE, and per strip that stays the ids that it stands for.

    Of two alike the better one stays: selected before neighbour, then the higher score, internal before web, the
    newer date. Only kept strips are compared; a heading is merged with the same place of its own document only.
    """
    order = sorted((i for i, choice in enumerate(choices) if choice.kept), key=lambda i: _precedence(choices[i]))
    out = list(choices)
    staying: list[_Print] = []
    merged: dict[str, list[str]] = {}
    for i in order:
        mine = _Print(choices[i])
        twin = next((other for other in staying if other.same_as(mine, near=near)), None)
        if twin is None:
            staying.append(mine)
            continue
        out[i] = replace(choices[i], fate=StripFate.DUPLICATE, detail=twin.strip.id)
        if twin.strip.id != mine.strip.id:
            merged.setdefault(twin.strip.id, []).append(mine.strip.id)
    return out, {key: tuple(ids) for key, ids in merged.items()}


def _precedence(choice: Choice) -> tuple[bool, float, bool, str, int, int]:
    strip = choice.scored.strip
    return (
        choice.fate is not StripFate.SELECTED,
        -choice.scored.score,
        strip.origin is Origin.WEB,
        "".join(chr(0x10FFFF - ord(c)) for c in strip.date) if strip.date else "\U0010ffff",
        choice.rank,
        strip.index,
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[str, str, tuple[str, ...]]:
    """`text` folded, its letters and figures alone, its numerals."""
    folded = fold(text)
    return folded, _NOT_WORDS.sub("", folded).casefold(), tuple(_NUMERALS.findall(folded))


class _Print:
    """What two strips are compared by.

    A copy with words added at an end is the same; one that differs within is not: the difference may be the point.
    """

    __slots__ = ("companion", "numbers", "strip", "text", "words")

    def __init__(self, choice: Choice) -> None:
        self.strip: Strip = choice.scored.strip
        self.companion = choice.companion
        self.text, self.words, self.numbers = _read(self.strip.text)

    def same_as(self, other: _Print, *, near: float) -> bool:
        if self.strip.document_id == other.strip.document_id and _overlap(self.strip, other.strip) >= _SAME_PLACE:
            return True
        if self.companion or other.companion or self.numbers != other.numbers:
            return False
        short, long = sorted((self.words, other.words), key=len)
        if len(short) < _TELLING or len(short) < near * len(long):
            return False
        return short == long or (short in long and negations(self.text) == negations(other.text))


def _overlap(a: Strip, b: Strip) -> float:
    """Share of the shorter strip that the two have in common."""
    common = min(a.span.end, b.span.end) - max(a.span.start, b.span.start)
    return common / max(1, min(len(a.span), len(b.span)))
