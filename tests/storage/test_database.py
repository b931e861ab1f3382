"""The state database is brought to its newest form when it is opened, and says what is wrong where it cannot be."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable

import tadasu.storage.migrations
from tadasu.core.documents import Reader
from tadasu.errors import StateDamaged, StateIncompatible, StoreBusy, StoreUnwritable
from tadasu.storage.database import NEWEST, open_database
from tadasu.storage.runs import SqlRunBook
from tadasu.storage.tables import metadata
from tests.storage.some_runs import everyday_run

MIGRATIONS = Path(next(iter(tadasu.storage.migrations.__path__)))


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config)


def test_the_code_works_with_the_newest_migration() -> None:
    assert scripts().get_current_head() == NEWEST


def test_the_migrations_make_the_tables_that_the_code_knows(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "state.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    book = SqlRunBook.open(tmp_path / "state.db")
    book.save(everyday_run())
    book.close()
    again = SqlRunBook.open(tmp_path / "state.db")
    assert again.load("last", reader=Reader()) == everyday_run()
    again.close()


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    open_database(tmp_path / "state.db").dispose()
    with sqlite3.connect(tmp_path / "state.db") as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()
    with pytest.raises(StateIncompatible) as caught:
        open_database(tmp_path / "state.db")
    assert "9999" in str(caught.value)
    assert "newer" in caught.value.hint
    with sqlite3.connect(tmp_path / "state.db") as other:
        assert other.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    other.close()


def test_an_upgrade_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "state.db") as other:
        other.execute("CREATE TABLE run_access(other)")  # in the way of the third table of the first migration
    other.close()
    with pytest.raises(StateDamaged):
        open_database(tmp_path / "state.db")
    with sqlite3.connect(tmp_path / "state.db") as other:
        assert other.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall() == [("run_access",)]
    other.close()


@pytest.mark.parametrize("content", [b"not a database, but long enough to have a header" * 20, b"\x00" * 4096])
def test_a_file_that_is_no_database_is_named_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.db").write_bytes(content)
    with pytest.raises(StateDamaged) as caught:
        open_database(tmp_path / "state.db")
    assert "state.db" in str(caught.value)
    assert (tmp_path / "state.db").read_bytes() == content


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable):
        open_database(tmp_path / "nowhere" / "state.db")


def test_a_new_database_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        open_database(tmp_path / "state.db", busy_seconds=0.05)
    other.execute("ROLLBACK")
    other.close()
    open_database(tmp_path / "state.db").dispose()


def test_several_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    start = threading.Barrier(4)

    def open_it(_: int) -> None:
        start.wait()
        SqlRunBook.open(tmp_path / "state.db").close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(open_it, range(4)))
    with sqlite3.connect(tmp_path / "state.db") as other:
        assert other.execute("SELECT version_num FROM alembic_version").fetchall() == [(NEWEST,)]
    other.close()


def test_every_table_can_be_made_in_postgresql() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    for table in metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
