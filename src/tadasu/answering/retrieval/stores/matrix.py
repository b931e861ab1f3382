"""All vectors of an index in memory, in row order: the mapped file and what came after it."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.answering.retrieval.stores import matrix_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tadasu.core.vectors import FloatMatrix, FloatVector

_TAIL_AT_LEAST: Final = 5_000
_TAIL_SHARE: Final = 0.25
_GATHER_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Vectors of some rows: `rows` ascending (n,), `vectors` (n, d) float32, L2-normalised."""

    rows: NDArray[np.int64]
    vectors: FloatMatrix

    def cosines(self, query: FloatVector, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Cosine of `query` with the vectors at `positions`, in that order."""
        if len(positions) < _GATHER_SHARE * len(self.rows):
            gathered: NDArray[np.float32] = self.vectors[positions] @ query
            return gathered
        # One pass over memory in order beats picking rows, once most of them are wanted.
        everything: NDArray[np.float32] = self.vectors @ query
        return everything[positions]


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The blocks as they stood at one moment; a later refresh makes a new view. `epoch` tells them apart."""

    epoch: int
    base: VectorBlock
    tail: VectorBlock

    @property
    def last_row(self) -> int:
        """The highest row that is here; 0 for none."""
        for block in (self.tail, self.base):
            if len(block.rows):
                return int(block.rows[-1])
        return 0

    def __len__(self) -> int:
        return len(self.base.rows) + len(self.tail.rows)


class VectorMatrix:
    """Keeps the vectors of one index at hand for exact search; one per store, shared by its threads.

    Rows are never reused or changed, so a refresh only reads the rows behind the last one it knows, whichever process
    wrote them. Removed rows stay here, unseen, until they outnumber the living; then the file is written anew.
    """

    def __init__(self, path: Path, *, dimensions: int) -> None:
        self._path = path
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._view: MatrixView | None = None
        self._writable = True

    def view(self, connection: sqlite3.Connection) -> MatrixView:
        """Every vector of this snapshot (and maybe more: the caller picks the rows)."""
        with self._lock:
            before = self._view or self._open(connection)
            view = self._extended(before, connection)
            if view is not before and self._is_overgrown(view, connection):
                view = self._rewritten(view, connection)
            self._view = view
            return view

    def save(self, connection: sqlite3.Connection) -> None:
        """Write the file now if it lags behind, so that the next process starts from it."""
        with self._lock:
            view = self._extended(self._view or self._open(connection), connection)
            if len(view.tail.rows) * 20 > len(view.base.rows):
                view = self._rewritten(view, connection)
            self._view = view

    def close(self) -> None:
        """Let go of the mapped file."""
        with self._lock:
            self._view = None

    def _open(self, connection: sqlite3.Connection) -> MatrixView:
        mapped = matrix_file.load(self._path, dimensions=self._dimensions)
        empty = VectorBlock(np.empty(0, np.int64), np.empty((0, self._dimensions), np.float32))
        if mapped is None or not _same_history(mapped, connection):
            return MatrixView(0, empty, empty)
        return MatrixView(0, VectorBlock(mapped.rows, mapped.vectors), empty)

    def _extended(self, view: MatrixView, connection: sqlite3.Connection) -> MatrixView:
        found = connection.execute(
            "SELECT row, vector FROM vectors WHERE row > ? ORDER BY row", (view.last_row,)
        ).fetchall()
        if not found:
            return view
        rows = np.array([row for row, _ in found], dtype=np.int64)
        joined = b"".join(vector for _, vector in found)
        vectors = np.frombuffer(joined, dtype="<f4").reshape(len(rows), self._dimensions)
        tail = VectorBlock(np.concatenate([view.tail.rows, rows]), np.concatenate([view.tail.vectors, vectors]))
        return MatrixView(view.epoch + 1, view.base, tail)

    @staticmethod
    def _is_overgrown(view: MatrixView, connection: sqlite3.Connection) -> bool:
        if len(view.tail.rows) > max(_TAIL_AT_LEAST, _TAIL_SHARE * len(view.base.rows)):
            return True
        if len(view) <= _TAIL_AT_LEAST:
            return False
        living = int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
        return len(view) > 2 * living + _TAIL_AT_LEAST

    def _rewritten(self, view: MatrixView, connection: sqlite3.Connection) -> MatrixView:
        if not self._writable:
            return view
        generation, token = connection.execute(
            "SELECT number, token FROM generations ORDER BY number DESC LIMIT 1"
        ).fetchone()
        self._writable = written = matrix_file.write(
            self._path, connection, dimensions=self._dimensions, generation=generation, token=token
        )
        mapped = matrix_file.load(self._path, dimensions=self._dimensions) if written else None
        if mapped is None or not _same_history(mapped, connection):
            return view
        base = VectorBlock(mapped.rows, mapped.vectors)
        empty = VectorBlock(np.empty(0, np.int64), np.empty((0, self._dimensions), np.float32))
        return self._extended(MatrixView(view.epoch + 1, base, empty), connection)


def _same_history(mapped: matrix_file.MappedVectors, connection: sqlite3.Connection) -> bool:
    # A file written by a newer snapshot than ours is of no use to this transaction; it is not trusted, and written
    # anew. The token is checked because an index restored from a backup may give the same rows to other passages.
    found = connection.execute("SELECT token FROM generations WHERE number = ?", (mapped.generation,)).fetchone()
    return found is not None and found[0] == mapped.token
