"""Sentences out of a stream, each with the citation markers that belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tadasu.answering.generation.citations import Marker, Token
from tadasu.text.segment import segment

_GAP_BEFORE_STOP = re.compile(r" +([.,;:!?。、])")
_TERMINATORS = frozenset(".!?。！？．…")
# How far the text must have gone on before a border is believed: "U.S." may be the end of a sentence or not.
_LOOKAHEAD = 12
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence as the model wrote it.

    `text` has no markers and no white space at its ends; `markers` are (offset into `text`, evidence numbers) in
    order; `gap` is the white space that stood before it.
    """

    text: str
    markers: tuple[tuple[int, tuple[int, ...]], ...]
    gap: str = ""

    @property
    def plain(self) -> str:
        """The text as it reads without markers: no space is left before a full stop."""
        return _GAP_BEFORE_STOP.sub(r"\1", self.text) if self.markers else self.text

    @property
    def numbers(self) -> tuple[int, ...]:
        """All evidence numbers cited, each once, in order."""
        return tuple(dict.fromkeys(number for _, numbers in self.markers for number in numbers))


class SentenceReader:
    """Collects tokens and gives sentences back as soon as they are certain.

    Where a sentence ends depends on the text only, never on how it was cut into pieces. A marker belongs to the
    sentence that it follows, also after the full stop; at the start of a line it belongs to that line.
    """

    __slots__ = ("_gap", "_markers", "_text", "lost")

    def __init__(self) -> None:
        self._text = ""
        self._markers: list[tuple[int, tuple[int, ...]]] = []
        self._gap = ""
        self.lost = 0
        """Markers that stood where no sentence is."""

    def feed(self, tokens: Iterable[Token]) -> list[Written]:
        """The sentences that `tokens` complete."""
        done: list[Written] = []
        for token in tokens:
            if isinstance(token, Marker):
                self._markers.append((len(self._text), token.numbers))
                continue
            for character in token:
                self._text += character
                if character == "\n":
                    done.extend(self._take(len(self._text)))
                elif self._text[-1 - _LOOKAHEAD : -_LOOKAHEAD] in _TERMINATORS:
                    done.extend(self._take(len(self._text) - _LOOKAHEAD))
        return done

    @property
    def pending(self) -> str:
        """What was read and is no sentence yet."""
        return self._gap + self._text

    def finish(self) -> list[Written]:
        """What is left when the stream has ended."""
        done = self._take(len(self._text))
        self.lost += len(self._markers)
        self._markers = []
        return done

    def _take(self, certain: int) -> list[Written]:
        """Sentences that end, white space aside, at or before `certain`."""
        done: list[Written] = []
        cut = 0
        for start, end in segment(self._text, max_length=_LONGEST):
            body = self._text[start:end]
            if start + len(body.rstrip()) > certain or (end == len(self._text) and certain < end):
                break
            cut = end
            if body.strip():
                done.append(self._written(start, end))
            else:
                self._gap += body
        self._text = self._text[cut:]
        self._markers = [(at - cut, numbers) for at, numbers in self._markers]
        return done

    def _written(self, start: int, end: int) -> Written:
        body = self._text[start:end]
        text = body.strip()
        lead = len(body) - len(body.lstrip())
        mine = [(at, numbers) for at, numbers in self._markers if at <= end]
        self._markers = self._markers[len(mine) :]
        markers = tuple((min(max(at - start - lead, 0), len(text)), numbers) for at, numbers in mine)
        gap = _tidy(self._gap + body[:lead])
        self._gap = body[lead + len(text) :]
        return Written(text, markers, gap)


def _tidy(gap: str) -> str:
    """White space between sentences: line breaks and the indent after them, or one space, or what else stood there."""
    breaks = min(gap.count("\n"), 2)
    if breaks:
        return "\n" * breaks + gap.rpartition("\n")[2]
    return " " if gap and not gap.strip(" ") else gap
