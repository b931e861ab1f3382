"""Documents and passages as rows of the index file, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.core.documents import Access, Block, BlockKind, Document, Origin, Passage, Span
from tadasu.core.retrieved import StoredPassage
from tadasu.ports import DocumentEntry, IndexedPassage

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector

DOCUMENT_COLUMNS: Final = (
    "d.number, d.id, t.name, d.restricted, d.source, d.title, d.text, d.content_hash, d.blocks, d.media_type, "
    "d.language, d.date, d.origin, d.metadata"
)
PASSAGE_COLUMNS: Final = (
    "p.id, d.id, p.source, c.title, c.text, c.start, c.strips, p.ordinal, c.headings, c.page, p.language, p.date, "
    "c.content_hash, c.kind, c.origin, t.name, d.restricted, d.number, v.vector, v.strips"
)


def compact(value: object) -> str:
    """`value` as JSON without spaces, every character outside ASCII escaped, so that any text can be kept."""
    return json.dumps(value, separators=(",", ":"))


def document_row(document: Document, *, tenant: int) -> tuple[object, ...]:
    """The values of a row of `documents`, without its number."""
    return (
        document.id,
        tenant,
        int(bool(document.access.groups)),
        document.source,
        document.title,
        document.text,
        document.content_hash,
        compact([(b.kind.value, b.span.start, b.span.end, b.level, b.page) for b in document.blocks]),
        document.media_type,
        document.language,
        document.date,
        document.origin.value,
        compact(dict(document.metadata)),
    )


def read_document(connection: sqlite3.Connection, row: tuple[object, ...]) -> Document:
    """The document of a row of DOCUMENT_COLUMNS."""
    (number, id_, tenant, restricted, source, title, text, content_hash, blocks, media_type, language, date, origin,
     metadata) = row  # fmt: skip
    return Document(
        id=str(id_),
        source=str(source),
        title=str(title),
        text=str(text),
        content_hash=str(content_hash),
        blocks=tuple(
            Block(BlockKind(kind), Span(start, end), level=level, page=page)
            for kind, start, end, level, page in json.loads(str(blocks))
        ),
        media_type=str(media_type),
        language=str(language),
        date=str(date),
        access=Access(str(tenant), _groups(connection, number) if restricted else frozenset()),
        origin=Origin(origin),
        metadata=json.loads(str(metadata)),
    )


def read_entries(connection: sqlite3.Connection, condition: str, values: Sequence[object]) -> list[DocumentEntry]:
    """The documents `d` that meet `condition`, by source."""
    named: dict[int, list[str]] = {}
    for number, name in connection.execute(
        "SELECT g.document, g.name FROM document_groups g JOIN documents d ON d.number = g.document "
        f"WHERE {condition} ORDER BY g.name",
        values,
    ):
        named.setdefault(number, []).append(name)
    rows = connection.execute(
        "SELECT d.number, d.id, d.source, d.date, d.language FROM documents d "
        f"WHERE {condition} ORDER BY d.source, d.id",
        values,
    )
    return [
        DocumentEntry(id_, source, date, language, tuple(named.get(number, ())))
        for number, id_, source, date, language in rows
    ]


def _groups(connection: sqlite3.Connection, document: object) -> frozenset[str]:
    rows = connection.execute("SELECT name FROM document_groups WHERE document = ?", (document,))
    return frozenset(name for (name,) in rows)


def passage_row(item: IndexedPassage, *, row: int, document: int) -> tuple[object, ...]:
    """The values of a row of `passages`."""
    passage = item.passage
    return (
        row,
        passage.id,
        document,
        passage.source,
        passage.ordinal,
        passage.language,
        passage.date,
        len(item.tokens),
    )


def content_row(item: IndexedPassage, *, row: int) -> tuple[object, ...]:
    """The values of a row of `contents`."""
    passage = item.passage
    return (
        row,
        passage.title,
        passage.text,
        passage.span.start,
        compact([(strip.start, strip.end) for strip in passage.strips]),
        compact(passage.headings),
        passage.page,
        passage.content_hash,
        passage.kind.value,
        passage.origin.value,
        compact(item.tokens),
    )


def vector_row(item: IndexedPassage, *, row: int, dimensions: int) -> tuple[object, ...]:
    """The values of a row of `vectors`: float32 for the passage, float16 for its strips (cosines to about 0.001).

    Raises ValueError for vectors of another shape or with values that are no numbers.
    """
    vector = np.ascontiguousarray(item.vectors.passage, dtype="<f4")
    strips = np.ascontiguousarray(item.vectors.strips, dtype="<f2")
    if vector.shape != (dimensions,) or not np.isfinite(vector).all():
        raise ValueError(f"passage {item.passage.id}: its vector must be {dimensions} finite numbers")
    if strips.size != len(item.passage.strips) * dimensions or not np.isfinite(strips).all():
        raise ValueError(f"passage {item.passage.id}: strips need one vector each, {dimensions} finite numbers")
    return row, vector.tobytes(), strips.tobytes()


def read_passage(connection: sqlite3.Connection, row: tuple[object, ...], *, dimensions: int) -> StoredPassage:
    """The passage and vectors of a row of PASSAGE_COLUMNS."""
    (id_, document_id, source, title, text, start, strips, ordinal, headings, page, language, date, content_hash, kind,
     origin, tenant, restricted, number, vector, strip_vectors) = row  # fmt: skip
    text = str(text)
    begin = int(str(start))
    passage = Passage(
        id=str(id_),
        document_id=str(document_id),
        source=str(source),
        title=str(title),
        text=text,
        span=Span(begin, begin + len(text)),
        strips=tuple(Span(start, end) for start, end in json.loads(str(strips))),
        ordinal=int(str(ordinal)),
        headings=tuple(json.loads(str(headings))),
        page=None if page is None else int(str(page)),
        language=str(language),
        date=str(date),
        content_hash=str(content_hash),
        kind=BlockKind(kind),
        origin=Origin(origin),
        access=Access(str(tenant), _groups(connection, number) if restricted else frozenset()),
    )
    assert isinstance(vector, bytes)
    assert isinstance(strip_vectors, bytes)
    return StoredPassage(passage, read_vector(vector), _read_strips(strip_vectors, dimensions=dimensions))


def read_vector(blob: bytes) -> FloatVector:
    """A stored passage vector."""
    return np.frombuffer(blob, dtype="<f4")


def _read_strips(blob: bytes, *, dimensions: int) -> FloatMatrix:
    matrix: FloatMatrix = np.frombuffer(blob, dtype="<f2").astype(np.float32).reshape(-1, dimensions)
    norms = np.sqrt(np.square(matrix).sum(axis=1, keepdims=True, dtype=np.float32))
    # Half precision moves the length by up to 0.001; a vector of zeros stays one.
    norms[norms == 0] = 1.0
    scaled: FloatMatrix = matrix / norms
    return scaled
