"""Citation markers: read in every form that models write them, never shown by halves, renumbered for the reader."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tadasu.core.answers import Citation, Evidence
from tadasu.core.documents import Span

_OPEN = "[［【〔"
_CLOSE = "]］】〕"
_OPENS, _CLOSES = r"\[［【〔", r"\]］】〕"
_DIGIT = "0-9０-９"
_GAP = r"[ \t\u3000\xa0]"  # a marker stands on one line
_SEPARATOR = r",，、;； \t\u3000\xa0"
_RANGE = r"\-－\u2010-\u2013~～〜"
_LABEL = rf"(?:(?:sources?|evidence|refs?\.?|no\.?|資料|出典|文書|根拠|証拠){_GAP}*)?"
_NUMBER = rf"\^?{_GAP}*#?{_GAP}*[{_DIGIT}]{{1,3}}"
_LIST = rf"{_NUMBER}(?:{_GAP}*[{_RANGE}]{_GAP}*{_NUMBER})?"
_MARKER = re.compile(
    rf"[{_OPENS}]{_GAP}*{_LABEL}{_LIST}(?:[{_SEPARATOR}]+(?:and{_GAP}+|と{_GAP}*)?{_LABEL}{_LIST})*{_GAP}*(?:†[^{_OPENS}{_CLOSES}\n]{{0,20}})?[{_CLOSES}]",
    re.IGNORECASE,
)
_NUMBERS = re.compile(rf"([{_DIGIT}]{{1,3}})(?:{_GAP}*[{_RANGE}]{_GAP}*\^?{_GAP}*#?{_GAP}*([{_DIGIT}]{{1,3}}))?")
# What the inside of a marker may look like while it is still open: every beginning of a marker fits.
_INSIDE = re.compile(
    rf"[\^#{_DIGIT}{_SEPARATOR}{_RANGE}A-Za-z.資料出典文書根拠証と]*(?:†.{{0,20}})?", re.IGNORECASE | re.DOTALL
)
_LETTERS = re.compile(r"[A-Za-z.]{9}")
_LONGEST = 48
_WIDEST_RANGE = 50


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as the model wrote it: evidence numbers in order, each once. `raw` is its text."""

    numbers: tuple[int, ...]
    raw: str


Token: TypeAlias = str | Marker
"""What a `MarkerStream` releases: text for the reader, or a whole marker."""


def numbers_in(raw: str) -> tuple[int, ...]:
    """The evidence numbers that a marker names, ranges spelled out, each once.

    >>> numbers_in("[2-4]"), numbers_in("【１、３】"), numbers_in("[^1]")
    ((2, 3, 4), (1, 3), (1,))
    """
    found: dict[int, None] = {}
    for first, last in _NUMBERS.findall(raw.split("†", 1)[0]):
        low = int(first)
        high = int(last) if last else low
        if not low <= high <= low + _WIDEST_RANGE:
            high = low
        found.update(dict.fromkeys(range(low, high + 1)))
    return tuple(found)


class MarkerStream:
    """Cuts a stream into text and whole markers; the result does not depend on where the pieces were cut.

    Text is held back only from an opening bracket on, and only while it can still become a marker.

    >>> stream = MarkerStream()
    >>> stream.feed("It is 3 m [") + stream.feed("1].") + stream.finish()
    ['It is 3 m ', Marker(numbers=(1,), raw='[1]'), '.']
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> list[Token]:
        """What `piece` makes certain."""
        out: list[Token] = []
        text = self._held + piece
        at = 0
        while at < len(text):
            start = _first_open(text, at)
            _say(out, text[at:start])
            at = start
            if start == len(text):
                break
            match = _MARKER.match(text, start)
            if match and len(match.group()) <= _LONGEST:
                out.append(Marker(numbers_in(match.group()), match.group()))
                at = match.end()
            elif _may_become_marker(text[start:]):
                break
            else:
                _say(out, text[start])
                at = start + 1
        self._held = text[at:]
        return out

    def finish(self) -> list[Token]:
        """What is left when the stream has ended. A marker that was begun and never closed is left out."""
        held, self._held = self._held, ""
        return [] if not held or _half_marker(held) else [held]


def read(text: str) -> list[Token]:
    """`text` as `MarkerStream` would release it in one piece."""
    stream = MarkerStream()
    return stream.feed(text) + stream.finish()


def defuse(text: str) -> str:
    """`text` in which nothing can be read as a citation: ``[3]`` becomes ``(3)``.

    For footnote marks that stand in the evidence itself.
    """
    return _MARKER.sub(lambda match: f"({match.group()[1:-1]})", text)


class Numbering:
    """From evidence numbers to the markers that the reader sees: 1, 2, … in order of first use."""

    __slots__ = ("_evidence", "_shown", "dropped")

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self._evidence = {piece.number: piece for piece in evidence}
        self._shown: dict[int, int] = {}
        self.dropped = 0
        """How many citations pointed at nothing."""

    def known(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """`numbers` that name a piece of evidence, each once; the others are counted as dropped."""
        asked = tuple(dict.fromkeys(numbers))
        kept = tuple(number for number in asked if number in self._evidence)
        self.dropped += len(asked) - len(kept)
        return kept

    def show(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """The display markers of `numbers`, ascending, new ones given out in the order of `numbers`."""
        for number in numbers:
            self._shown.setdefault(number, len(self._shown) + 1)
        return tuple(sorted(self._shown[number] for number in numbers))

    @property
    def mapping(self) -> dict[int, int]:
        """Display marker → evidence number."""
        return {marker: number for number, marker in self._shown.items()}

    def citations(self) -> tuple[Citation, ...]:
        """One citation per marker given out so far, in order."""
        return tuple(cite(self._evidence[number], marker=marker) for marker, number in sorted(self.mapping.items()))


def cite(evidence: Evidence, *, marker: int) -> Citation:
    """The citation of one piece of evidence. White space at its ends is left out of both quote and span."""
    strip = evidence.strip
    quote = strip.text.strip()
    start = strip.span.start + strip.text.find(quote)
    return Citation(
        marker=marker,
        strips=(strip.id, *evidence.merged),
        document_id=strip.document_id,
        source=strip.source,
        title=strip.title,
        quote=quote,
        span=Span(start, start + len(quote)),
        page=strip.page,
        date=strip.date,
        origin=strip.origin,
        also=evidence.also,
    )


def render(markers: Sequence[int]) -> str:
    """Display markers as text: ``[1][3]``."""
    return "".join(f"[{marker}]" for marker in markers)


def _say(out: list[Token], text: str) -> None:
    if not text:
        return
    if out and isinstance(out[-1], str):
        out[-1] += text
    else:
        out.append(text)


def _first_open(text: str, start: int) -> int:
    return min((at for c in _OPEN if (at := text.find(c, start)) >= 0), default=len(text))


def _may_become_marker(text: str) -> bool:
    """Whether `text`, from an opening bracket to its end, is the beginning of some marker."""
    inside = text[1:]
    return (
        len(text) <= _LONGEST
        and not any(c in inside for c in _OPEN + _CLOSE)
        and "\n" not in inside
        and _INSIDE.fullmatch(inside) is not None
        and not _LETTERS.search(inside.split("†", 1)[0])
    )


def _half_marker(text: str) -> bool:
    inside = unicodedata.normalize("NFKC", text[1:]).strip(" ^#")
    return not inside or inside[0].isdigit()
