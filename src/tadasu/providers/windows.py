"""Overlapping windows of a text for a model whose tokenizer is not at hand: lengths are estimated on the safe side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tadasu.core.documents import Span

_LETTERS_A_TOKEN = 3


def token_estimate(text: str) -> int:
    """At least as many tokens as most models make of `text`: one for three ASCII characters, one for every other.

    English prose has 4 to 5 characters a token, Japanese 1 to 2.

    >>> token_estimate("a valve"), token_estimate("圧力計")
    (3, 3)
    """
    narrow = len(text.encode("ascii", "ignore"))
    return len(text) - narrow + math.ceil(narrow / _LETTERS_A_TOKEN)


def windows(text: str, strips: Sequence[tuple[int, int]], *, tokens: int) -> list[Span]:
    """Spans that cover `text` in order, each of at most `tokens` (at least 2) by estimate; one span where it fits.

    Borders fall between strips where strips are short enough, and each window begins with the last piece of the one
    before, so that what stands across a border is read together once.
    """
    if token_estimate(text) <= tokens:
        return [Span(0, len(text))]
    pieces = _pieces(text, strips, most=max(1, tokens // 2))
    found: list[Span] = []
    first = 0
    while True:
        last, size = first, token_estimate(pieces[first].of(text))
        while last + 1 < len(pieces) and size + token_estimate(pieces[last + 1].of(text)) <= tokens:
            last += 1
            size += token_estimate(pieces[last].of(text))
        found.append(Span(pieces[first].start, pieces[last].end))
        if last + 1 == len(pieces):
            return found
        first = last if last > first else last + 1


def _pieces(text: str, strips: Sequence[tuple[int, int]], *, most: int) -> list[Span]:
    """`text` in stretches of at most `most` tokens by estimate: strips, cut where they are longer."""
    borders = sorted({0, len(text), *(end for _, end in strips if 0 < end < len(text))})
    pieces: list[Span] = []
    for start, end in itertools.pairwise(borders):
        at = start
        while at < end:
            taken = _taken(text, at, end, most=most)
            pieces.append(Span(at, taken))
            at = taken
    return pieces


def _taken(text: str, start: int, end: int, *, most: int) -> int:
    """The last offset up to which `text` from `start` has at most `most` tokens; one character at least."""
    low, high = start + 1, max(start + 1, min(end, start + most * _LETTERS_A_TOKEN))
    while low < high:
        middle = (low + high + 1) // 2
        if token_estimate(text[start:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return low
