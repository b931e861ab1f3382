"""Long passages in overlapping windows that begin and end between strips, and strips scored from their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]

OVERLAP = 64


def windows_of(tokens: int, *, room: int, borders: Integers, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Cover `tokens` tokens with few windows ``[start, end)`` of at most `room` tokens, about equally long.

    Neighbours share at least `overlap` tokens (a third of the room where that is less), so that a strip that is no
    longer than this lies whole in one of them. `borders` are the tokens, ascending, at which strips begin: a window
    begins and ends at one where there is one near.

    >>> windows_of(10, room=6, borders=np.array([0, 4, 7]), overlap=2)
    [(0, 6), (4, 10)]
    """
    if room < 1:
        raise ValueError("a window needs room for one token")
    if tokens <= room:
        return [(0, tokens)]
    shared = min(overlap, room // 3)
    count = 1 + -(-(tokens - room) // (room - shared))
    size = -(-(tokens + (count - 1) * shared) // count)
    found: list[tuple[int, int]] = []
    start = 0
    while tokens - start > room:
        end = _near(
            borders, start + size, low=start + size - shared // 2, high=min(start + room, start + size + shared)
        )
        found.append((start, end))
        start = _near(borders, end - shared, low=max(end - 2 * shared, start + 1), high=end - shared)
    return [*found, (start, tokens)]


def _near(borders: Integers, wanted: int, *, low: int, high: int) -> int:
    """The border in ``[low, high]`` that is nearest to `wanted`, or `wanted` itself, kept in the range."""
    first, last = np.searchsorted(borders, (low, high + 1))
    if first == last:
        return max(low, min(wanted, high))
    near = borders[first:last]
    return int(near[np.argmin(np.abs(near - wanted))])


def bounds_of(last: Integers, strips: Sequence[tuple[int, int]]) -> Integers:
    """(strips, 2): the tokens ``[first, end)`` of each strip, the one that holds a token's last code point.

    `last` are the tokens' last code points, ascending; `strips` are spans in order, not overlapping.
    """
    edges = np.asarray(strips, dtype=np.int64).reshape(-1, 2)
    return np.searchsorted(last, edges, side="left").astype(np.int64)


def pool_strips(tokens: Floats, bounds: Integers, *, nothing: float) -> Floats:
    """(strips,): the logarithm of the summed exponentials of each strip's token logits; `nothing` without tokens.

    `bounds` as `bounds_of` gives them, relative to `tokens`; what lies outside of `tokens` is left out. A strip never
    gets less than `nothing`.
    """
    pooled = np.full(len(bounds), nothing)
    inside = np.clip(bounds, 0, len(tokens))
    filled = inside[:, 0] < inside[:, 1]
    if not filled.any():
        return pooled
    top = float(tokens.max())
    weights = np.append(np.exp(tokens - top), 0.0)
    sums = np.add.reduceat(weights, inside[filled].reshape(-1))[::2]
    with np.errstate(divide="ignore"):
        pooled[filled] = np.maximum(np.log(sums) + top, nothing)
    return pooled
