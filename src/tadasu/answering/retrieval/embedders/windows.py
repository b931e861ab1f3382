"""Long texts in overlapping windows, and vectors pooled from the vectors of tokens.

Every token of the text belongs to exactly one window (in an overlap: to the one in which it has more text around it),
so that a pooled vector weighs each token once, however the windows fall.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float32]

OVERLAP = 64


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``[start, end)`` of a text go in; the vectors of ``[first, last)`` are this window's to give."""

    start: int
    end: int
    first: int
    last: int


def windows_of(tokens: int, *, room: int, overlap: int = OVERLAP) -> list[Window]:
    """Cover `tokens` tokens with windows of at most `room`, neighbours sharing at least `overlap` tokens.

    >>> windows_of(10, room=6, overlap=2)
    [Window(start=0, end=6, first=0, last=5), Window(start=4, end=10, first=5, last=10)]
    """
    if room < 1:
        raise ValueError("a window needs room for one token")
    if tokens <= room:
        return [Window(0, tokens, 0, tokens)]
    shared = min(overlap, room - 1)
    count = 1 + -(-(tokens - room) // (room - shared))
    starts = [index * (tokens - room) // (count - 1) for index in range(count)]
    borders = [0, *((later + earlier + room) // 2 for earlier, later in itertools.pairwise(starts)), tokens]
    return [Window(start, start + room, borders[index], borders[index + 1]) for index, start in enumerate(starts)]


def owners(offsets: Sequence[tuple[int, int]], strips: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    """Which strip each token belongs to: the one that holds the token's middle; -1 where none does.

    `offsets` are the tokens' spans in the text; `strips` are spans in order, not overlapping.
    """
    if not offsets or not strips:
        return np.full(len(offsets), -1, dtype=np.intp)
    spans = np.asarray(offsets, dtype=np.int64)
    edges = np.asarray(strips, dtype=np.int64)
    middles = (spans[:, 0] + spans[:, 1]) // 2
    found = np.searchsorted(edges[:, 0], middles, side="right") - 1
    inside = (found >= 0) & (middles < edges[np.maximum(found, 0), 1])
    return np.where(inside, found, -1).astype(np.intp)


def normalised(vectors: FloatArray) -> FloatArray:
    """Rows (or one vector) scaled to length 1; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)


def pool_strips(tokens: FloatArray, owner: NDArray[np.intp], *, strips: int, fallback: FloatArray) -> FloatArray:
    """One vector per strip, (strips, d): the normalised mean of its tokens, `fallback` for a strip without any."""
    pooled = np.tile(fallback, (strips, 1)).astype(np.float32)
    for index in range(strips):
        mine = tokens[owner == index]
        if len(mine):
            pooled[index] = normalised(mine.mean(axis=0))
    return pooled
