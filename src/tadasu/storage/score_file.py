"""The SQLite file behind `score_cache`, seen by one thread: its form, its statements, and what to do about trouble.

Every process and thread opens its own `ScoreFile`. Write-ahead logging lets readers go on while another writes;
``synchronous=NORMAL`` keeps the file sound over a killed process and a power cut, which may cost the last commits only.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

from tadasu.ports import CacheStatistics
from tadasu.runtime.write_ahead import log_ahead

T = TypeVar("T")

_log = logging.getLogger(__name__)
_APPLICATION: Final = 0x54616473  # "Tads": what SQLite files of ours carry in their head
_VERSION: Final = 1
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR})
_CHUNK: Final = 500
_ENTRY_BYTES: Final = 90
"""What an entry takes in the file beside key and value: head, index, the part of pages that stays empty (measured)."""

# Rows are found by 64 bits of a hash of the key, and the key itself is compared: an index over whole keys would take
# more room than the scores. The totals are kept by triggers, so that they are right whoever writes and whatever fails.
_SCHEMA: Final = (
    "DROP TABLE IF EXISTS scores",
    "DROP TABLE IF EXISTS totals",
    "CREATE TABLE scores (id INTEGER PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL, used INTEGER NOT NULL)",
    "CREATE INDEX scores_used ON scores (used)",
    "CREATE TABLE totals (entries INTEGER, bytes INTEGER, hits INTEGER, misses INTEGER)",
    "INSERT INTO totals VALUES (0, 0, 0, 0)",
    """CREATE TRIGGER scores_added AFTER INSERT ON scores BEGIN
        UPDATE totals SET entries = entries + 1, bytes = bytes + length(new.key) + length(new.value);
    END""",
    """CREATE TRIGGER scores_removed AFTER DELETE ON scores BEGIN
        UPDATE totals SET entries = entries - 1, bytes = bytes - length(old.key) - length(old.value);
    END""",
    """CREATE TRIGGER scores_replaced AFTER UPDATE OF key, value ON scores BEGIN
        UPDATE totals SET bytes = bytes + length(new.key) + length(new.value) - length(old.key) - length(old.value);
    END""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written together: entries, keys that were used, look-ups since the last time. Times in Unix seconds."""

    entries: Mapping[str, bytes]
    used: Iterable[str]
    hits: int
    misses: int
    now: float


class ScoreFile:
    """One connection to the file, for one thread; opened when it is first needed.

    Methods give `otherwise`, or nothing, where the file cannot be used; after that they do without it for `pause_s`
    seconds. `trouble` says why.
    """

    def __init__(self, path: Path, *, busy_seconds: float, pause_s: float) -> None:
        self.path = path
        self.trouble = ""
        self._busy_seconds = busy_seconds
        self._pause_s = pause_s
        self._again_at = 0.0
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)

    def read(self, keys: Sequence[str]) -> dict[str, tuple[bytes, int]]:
        """Value and time of the last use of those of `keys` that are there."""
        wanted = {_place(key): key for key in keys}
        places = list(wanted)

        def work(connection: sqlite3.Connection) -> dict[str, tuple[bytes, int]]:
            found = {}
            for start in range(0, len(places), _CHUNK):
                chunk = json.dumps(places[start : start + _CHUNK])
                for place, name, value, used in connection.execute(_READ, (chunk,)):
                    # SQLite keeps no type strictly, and a damaged page may hold anything.
                    sound = isinstance(value, bytes) and isinstance(used, int)
                    if sound and name == _name(wanted[place]):
                        found[wanted[place]] = (value, used)
            return found

        return self._attempt(work, {})

    def write(self, batch: Batch, *, max_bytes: int, seconds: float) -> None:
        """Write `batch` in one transaction, then let go what is too old or too much."""
        now = int(batch.now)
        rows = [(_place(key), _name(key), value, now) for key, value in batch.entries.items()]
        used = json.dumps([_place(key) for key in batch.used])

        def work(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(_PUT, rows)
                connection.execute(_TOUCH, (now, used))
                connection.execute(_COUNT, (batch.hits, batch.misses))
                connection.execute(_EXPIRE, (int(batch.now - seconds),))
                _make_room(connection, max_bytes)

        self._attempt(work, None)

    def clear(self) -> int:
        """Empty the file and give back its room on the disk; how many entries that were."""

        def work(connection: sqlite3.Connection) -> int:
            with _transaction(connection):
                entries = _totals(connection)[0]
                _make_anew(connection)
            try:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError:
                _log.debug("%s is in use: its room on the disk is used again, not given back", self.path)
            return entries

        return self._attempt(work, 0)

    def statistics(self) -> CacheStatistics:
        """The totals; zeros where the file cannot be used."""

        def work(connection: sqlite3.Connection) -> CacheStatistics:
            entries, size, hits, misses = _totals(connection)
            return CacheStatistics(hits=hits, misses=misses, entries=entries, bytes=size)

        return self._attempt(work, CacheStatistics(0, 0, 0, 0))

    def close(self) -> None:
        """Give back the connection; it is opened again where it is needed again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        if time.monotonic() < self._again_at:
            return otherwise
        for last in (False, True):
            try:
                result = work(self._opened())
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
                if code in _BUSY:
                    self.trouble = str(error)
                    return otherwise
                self.close()
                if last or code not in _DAMAGED:
                    self._pause(error)
                    return otherwise
                self._throw_away(error)
            except (_NotOurs, OSError) as error:
                self.close()
                self._pause(error)
                return otherwise
            else:
                self.trouble = ""
                return result
        return otherwise

    def _opened(self) -> sqlite3.Connection:
        # Somebody may have deleted the file, or thrown it away and made another one, while we had it open.
        if self._connection is not None:
            if self._identity == _identity(self.path):
                return self._connection
            self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            _prepare(connection, self.path, busy_seconds=self._busy_seconds)
        except BaseException:
            connection.close()
            raise
        self._connection, self._identity = connection, _identity(self.path)
        return connection

    def _throw_away(self, error: Exception) -> None:
        _log.warning("The score cache %s is damaged (%s); it is thrown away and made anew.", self.path, error)
        for name in (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))):
            name.unlink(missing_ok=True)

    def _pause(self, error: Exception) -> None:
        if not self.trouble:
            _log.warning("The score cache %s cannot be used (%s); done without it for now.", self.path, error)
        self.trouble = str(error)
        self._again_at = time.monotonic() + self._pause_s


