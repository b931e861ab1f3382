"""The derived file of vectors: a copy of the index's vectors in row order, mapped into memory.

It holds nothing that the index does not hold. A file that is missing, cut short, altered or from another history is
not used, and written anew; it is never changed in place, so a process that has it mapped keeps what it mapped.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tadasu.core.vectors import FloatMatrix

_MAGIC: Final = b"TDSUVEC1"
_HEADER: Final = struct.Struct("<8sqqq16sQ")  # magic, rows, dimensions, generation, token, sum of words
_SEAL: Final = 32  # SHA-256 over the header
_DATA_AT: Final = 128


@dataclass(frozen=True, slots=True)
class MappedVectors:
    """Vectors of the passages that stood in the index at `generation`: `rows` ascending (n,), `vectors` (n, d)."""

    rows: NDArray[np.int64]
    vectors: FloatMatrix
    generation: int
    token: str


def load(path: Path, *, dimensions: int) -> MappedVectors | None:
    """The file at `path`, mapped; None where there is none that can be trusted."""
    try:
        with path.open("rb") as file:
            head = file.read(_DATA_AT)
            size = os.fstat(file.fileno()).st_size
            if len(head) < _DATA_AT:
                return None
            magic, count, width, generation, token, words = _HEADER.unpack_from(head)
            seal = head[_HEADER.size : _HEADER.size + _SEAL]
            if magic != _MAGIC or seal != hashlib.sha256(head[: _HEADER.size]).digest() or width != dimensions:
                return None
            if size != _DATA_AT + count * 8 + _padded(count * width * 4):
                return None
            data: NDArray[np.uint8] = np.memmap(file, dtype=np.uint8, mode="r") if count else np.empty(0, np.uint8)
    except OSError:
        return None
    body = data[_DATA_AT:]
    if _sum_of_words(body) != words:
        return None
    rows = body[: count * 8].view("<i8")
    vectors = body[count * 8 : count * 8 + count * width * 4].view("<f4").reshape(count, width)
    return MappedVectors(rows=rows, vectors=vectors, generation=generation, token=token.decode("ascii").rstrip("\0"))


def write(path: Path, connection: sqlite3.Connection, *, dimensions: int, generation: int, token: str) -> bool:
    """Copy every vector of this snapshot to `path`, replacing it at once; False where the disk does not allow it."""
    rows = [row for (row,) in connection.execute("SELECT row FROM vectors ORDER BY row")]
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
        with os.fdopen(descriptor, "w+b") as file:
            file.write(bytes(_DATA_AT))
            words = _write_body(file, rows, connection)
            header = _HEADER.pack(_MAGIC, len(rows), dimensions, generation, token.encode("ascii"), words)
            file.seek(0)
            file.write(header + hashlib.sha256(header).digest())
        Path(temporary).replace(path)
    except OSError:
        # Without the file a search reads the vectors from the index: slower to start, never wrong.
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        return False
    return True


def _write_body(file: IO[bytes], rows: list[int], connection: sqlite3.Connection) -> int:
    words = 0
    for chunk in _chunks(rows, connection):
        file.write(chunk)
        words = (words + _sum_of_words(np.frombuffer(chunk, np.uint8))) % 2**64
    return words


def _chunks(rows: list[int], connection: sqlite3.Connection) -> Iterator[bytes]:
    yield np.array(rows, dtype="<i8").tobytes()
    cursor = connection.execute("SELECT vector FROM vectors ORDER BY row")
    while part := cursor.fetchmany(1024):
        chunk = b"".join(vector for (vector,) in part)
        yield chunk + bytes(_padded(len(chunk)) - len(chunk))


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def _sum_of_words(data: NDArray[np.uint8]) -> int:
    return int(data.view("<u8").sum(dtype=np.uint64))
