"""A model that borrows constants of another file: put together from bytes, without a library for the format.

An ONNX file is a message of protocol buffers. Of two such messages one after the other, a reader takes the lists
together; so constants taken out of one file, wrapped as a further piece of the graph, belong to the other's graph.
"""

from __future__ import annotations

from collections.abc import Sequence

_GRAPH = 7


def with_constants(part: bytes, other: bytes, ranges: Sequence[tuple[int, int]]) -> bytes:
    """The model `part` with the constants that lie at `ranges` of the file `other`, each with its key.

    Raises ValueError for a range that is not inside the file.
    """
    if any(not 0 <= start < end <= len(other) for start, end in ranges):
        raise ValueError("a range of borrowed bytes is not inside the file")
    borrowed = b"".join(other[start:end] for start, end in ranges)
    return b"".join((part, _varint(_GRAPH << 3 | 2), _varint(len(borrowed)), borrowed))


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)
