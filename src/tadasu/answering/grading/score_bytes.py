"""A score as bytes, for caches: compact, exact, and never read wrongly."""

from __future__ import annotations

import struct
import zlib
from typing import Final

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore

FORMAT: Final = "pair-score-1"
"""Part of every key: new when keys or bytes mean something else, so that nobody reads the old ones."""

_HEAD: Final = struct.Struct("<BI")
_HIT: Final = struct.Struct("<II")
_SUM: Final = struct.Struct("<I")
_DOUBLE, _WITH_HIT = 1, 2


def packed(score: PairScore) -> bytes:
    """`score` as bytes: flags, number of strips, the scores, the hit, CRC-32.

    Numbers take 4 bytes each where none loses a digit by it (those of our own models), else 8. Raises ValueError for a
    score that failed.
    """
    if score.failed:
        raise ValueError("a failure is not kept")
    numbers = (score.score, *score.strips)
    letter, flags = "f", 0
    if _narrow(numbers) != numbers:
        letter, flags = "d", _DOUBLE
    hit = b""
    if score.hit is not None:
        flags |= _WITH_HIT
        hit = _HIT.pack(score.hit.start, score.hit.end)
    body = _HEAD.pack(flags, len(score.strips)) + struct.pack(f"<{len(numbers)}{letter}", *numbers) + hit
    return body + _SUM.pack(zlib.crc32(body))


def unpacked(data: bytes) -> PairScore | None:
    """What `packed` was given; None for bytes that it did not make, or that have been damaged since."""
    body = data[: -_SUM.size]
    if len(body) < _HEAD.size or data[-_SUM.size :] != _SUM.pack(zlib.crc32(body)):
        return None
    flags, strips = _HEAD.unpack_from(body)
    numbers = struct.Struct(f"<{strips + 1}{'d' if flags & _DOUBLE else 'f'}")
    if len(body) != _HEAD.size + numbers.size + (_HIT.size if flags & _WITH_HIT else 0):
        return None
    score, *rest = numbers.unpack_from(body, _HEAD.size)
    hit = Span(*_HIT.unpack_from(body, _HEAD.size + numbers.size)) if flags & _WITH_HIT else None
    return PairScore(score=score, strips=tuple(rest), hit=hit)


def _narrow(numbers: tuple[float, ...]) -> tuple[float, ...]:
    form = f"<{len(numbers)}f"
    try:
        return struct.unpack(form, struct.pack(form, *numbers))
    except OverflowError:
        return ()
