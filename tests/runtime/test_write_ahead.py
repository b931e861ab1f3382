"""Several who open one new file at the same moment take turns; nobody waits longer than asked."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tadasu.runtime.write_ahead import log_ahead

OPENERS, FILES = 8, 12


def _open(path: Path, *, seconds: float) -> str:
    with closing(sqlite3.connect(path, timeout=seconds, isolation_level=None)) as connection:
        log_ahead(connection, busy_seconds=seconds)
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def _open_all(paths: list[Path]) -> list[str]:
    return [_open(path, seconds=20.0) for path in paths]


@contextmanager
def _held(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("CREATE TABLE kept (number INTEGER)")
        holder.execute("BEGIN EXCLUSIVE")
        yield
        holder.execute("ROLLBACK")


def test_threads_that_make_a_file_together_all_get_it(tmp_path: Path) -> None:
    for number in range(FILES):
        path, start = tmp_path / f"{number}.db", threading.Barrier(OPENERS)

        def opened(_: int, path: Path = path, start: threading.Barrier = start) -> str:
            start.wait()
            return _open(path, seconds=20.0)

        with ThreadPoolExecutor(OPENERS) as pool:
            assert list(pool.map(opened, range(OPENERS))) == ["wal"] * OPENERS


def test_processes_that_make_files_together_all_get_them(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(FILES)]
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_open_all, [paths] * 3) == [["wal"] * FILES] * 3


def test_who_holds_the_file_is_waited_for(tmp_path: Path) -> None:
    path, begun = tmp_path / "held.db", threading.Event()

    def opened() -> str:
        begun.set()
        return _open(path, seconds=20.0)

    with ThreadPoolExecutor(1) as pool:
        with _held(path):
            waiting = pool.submit(opened)
            begun.wait()
            time.sleep(0.05)
            assert not waiting.done()
        assert waiting.result(timeout=20.0) == "wal"


def test_the_wait_ends_with_busy(tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    with _held(path), pytest.raises(sqlite3.OperationalError) as refused:
        _open(path, seconds=0.05)
    assert refused.value.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def test_a_file_that_is_no_database_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100, encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        _open(path, seconds=3600.0)
    assert time.monotonic() - began < 1800.0
