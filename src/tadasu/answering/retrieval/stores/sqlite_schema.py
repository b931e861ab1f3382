"""The tables of the index file, and the check that a file is one of ours and fits."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tadasu.errors import StoreDamaged, StoreIncompatible

SCHEMA_VERSION: Final = 1
APPLICATION_ID: Final = 0x54445355  # "TDSU": tells our files from other SQLite databases

# Rows of `passages` are never reused (AUTOINCREMENT) and never updated, so a vector copied out under its row number
# stays right for ever; see matrix.py. `generations` has one row per change of the index: its last number is what
# caches are keyed by, its token ties a derived file to this very history. The FTS table keeps postings only: every
# score is computed by postings.py from what the reader may see, so no column sizes and no contents are needed there.
_TABLES: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE generations(number INTEGER PRIMARY KEY, token TEXT NOT NULL);
CREATE TABLE tenants(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE documents(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant INTEGER NOT NULL REFERENCES tenants(number),
    restricted INTEGER NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    blocks TEXT NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    date TEXT NOT NULL,
    origin TEXT NOT NULL,
    metadata TEXT NOT NULL
);
CREATE INDEX documents_by_source ON documents(tenant, source);
CREATE TABLE document_groups(
    document INTEGER NOT NULL REFERENCES documents(number),
    name TEXT NOT NULL,
    PRIMARY KEY(document, name)
) WITHOUT ROWID;
CREATE TABLE passages(
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents(number),
    source TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    language TEXT NOT NULL,
    date TEXT NOT NULL,
    length INTEGER NOT NULL
);
CREATE INDEX passages_by_document ON passages(document);
CREATE TABLE contents(
    row INTEGER PRIMARY KEY REFERENCES passages(row),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    start INTEGER NOT NULL,
    strips TEXT NOT NULL,
    headings TEXT NOT NULL,
    page INTEGER,
    content_hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    tokens TEXT NOT NULL
);
CREATE TABLE vectors(row INTEGER PRIMARY KEY REFERENCES passages(row), vector BLOB NOT NULL, strips BLOB NOT NULL);
CREATE VIRTUAL TABLE terms USING fts5(
    term, content='', columnsize=0, tokenize="unicode61 remove_diacritics 0"
);
CREATE VIRTUAL TABLE postings USING fts5vocab('terms', 'instance');
"""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What an index was made with. Vectors or terms of another make cannot be compared with ours."""

    encoder: str
    dimensions: int
    analyzer: str

    def facts(self) -> dict[str, str]:
        """As the rows of the table `meta`."""
        return {"encoder": self.encoder, "dimensions": str(self.dimensions), "analyzer": self.analyzer}


def prepare(connection: sqlite3.Connection, *, path: Path, identity: IndexIdentity) -> None:
    """Create the tables in an empty database, or make sure that an existing one fits.

    Safe when two processes open a new file at once. Raises StoreDamaged for a database that is not ours,
    StoreIncompatible for one made with another schema, encoder or analyser.
    """
    if not _version(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _version(connection):
                _create(connection, path=path, identity=identity)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    _verify(connection, path=path, identity=identity)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _create(connection: sqlite3.Connection, *, path: Path, identity: IndexIdentity) -> None:
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise StoreDamaged(path=path, reason="a database of another program")
    for statement in _TABLES.split(";\n"):
        connection.execute(statement)
    connection.executemany("INSERT INTO meta VALUES(?, ?)", identity.facts().items())
    connection.execute("INSERT INTO generations VALUES(0, '')")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _verify(connection: sqlite3.Connection, *, path: Path, identity: IndexIdentity) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreDamaged(path=path, reason="a database of another program")
    found = _version(connection)
    if found != SCHEMA_VERSION:
        raise StoreIncompatible(path=path, found=f"index schema {found}", expected=f"index schema {SCHEMA_VERSION}")
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    for key, expected in identity.facts().items():
        if facts.get(key) != expected:
            raise StoreIncompatible(path=path, found=f"{key} {facts.get(key, 'unknown')}", expected=f"{key} {expected}")
