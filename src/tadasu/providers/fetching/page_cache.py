"""Pages fetched before, in a SQLite file of bounded size and age that may be lost at any time."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tadasu.ports import Clock
from tadasu.runtime.write_ahead import log_ahead

T = TypeVar("T")

_VERSION = 1
_BUSY_SECONDS = 1.0
_DAY = 86_400.0
_TRIM_TO = 0.9
_OVERHEAD = 200
"""What an entry takes beside its data, roughly, in bytes."""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it was handed on: `data` in `media_type`."""

    media_type: str
    data: bytes


class PageCache:
    """By address; entries go after `days`, those unused longest also beyond `max_mb`. Thread-safe, blocking.

    Never raises for the file: one that cannot be opened or read is as good as empty, a damaged one is thrown away.
    """

    def __init__(self, file: Path, *, clock: Clock, max_mb: float = 64, days: float = 7.0) -> None:
        self._file = file
        self._clock = clock
        self._most = int(max_mb * 2**20)
        self._days = days
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._broken = False

    def get(self, address: str, *, days: float | None = None) -> KeptPage | None:
        """The page of `address`, not older than `days` (by default those of the cache); None where there is none."""
        now = self._clock.now().timestamp()
        oldest = now - min(self._days, self._days if days is None else days) * _DAY

        def look(database: sqlite3.Connection) -> KeptPage | None:
            row = database.execute("SELECT media_type, data, kept FROM pages WHERE address = ?", (address,)).fetchone()
            # A page from the future was kept under a clock that was wrong.
            if row is None or not oldest < row[2] <= now:
                return None
            try:
                data = zlib.decompress(row[1])
            except zlib.error:
                database.execute("DELETE FROM pages WHERE address = ?", (address,))
                return None
            database.execute("UPDATE pages SET used = ? WHERE address = ?", (now, address))
            return KeptPage(str(row[0]), data)

        return self._within(look)

    def put(self, address: str, page: KeptPage) -> None:
        """Keep `page`, unless it alone would fill a quarter of the room."""
        data = zlib.compress(page.data, 6)
        if len(data) > self._most // 4:
            return
        now = self._clock.now().timestamp()

        def keep(database: sqlite3.Connection) -> None:
            database.execute(
                "INSERT OR REPLACE INTO pages (address, media_type, data, size, kept, used) VALUES (?, ?, ?, ?, ?, ?)",
                (address, page.media_type, data, len(data) + len(address) + _OVERHEAD, now, now),
            )
            self._trim(database, now)

        self._within(keep)

    def close(self) -> None:
        """Give back the file; it is opened again where it is needed again."""
        with self._lock:
            self._drop_connection()

    def _trim(self, database: sqlite3.Connection, now: float) -> None:
        database.execute("DELETE FROM pages WHERE kept <= ?", (now - self._days * _DAY,))
        (held,) = database.execute("SELECT coalesce(sum(size), 0) FROM pages").fetchone()
        if held <= self._most:
            return
        for address, size in database.execute("SELECT address, size FROM pages ORDER BY used, kept").fetchall():
            if held <= self._most * _TRIM_TO:
                break
            database.execute("DELETE FROM pages WHERE address = ?", (address,))
            held -= size

    def _within(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` gives, in one transaction; None where the file does not play along."""
        with self._lock:
            try:
                database = self._connect()
                if database is None:
                    return None
                with database:
                    return work(database)
            except (sqlite3.OperationalError, OSError):
                self._drop_connection()  # busy, read-only or full: this page is not kept, that is all
            except sqlite3.DatabaseError:
                self._throw_away()
        return None

    def _connect(self) -> sqlite3.Connection | None:
        if self._connection is None and not self._broken:
            try:
                self._connection = self._open()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._throw_away()
                self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._file, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            log_ahead(database, busy_seconds=_BUSY_SECONDS)
            database.execute("PRAGMA synchronous = NORMAL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                with database:
                    database.execute("DROP TABLE IF EXISTS pages")
                    database.execute(
                        "CREATE TABLE pages (address TEXT PRIMARY KEY, media_type TEXT NOT NULL, data BLOB NOT NULL,"
                        " size INTEGER NOT NULL, kept REAL NOT NULL, used REAL NOT NULL)"
                    )
                    database.execute("CREATE INDEX pages_used ON pages (used)")
                    database.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            database.close()
            raise
        return database

    def _throw_away(self) -> None:
        self._drop_connection()
        try:
            for file in self._file.parent.glob(f"{self._file.name}*"):
                file.unlink(missing_ok=True)
        except OSError:
            self._broken = True

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
