"""What a search may touch, as SQL and as arrays of rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.answering.retrieval.stores.postings import VisiblePassages
from tadasu.core.documents import Reader, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEES: Final = (
    "d.tenant = (SELECT number FROM tenants WHERE name = ?) AND (d.restricted = 0 OR EXISTS("
    "SELECT 1 FROM document_groups g WHERE g.document = d.number AND g.name IN (SELECT value FROM json_each(?))))"
)


def reader_condition(reader: Reader) -> tuple[str, list[object]]:
    """What makes a document `d` visible to `reader`, as SQL and its parameters. The same rule as Reader.may_see."""
    return _SEES, [reader.tenant, json.dumps(sorted(reader.groups))]


def scope_condition(scope: Scope) -> tuple[str, list[object]]:
    """What makes a passage `p` of a document `d` part of `scope`, exclusions apart, as SQL and its parameters."""
    condition, values = reader_condition(scope.reader)
    if scope.language is not None:
        condition += " AND p.language = ?"
        values.append(scope.language)
    if scope.source_prefix:
        condition += " AND substr(p.source, 1, ?) = ?"
        values += [len(scope.source_prefix), scope.source_prefix]
    if scope.since or scope.until:
        condition += " AND p.date <> ''"
    if scope.since:
        condition += " AND p.date >= ?"
        values.append(scope.since)
    if scope.until:
        condition += " AND p.date <= ?"
        values.append(scope.until)
    return condition, values


def generation_of(connection: sqlite3.Connection) -> int:
    """Number of the change that this snapshot shows."""
    return int(connection.execute("SELECT max(number) FROM generations").fetchone()[0])


def read_visible(connection: sqlite3.Connection, reader: Reader) -> VisiblePassages:
    """The passages that `reader` may see in this snapshot."""
    condition, values = reader_condition(reader)
    rows, lengths = connection.execute(
        "SELECT group_concat(p.row), group_concat(p.length) "
        f"FROM documents d JOIN passages p ON p.document = d.number WHERE {condition}",
        values,
    ).fetchone()
    tenant = connection.execute("SELECT number FROM tenants WHERE name = ?", (reader.tenant,)).fetchone()
    row_array, length_array = _integers(rows), _integers(lengths).astype(np.float64)
    order = np.argsort(row_array)
    return VisiblePassages(
        tenant=None if tenant is None else int(tenant[0]),
        rows=row_array[order],
        lengths=length_array[order],
        average_length=float(length_array.mean()) if len(length_array) else 0.0,
    )


def read_allowed(connection: sqlite3.Connection, scope: Scope) -> NDArray[np.int64]:
    """Rows of the passages in `scope`, ascending, exclusions apart."""
    condition, values = scope_condition(scope)
    rows = connection.execute(
        f"SELECT group_concat(p.row) FROM documents d JOIN passages p ON p.document = d.number WHERE {condition}",
        values,
    ).fetchone()[0]
    return np.sort(_integers(rows))


def read_excluded(connection: sqlite3.Connection, scope: Scope) -> NDArray[np.int64]:
    """Rows that earlier rounds have ruled out, ascending."""
    rows: list[tuple[int]] = []
    if scope.exclude_passages:
        rows += connection.execute(
            "SELECT row FROM passages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(scope.exclude_passages)),),
        ).fetchall()
    if scope.exclude_documents:
        rows += connection.execute(
            "SELECT p.row FROM passages p JOIN documents d ON d.number = p.document "
            "WHERE d.id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(scope.exclude_documents)),),
        ).fetchall()
    return np.unique(np.array([row for (row,) in rows], dtype=np.int64))


def has_filters(scope: Scope) -> bool:
    """Whether `scope` is narrower than what its reader may see, exclusions apart."""
    return scope.language is not None or bool(scope.source_prefix or scope.since or scope.until)


def filters_of(scope: Scope) -> Hashable:
    """What tells two scopes apart, exclusions aside."""
    return scope.reader, scope.language, scope.source_prefix, scope.since, scope.until


def positions_in(rows: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where `wanted` rows stand in the ascending `rows`; those that are not there are left out."""
    if not len(rows):
        return np.empty(0, np.int64)
    positions = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    found: NDArray[np.int64] = positions[rows[positions] == wanted]
    return found


def _integers(joined: str | None) -> NDArray[np.int64]:
    return np.empty(0, np.int64) if joined is None else np.fromstring(joined, dtype=np.int64, sep=",")
