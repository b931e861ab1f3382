"""The state database: opened, brought to the newest form, and its failures named.

SQLite in write-ahead mode by default; any SQLAlchemy address (``postgresql+psycopg://…``) works too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from tadasu.errors import StateDamaged, StateIncompatible, StoreBusy, StoreError, StoreUnwritable
from tadasu.runtime.write_ahead import log_ahead

NEWEST: Final = "0003"
"""The revision that this code works with; a test holds it against the migrations."""
_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_BEGIN: Final = "tadasu_begin"
_LOCK: Final = 0x7AD_A50
"""What PostgreSQL's advisory lock of `alone` is called; SQLite has one writer anyway."""


def open_database(place: Path | str, *, busy_seconds: float = 5.0) -> Engine:
    """An engine for the database at `place` (a file, or an SQLAlchemy address), in its newest form.

    Raises StateIncompatible where a newer version of Tadasu has changed it, StateDamaged where the file is no
    database, StoreBusy where another process holds it for longer than `busy_seconds`, StoreUnwritable where the system
    does not let us.
    """
    url = make_url(place) if isinstance(place, str) and "://" in place else URL.create("sqlite", database=str(place))
    engine = create_engine(url, **({"connect_args": {"timeout": busy_seconds}} if _is_sqlite(url) else {}))
    if _is_sqlite(url):
        event.listen(engine, "connect", partial(_on_connect, busy_seconds=busy_seconds))
        event.listen(engine, "begin", _on_begin)
    try:
        with translated(engine):
            _upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _on_connect(connection: sqlite3.Connection, _entry: ConnectionPoolEntry, *, busy_seconds: float) -> None:
    # The driver's own transactions leave out DDL; without them, `_on_begin` covers everything alike.
    connection.isolation_level = None
    log_ahead(connection, busy_seconds=busy_seconds)
    # Every commit outlives a killed process; a power cut may lose the last ones, never the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _on_begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))


def _upgrade(engine: Engine) -> None:
    # Alembic takes a tenth of a second to load; it is left alone where there is nothing to do.
    with engine.connect() as connection:
        if _revision(connection) == NEWEST:
            return
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    with engine.connect().execution_options(**{_BEGIN: "BEGIN IMMEDIATE"}) as connection, connection.begin():
        found = _revision(connection)
        known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
        if found is not None and found not in known:
            raise StateIncompatible(
                path=engine.url.database, found=f"state schema {found}", expected=f"state schema {NEWEST}"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """A transaction that no other writer can come in between: what it reads is so until it has written."""
    with engine.connect().execution_options(**{_BEGIN: "BEGIN IMMEDIATE"}) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        yield connection


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """The database's failures as ours."""
    try:
        yield
    except DBAPIError as error:
        raise _meaning(error, engine) from error


def _meaning(error: DBAPIError, engine: Engine) -> StoreError:
    path = engine.url.database or engine.url.render_as_string(hide_password=True)
    code = getattr(error.orig, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreBusy(path=path)
    if primary in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR}:
        return StateDamaged(path=path, reason=error.orig)
    return StoreUnwritable(path=path, reason=error.orig)