class _NotOurs(Exception):
    """A database of somebody else lies there."""


_READ: Final = "SELECT id, key, value, used FROM scores WHERE id IN (SELECT value FROM json_each(?))"
_PUT: Final = """
INSERT INTO scores (id, key, value, used) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET key = excluded.key, value = excluded.value, used = excluded.used
"""
_TOUCH: Final = "UPDATE scores SET used = ? WHERE id IN (SELECT value FROM json_each(?))"
_COUNT: Final = "UPDATE totals SET hits = hits + ?, misses = misses + ?"
_EXPIRE: Final = "DELETE FROM scores WHERE id IN (SELECT id FROM scores WHERE used < ? ORDER BY used LIMIT 1000)"
_OLDEST: Final = "DELETE FROM scores WHERE id IN (SELECT id FROM scores ORDER BY used LIMIT ?)"


def _totals(connection: sqlite3.Connection) -> tuple[int, int, int, int]:
    """Entries, bytes with all that belongs to them, hits, misses; raises DatabaseError where they are lost."""
    row = connection.execute("SELECT entries, bytes, hits, misses FROM totals").fetchone()
    if row is None or not all(isinstance(number, int) for number in row):
        raise sqlite3.DatabaseError("the totals are lost")
    entries, size, hits, misses = row
    return entries, size + entries * _ENTRY_BYTES, hits, misses


def _make_room(connection: sqlite3.Connection, max_bytes: int) -> None:
    while True:
        entries, size, *_ = _totals(connection)
        if size <= max_bytes:
            return
        if connection.execute(_OLDEST, (max(1, min(1000, entries // 10)),)).rowcount < 1:
            raise sqlite3.DatabaseError("the totals do not fit the entries")


def _place(key: str) -> int:
    return int.from_bytes(blake2b(_name(key), digest_size=8).digest(), "little", signed=True)


def _name(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _prepare(connection: sqlite3.Connection, path: Path, *, busy_seconds: float) -> None:
    """Bring a connection and the file to our form; raises _NotOurs where the file is somebody else's."""
    if not _is_ours(connection, path):
        log_ahead(connection, busy_seconds=busy_seconds)
        with _transaction(connection):
            if not _is_ours(connection, path):
                _make_anew(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 8000000")


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == _APPLICATION:
        return bool(connection.execute("PRAGMA user_version").fetchone()[0] == _VERSION)
    if application or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise _NotOurs(f"{path} is a database, but no score cache")
    return False


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _make_anew(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
