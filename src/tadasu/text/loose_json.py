"""JSON as models write it: found anywhere in a text, read in spite of its slips, and never guessed at.

What is forgiven: trailing and missing commas, single, typographic and Japanese quotes, bare keys, Python's ``True`` and
``None``, full-width punctuation and digits, comments, a line break or a quote inside a string. What is not: an object
without its closing brace is no object, though the objects inside it are; a key with two different values has none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = object
"""str, float, bool, None, a list of values or a dict by str."""

_DEEPEST = 12
_PATIENCE = 16
"""How often a text is read through, string by string, before the rest of it is given up: hostile text stays cheap."""
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, ord("、"): ord(","), 0xFEFF: 0x20}
_QUOTES = {
    '"': '"', "'": "'", "“": '”"', "„": '”“"', "”": '”"', "‘": "’'", "’": "’'", "＂": '＂"', "＇": "＇'", "「": "」",
    "『": "』", "`": "`",
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/", "'": "'"}
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?=[\s,}\]]|//|/\*|$)")
_BARE_KEY = re.compile(r"[^\W\d][\w \-]{0,40}?(?=\s*:)")
_BARE_VALUE = re.compile(r"[^\s,{}\[\]\"':][^,{}\[\]\"\n:]{0,80}")
_WORDS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True, slots=True)
class Found:
    """An object of a text, and where it stands there (``text[start:end]``)."""

    value: Mapping[str, Value]
    start: int
    end: int


def find_objects(text: str) -> list[Found]:
    """Every complete object in `text`, in the order in which they begin; one inside another comes after it.

    >>> [found.value for found in find_objects("Sure: [{'a': １.5,}, {“b”： no}, {'c': ")]
    [{'a': 1.5}, {'b': 'no'}]
    """
    reader = _Reader(text)
    found: list[Found] = []
    at = reader.plain.find("{")
    while at >= 0 and reader.patience >= 0:
        reader.seen = []
        try:
            _, end = reader.object(at, 0)
        except _NoJson:
            at = reader.plain.find("{", at + 1)
            continue
        found.extend(sorted(reader.seen, key=lambda one: one.start))
        at = reader.plain.find("{", end)
    return found


class _NoJson(Exception):
    pass


class _Reader:
    """A recursive descent over `text`; `plain` is the same with narrow punctuation, character for character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.translate(_WIDE)
        self.seen: list[Found] = []
        self.patience = _PATIENCE * len(text)

    def object(self, start: int, depth: int) -> tuple[dict[str, Value], int]:
        members: dict[str, Value] = {}
        doubled: set[str] = set()
        at = self._skip(start + 1)
        while self._at(at) != "}":
            if self._at(at) == ",":
                at = self._skip(at + 1)
                continue
            key, at = self._key(at)
            at = self._skip(at)
            if self._at(at) != ":":
                raise _NoJson
            value, at = self._value(self._skip(at + 1), depth + 1, closers=",}")
            if key in members and members[key] != value:
                doubled.add(key)
            members[key] = value
            at = self._skip(at)
        for key in doubled:
            del members[key]
        self.seen.append(Found(members, start, at + 1))
        return members, at + 1

    def _list(self, start: int, depth: int) -> tuple[list[Value], int]:
        items: list[Value] = []
        at = self._skip(start + 1)
        while self._at(at) != "]":
            if self._at(at) == ",":
                at = self._skip(at + 1)
                continue
            value, at = self._value(at, depth + 1, closers=",]")
            items.append(value)
            at = self._skip(at)
        return items, at + 1

    def _value(self, at: int, depth: int, *, closers: str) -> tuple[Value, int]:
        if depth > _DEEPEST:
            raise _NoJson
        first = self._at(at)
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self._list(at, depth)
        if self.text[at] in _QUOTES:
            return self._string(at, closers)
        if number := _NUMBER.match(self.plain, at):
            return float(unicodedata.normalize("NFKC", number.group())), number.end()
        if word := _BARE_VALUE.match(self.plain, at):
            said = self.text[at : word.end()].strip()
            return _WORDS.get(said.lower(), said), word.end()
        raise _NoJson

    def _key(self, at: int) -> tuple[str, int]:
        if self.text[at] in _QUOTES:
            return self._string(at, ":")
        bare = _BARE_KEY.match(self.plain, at)
        if bare is None:
            raise _NoJson
        return bare.group().strip(), bare.end()

    def _string(self, start: int, closers: str) -> tuple[str, int]:
        """The string that opens at `start`. A quote ends it only where one of `closers` may follow."""
        quotes = _QUOTES[self.text[start]]
        out: list[str] = []
        at = start + 1
        while True:
            character = self._at(at) and self.text[at]
            self.patience -= 1
            if character == "\\":
                written, at = self._escaped(at)
                out.append(written)
                continue
            if character in quotes and self._ends(at + 1, closers):
                return _whole("".join(out)), at + 1
            out.append(character)
            at += 1

    def _escaped(self, at: int) -> tuple[str, int]:
        self._at(at + 1)
        after = self.text[at + 1]
        if after == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", self.text[at + 2 : at + 6]):
            return chr(int(self.text[at + 2 : at + 6], 16)), at + 6
        return _ESCAPES.get(after, "\\" + after), at + 2

    def _ends(self, at: int, closers: str) -> bool:
        space = _SPACE.match(self.plain, at)
        at = space.end() if space else at
        return at < len(self.plain) and self.plain[at] in closers

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.plain, at)
        at = space.end() if space else at
        self._at(at)
        return at

    def _at(self, at: int) -> str:
        """The character at `at` in its narrow form. Where the text is over, what was begun is not JSON."""
        if at >= len(self.plain):
            raise _NoJson
        return self.plain[at]


def _whole(text: str) -> str:
    """`text` with the halves of a character that were escaped one by one as one; half a character is none."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
