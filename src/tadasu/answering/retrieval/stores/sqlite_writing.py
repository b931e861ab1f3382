"""What changes in the index file when a document comes, goes or is replaced. Runs inside one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from tadasu.answering.retrieval.stores.postings import posting_text
from tadasu.answering.retrieval.stores.sqlite_rows import content_row, document_row, passage_row, vector_row
from tadasu.core.documents import Document
from tadasu.core.ids import digest
from tadasu.ports import IndexedPassage


def put_document(
    connection: sqlite3.Connection, document: Document, passages: Sequence[IndexedPassage], *, dimensions: int
) -> None:
    """Store `document`, in the place of what has its id."""
    delete_document(connection, document.id)
    connection.execute("INSERT OR IGNORE INTO tenants(name) VALUES(?)", (document.access.tenant,))
    tenant = connection.execute("SELECT number FROM tenants WHERE name = ?", (document.access.tenant,)).fetchone()[0]
    values = document_row(document, tenant=tenant)
    number = connection.execute(f"INSERT INTO documents VALUES(NULL, {', '.join('?' * len(values))})", values).lastrowid
    assert number is not None
    connection.executemany(
        "INSERT INTO document_groups VALUES(?, ?)", [(number, name) for name in sorted(document.access.groups)]
    )
    first = _next_row(connection)
    rows = list(enumerate(passages, start=first))
    connection.executemany(
        "INSERT INTO passages VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        [passage_row(item, row=row, document=number) for row, item in rows],
    )
    connection.executemany(
        "INSERT INTO contents VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [content_row(item, row=row) for row, item in rows],
    )
    connection.executemany(
        "INSERT INTO vectors VALUES(?, ?, ?)", [vector_row(item, row=row, dimensions=dimensions) for row, item in rows]
    )
    connection.executemany(
        "INSERT INTO terms(rowid, term) VALUES(?, ?)",
        [(row, posting_text(item.tokens, tenant=tenant)) for row, item in rows],
    )


def _next_row(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
    return 1 if found is None else int(found[0]) + 1


def delete_document(connection: sqlite3.Connection, document_id: str) -> bool:
    """Remove a document with all that belongs to it; False where there was none."""
    found = connection.execute("SELECT number, tenant FROM documents WHERE id = ?", (document_id,)).fetchone()
    if found is None:
        return False
    number, tenant = found
    rows = connection.execute(
        "SELECT c.row, c.tokens FROM passages p JOIN contents c ON c.row = p.row WHERE p.document = ?", (number,)
    ).fetchall()
    # A table without contents needs the very terms to take them out again.
    connection.executemany(
        "INSERT INTO terms(terms, rowid, term) VALUES('delete', ?, ?)",
        [(row, posting_text(json.loads(tokens), tenant=tenant)) for row, tokens in rows],
    )
    keys = [(row,) for row, _ in rows]
    connection.executemany("DELETE FROM vectors WHERE row = ?", keys)
    connection.executemany("DELETE FROM contents WHERE row = ?", keys)
    connection.executemany("DELETE FROM passages WHERE row = ?", keys)
    connection.execute("DELETE FROM document_groups WHERE document = ?", (number,))
    connection.execute("DELETE FROM documents WHERE number = ?", (number,))
    return True


def next_generation(connection: sqlite3.Connection, *changes: str) -> None:
    """Number this change. Its token chains over all changes before it, so equal tokens mean equal histories."""
    number, token = connection.execute("SELECT number, token FROM generations ORDER BY number DESC LIMIT 1").fetchone()
    connection.execute("INSERT INTO generations VALUES(?, ?)", (number + 1, digest(token, *changes)[:16]))
