"""Write-ahead logging for a SQLite file that several processes open at the same moment."""

from __future__ import annotations

import random
import sqlite3
import time
from typing import Final

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1


def log_ahead(connection: sqlite3.Connection, *, busy_seconds: float) -> None:
    """Put the file of `connection` into write-ahead mode, waiting at most `busy_seconds` for others.

    SQLite asks for the whole file to change the mode, and where two ask together it says "locked" at once, whatever
    busy timeout is set (it would be a deadlock if both waited). So we take turns here. Raises
    `sqlite3.OperationalError` with SQLITE_BUSY when the time is over.
    """
    until = time.monotonic() + busy_seconds
    pause = _FIRST_PAUSE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() >= until:
                raise
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - only that two do not wake together
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return
