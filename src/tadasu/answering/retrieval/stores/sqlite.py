"""The embedded index: one SQLite file with rows, keyword postings and vectors, searched exactly.

The file is the only truth. Beside it lies a derived copy of the vectors (``<name>.vectors``) that is mapped into
memory and made anew whenever it is missing, damaged or of another history. Fine to about 200,000 passages.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.answering.retrieval.stores.matrix import MatrixView, VectorMatrix
from tadasu.answering.retrieval.stores.postings import VisiblePassages
from tadasu.answering.retrieval.stores.recent import Recent
from tadasu.answering.retrieval.stores.sqlite_connections import Connections
from tadasu.answering.retrieval.stores.sqlite_rows import (
    DOCUMENT_COLUMNS,
    PASSAGE_COLUMNS,
    compact,
    read_document,
    read_entries,
    read_passage,
)
from tadasu.answering.retrieval.stores.sqlite_schema import IndexIdentity, prepare
from tadasu.answering.retrieval.stores.sqlite_scope import (
    filters_of,
    generation_of,
    has_filters,
    positions_in,
    read_allowed,
    read_excluded,
    read_visible,
    reader_condition,
    scope_condition,
)
from tadasu.answering.retrieval.stores.sqlite_writing import delete_document, next_generation, put_document
from tadasu.core.documents import Document, Reader, Scope
from tadasu.core.retrieved import Hit, Metric, StoredPassage
from tadasu.ports import DocumentEntry, IndexedPassage, IndexStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tadasu.core.vectors import FloatVector

_SCOPES_KEPT: Final = 32


def open_store(
    path: Path | str, *, encoder_id: str, dimensions: int, analyzer_id: str, busy_seconds: float = 5.0
) -> SqliteStore:
    """Open the index at `path`, made if it is not there; the plugin behind ``tadasu.stores: sqlite``.

    Raises StoreIncompatible where it was made with another encoder, analyser or schema, StoreDamaged where the file is
    no index, StoreBusy where another process holds it for longer than `busy_seconds`, StoreUnwritable where the
    system does not let us.
    """
    identity = IndexIdentity(encoder=encoder_id, dimensions=dimensions, analyzer=analyzer_id)
    return SqliteStore(Path(path), identity=identity, busy_seconds=busy_seconds)


class SqliteStore:
    """ports.Store over one SQLite file. Any number of processes may read while one writes.

    A search sees the last commit before it began. All work is done in threads, off the event loop.
    """

    dense_metric: Metric = Metric.COSINE

    def __init__(self, path: Path, *, identity: IndexIdentity, busy_seconds: float = 5.0) -> None:
        self._dimensions = identity.dimensions
        self._connections = Connections(path, busy_seconds=busy_seconds)
        try:
            with self._connections.plain() as connection:
                prepare(connection, path=path, identity=identity)
        except BaseException:
            self._connections.close()
            raise
        self._matrix = VectorMatrix(path.with_name(path.name + ".vectors"), dimensions=identity.dimensions)
        self._visible: Recent[VisiblePassages] = Recent(_SCOPES_KEPT)
        self._allowed: Recent[NDArray[np.int64]] = Recent(_SCOPES_KEPT)
        self._positions: Recent[tuple[NDArray[np.int64], NDArray[np.int64]]] = Recent(_SCOPES_KEPT)
        self._wrote = False

    # --- searching ---------------------------------------------------------------------------

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        """The `k` nearest passages of `scope` by cosine, exactly. Raises ValueError for a vector of another shape."""
        query = np.asarray(vector, dtype=np.float32)
        if query.shape != (self._dimensions,) or not np.isfinite(query).all():
            raise ValueError(f"a query vector must be {self._dimensions} finite numbers")
        return await asyncio.to_thread(self._dense, query, k, scope)

    def _dense(self, query: FloatVector, k: int, scope: Scope) -> list[Hit]:
        with self._connections.reading() as connection:
            view = self._matrix.view(connection)
            generation = generation_of(connection)
            in_base, in_tail = self._positions.get(
                (view.epoch, generation, filters_of(scope)),
                lambda: self._locate(connection, view, scope, generation),
            )
            rows = np.concatenate([view.base.rows[in_base], view.tail.rows[in_tail]])
            scores = np.concatenate([view.base.cosines(query, in_base), view.tail.cosines(query, in_tail)])
            norm = float(np.linalg.norm(query))
            scores = np.clip(scores / norm, -1.0, 1.0) if norm > 0 else scores
            return _best(connection, rows, scores, k=k, excluded=read_excluded(connection, scope))

    def _locate(
        self, connection: sqlite3.Connection, view: MatrixView, scope: Scope, generation: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        allowed = self._allowed_rows(connection, scope, generation)
        return positions_in(view.base.rows, allowed), positions_in(view.tail.rows, allowed)

    async def lexical(self, terms: Sequence[str], *, k: int, scope: Scope) -> Sequence[Hit]:
        """The `k` passages of `scope` with the highest BM25; statistics are over all that the reader may see."""
        return await asyncio.to_thread(self._lexical, tuple(terms), k, scope)

    def _lexical(self, terms: Sequence[str], k: int, scope: Scope) -> list[Hit]:
        with self._connections.reading() as connection:
            generation = generation_of(connection)
            visible = self._visible_passages(connection, scope.reader, generation)
            scores = visible.scores(connection, terms)
            matching = np.flatnonzero(scores > 0)
            if has_filters(scope) and len(matching):
                allowed = self._allowed_rows(connection, scope, generation)
                matching = matching[np.isin(visible.rows[matching], allowed, assume_unique=True)]
            excluded = read_excluded(connection, scope)
            return _best(connection, visible.rows[matching], scores[matching], k=k, excluded=excluded)

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> Sequence[StoredPassage]:
        """The passages of `ids` that `scope` allows, in that order, each once per mention."""
        return await asyncio.to_thread(self._fetch, tuple(ids), scope)

    def _fetch(self, ids: Sequence[str], scope: Scope) -> list[StoredPassage]:
        condition, values = scope_condition(scope)
        wanted = [id_ for id_ in dict.fromkeys(ids) if id_ not in scope.exclude_passages]
        with self._connections.reading() as connection:
            found = connection.execute(
                f"SELECT {PASSAGE_COLUMNS} FROM passages p JOIN documents d ON d.number = p.document "
                "JOIN tenants t ON t.number = d.tenant JOIN contents c ON c.row = p.row "
                "JOIN vectors v ON v.row = p.row "
                f"WHERE p.id IN (SELECT value FROM json_each(?)) AND {condition}",
                [compact(wanted), *values],
            ).fetchall()
            by_id = {row[0]: read_passage(connection, row, dimensions=self._dimensions) for row in found}
        return [
            by_id[id_] for id_ in ids if id_ in by_id and by_id[id_].passage.document_id not in scope.exclude_documents
        ]

    async def term_weights(self, terms: Sequence[str], *, reader: Reader) -> Mapping[str, float]:
        """Inverse document frequency of each distinct term over the passages that `reader` may see."""
        return await asyncio.to_thread(self._term_weights, tuple(terms), reader)

    def _term_weights(self, terms: Sequence[str], reader: Reader) -> dict[str, float]:
        with self._connections.reading() as connection:
            visible = self._visible_passages(connection, reader, generation_of(connection))
            return {term: visible.weight(connection, term) for term in dict.fromkeys(terms)}

    def _visible_passages(self, connection: sqlite3.Connection, reader: Reader, generation: int) -> VisiblePassages:
        return self._visible.get((generation, reader), lambda: read_visible(connection, reader))

    def _allowed_rows(self, connection: sqlite3.Connection, scope: Scope, generation: int) -> NDArray[np.int64]:
        if not has_filters(scope):
            return self._visible_passages(connection, scope.reader, generation).rows
        return self._allowed.get((generation, filters_of(scope)), lambda: read_allowed(connection, scope))

    # --- documents ---------------------------------------------------------------------------

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        """The document of that id or, failing that, at that source; None where there is none that `reader` may see."""
        return await asyncio.to_thread(self._document, id_or_source, reader)

    def _document(self, id_or_source: str, reader: Reader) -> Document | None:
        condition, values = reader_condition(reader)
        with self._connections.reading() as connection:
            row = connection.execute(
                f"SELECT {DOCUMENT_COLUMNS} FROM documents d JOIN tenants t ON t.number = d.tenant "
                f"WHERE (d.id = ? OR d.source = ?) AND {condition} ORDER BY d.id <> ?, d.id LIMIT 1",
                [id_or_source, id_or_source, *values, id_or_source],
            ).fetchone()
            return None if row is None else read_document(connection, row)

    async def sources(self, *, reader: Reader) -> Sequence[tuple[str, str]]:
        """(document id, source) of what `reader` may see, by source."""
        return await asyncio.to_thread(self._sources, reader)

    def _sources(self, reader: Reader) -> list[tuple[str, str]]:
        condition, values = reader_condition(reader)
        with self._connections.reading() as connection:
            return connection.execute(
                f"SELECT d.id, d.source FROM documents d WHERE {condition} ORDER BY d.source, d.id",
                values,
            ).fetchall()

    async def entries(self, *, reader: Reader) -> Sequence[DocumentEntry]:
        """Every document that `reader` may see, without its text, by source."""
        return await asyncio.to_thread(self._entries, reader)

    def _entries(self, reader: Reader) -> list[DocumentEntry]:
        condition, values = reader_condition(reader)
        with self._connections.reading() as connection:
            return read_entries(connection, condition, values)

    async def groups(self, *, tenant: str) -> Mapping[str, frozenset[str]]:
        """source → access groups of every document of `tenant`; for ingestion."""
        return await asyncio.to_thread(self._groups, tenant)

    def _groups(self, tenant: str) -> dict[str, frozenset[str]]:
        with self._connections.reading() as connection:
            entries = read_entries(connection, "d.tenant = (SELECT number FROM tenants WHERE name = ?)", [tenant])
            return {entry.source: frozenset(entry.groups) for entry in entries}

    async def statistics(self, *, reader: Reader) -> IndexStatistics:
        """Documents, passages, and documents by language and by media type, of what `reader` may see."""
        return await asyncio.to_thread(self._statistics, reader)

    def _statistics(self, reader: Reader) -> IndexStatistics:
        condition, values = reader_condition(reader)
        with self._connections.reading() as connection:
            rows = connection.execute(
                f"SELECT d.language, d.media_type FROM documents d WHERE {condition}",
                values,
            ).fetchall()
            visible = self._visible_passages(connection, reader, generation_of(connection))
        return IndexStatistics(
            documents=len(rows),
            passages=len(visible.rows),
            languages=dict(sorted(Counter(language for language, _ in rows).items())),
            media_types=dict(sorted(Counter(media_type for _, media_type in rows).items())),
        )

    # --- writing -----------------------------------------------------------------------------

    async def put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        """Store `document` in one transaction. Raises ValueError for passages that are not its own or ill-shaped."""
        if any(item.passage.document_id != document.id for item in passages):
            raise ValueError(f"document {document.id}: every passage must name it as its document")
        if len({item.passage.id for item in passages}) != len(passages):
            raise ValueError(f"document {document.id}: two passages have one id")
        await asyncio.to_thread(self._put, document, tuple(passages))

    def _put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        with self._connections.writing() as connection:
            put_document(connection, document, passages, dimensions=self._dimensions)
            next_generation(connection, "put", document.id, document.content_hash)
        self._wrote = True

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Remove documents in one transaction; ids that are not there are ignored."""
        await asyncio.to_thread(self._remove, tuple(document_ids))

    def _remove(self, document_ids: Sequence[str]) -> None:
        with self._connections.writing() as connection:
            gone = [id_ for id_ in dict.fromkeys(document_ids) if delete_document(connection, id_)]
            if gone:
                next_generation(connection, "remove", *gone)
                self._wrote = True

    async def fingerprints(self, *, tenant: str, source_prefix: str = "") -> Mapping[str, str]:
        """source → content hash of the documents of `tenant` whose source starts with the prefix; for ingestion."""
        return await asyncio.to_thread(self._fingerprints, tenant, source_prefix)

    def _fingerprints(self, tenant: str, source_prefix: str) -> dict[str, str]:
        with self._connections.reading() as connection:
            rows = connection.execute(
                "SELECT d.source, d.content_hash FROM documents d JOIN tenants t ON t.number = d.tenant "
                "WHERE t.name = ? AND substr(d.source, 1, ?) = ? ORDER BY d.source",
                (tenant, len(source_prefix), source_prefix),
            )
            return dict(rows)

    async def close(self) -> None:
        """Give back files and connections; after writing, leave the derived file ready for the next process."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self._wrote:
            with self._connections.reading() as connection:
                self._matrix.save(connection)
            self._wrote = False
        self._matrix.close()
        self._connections.close()


def _best(
    connection: sqlite3.Connection,
    rows: NDArray[np.int64],
    scores: NDArray[np.floating],
    *,
    k: int,
    excluded: NDArray[np.int64],
) -> list[Hit]:
    if len(excluded) and len(rows):
        kept = np.isin(rows, excluded, assume_unique=True, invert=True)
        rows, scores = rows[kept], scores[kept]
    if k <= 0 or not len(rows):
        return []
    if k < len(rows):
        # Everything that ties with the k-th stays in the running, so that ids decide, not the order of storing.
        bar = np.partition(scores, len(scores) - k)[len(scores) - k]
        near = scores >= bar
        rows, scores = rows[near], scores[near]
    wanted = [int(row) for row in rows]
    ids = dict(
        connection.execute(
            "SELECT row, id FROM passages WHERE row IN (SELECT value FROM json_each(?))", (compact(wanted),)
        )
    )
    hits = [Hit(ids[row], float(score)) for row, score in zip(wanted, scores, strict=True)]
    hits.sort(key=lambda hit: (-(hit.score or 0.0), hit.passage_id))
    return hits[:k]
