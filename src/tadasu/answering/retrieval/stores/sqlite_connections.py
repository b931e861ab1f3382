"""Connections to one SQLite file: a pool for readers, one for the writer, and what its failures mean."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tadasu.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from tadasu.runtime.write_ahead import log_ahead

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR})


class Connections:
    """Hands out connections to the threads of one store; each is used by one thread at a time.

    Write-ahead logging lets readers go on while another process writes, each on the snapshot that it began with.
    ``synchronous=NORMAL`` keeps every commit over a killed process (the log is in the system's hands); a power cut may
    lose the last commits, never the file, and the next ingest makes them again.
    """

    def __init__(self, path: Path, *, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._idle: list[sqlite3.Connection] = []
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.Condition()
        self._write_lock = threading.Lock()
        self._closed = False

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            log_ahead(connection, busy_seconds=self._busy_seconds)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if self._closed:
                connection.close()
                raise ValueError("the store is closed")
            self._all.append(connection)
        return connection

    @contextmanager
    def translated(self) -> Iterator[None]:
        """SQLite's failures as ours; ValueError for rows that contradict what is stored."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise ValueError(f"contradicts what is stored: {error}") from error
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as error:
            raise self._meaning(error) from error

    def _meaning(self, error: sqlite3.DatabaseError) -> StoreError:
        # Extended result codes carry the primary code in the low byte.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _BUSY:
            return StoreBusy(path=self.path)
        if code in _DAMAGED:
            return StoreDamaged(path=self.path, reason=error)
        return StoreUnwritable(path=self.path, reason=error)

    @contextmanager
    def plain(self) -> Iterator[sqlite3.Connection]:
        """A connection without a transaction."""
        with self.translated():
            with self._lock:
                if self._closed:
                    raise ValueError("the store is closed")
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._open()
            try:
                yield connection
            finally:
                with self._lock:
                    self._idle.append(connection)
                    self._lock.notify_all()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot: everything read inside belongs to the same generation."""
        with self.plain() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed when the block ends, undone when it raises."""
        with self._write_lock, self.plain() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close every connection, once those at work are done: closing one under a running thread could crash it."""
        with self._write_lock, self._lock:
            self._closed = True
            self._lock.wait_for(lambda: len(self._idle) == len(self._all))
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._idle.clear()
