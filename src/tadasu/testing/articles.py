"""Shared passages as documents ready for a store: one document per article, one passage per row.

Training and benchmarks both build their indexes here, and encode and analyse passages as ingestion does, so that what
is fitted, what is measured and what is used are the same thing.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tadasu.answering.ingestion.pipeline import passage_text
from tadasu.answering.ingestion.reading import terms_of
from tadasu.core.documents import Document, Passage, Span
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.ports import Encoder, IndexedPassage, PassageIndex
from tadasu.testing.datasets import Part, PassageRow, passages
from tadasu.text.segment import segment

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix

_Item = TypeVar("_Item")
_JAPANESE = frozenset({Part.JAQUAD_TRAIN, Part.JAQUAD_DEV, Part.JSQUAD_VALID})
_BETWEEN = "\n\n"
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Article:
    """A document and its passages."""

    document: Document
    passages: tuple[Passage, ...]


def language_of(part: Part) -> str:
    """Language of a part's passages."""
    return "ja" if part in _JAPANESE else "en"


def document_id(row: PassageRow) -> str:
    """Id of the document that `row` is a passage of."""
    return f"{row.part.name.lower()}-{hashlib.sha256(row.key.encode()).hexdigest()[:12]}"


def articles(rows: Iterable[PassageRow]) -> list[Article]:
    """Rows of one article (one key within a part) as one document, in the order of the rows; ids are the rows' own."""
    grouped: dict[str, list[PassageRow]] = {}
    for row in rows:
        grouped.setdefault(document_id(row), []).append(row)
    return [_article(id_, group) for id_, group in grouped.items()]


def _article(id_: str, group: Sequence[PassageRow]) -> Article:
    first = group[0]
    title, language = first.title.replace("_", " "), language_of(first.part)
    text = _BETWEEN.join(row.text for row in group)
    document = Document(
        id=id_,
        source=f"{first.part.value.strip('_/')}/{id_}",
        title=title,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        language=language,
    )
    found: list[Passage] = []
    start = 0
    for ordinal, row in enumerate(group):
        spans = tuple(Span(*span) for span in segment(row.text, language=language))
        found.append(
            Passage(
                id=row.id,
                document_id=id_,
                source=document.source,
                title=title,
                text=row.text,
                span=Span(start, start + len(row.text)),
                strips=spans,
                ordinal=ordinal,
                language=language,
                content_hash=hashlib.sha256(row.text.encode()).hexdigest(),
            )
        )
        start += len(row.text) + len(_BETWEEN)
    return Article(document, tuple(found))


def chunked(part: Part, rows: Iterable[PassageRow], *, limit: int) -> list[PassageRow]:
    """Long rows (covidqa: whole papers) as passages of at most `limit` code points, cut where sentences end.

    Ids are ``<row id>.<n>``; part, title and key are the row's, so that the split is too.
    """
    pieces: list[PassageRow] = []
    for row in rows:
        start, last = 0, 0
        bounds: list[int] = []
        for begin, end in segment(row.text, language=language_of(part), max_length=limit):
            if end - start > limit and last > start:
                bounds.append(begin)
                start = begin
            last = end
        for number, (begin, end) in enumerate(pairwise([0, *bounds, len(row.text)])):
            pieces.append(replace(row, id=f"{row.id}.{number}", text=row.text[begin:end]))
    return [piece for piece in pieces if piece.text.strip()]


async def index(found: Sequence[Article], *, encoder: Encoder, store: PassageIndex) -> int:
    """Encode and store articles; give the number of passages."""
    flat = [passage for article in found for passage in article.passages]
    vectors = iter(encode(flat, encoder=encoder))
    for article in found:
        items = [
            IndexedPassage(passage=passage, tokens=tuple(terms_of(passage)), vectors=next(vectors))
            for passage in article.passages
        ]
        await store.put(article.document, items)
    return len(flat)


def encode(found: Sequence[Passage], *, encoder: Encoder) -> Iterator[PassageVectors]:
    """Vectors of passages, a batch at a time."""
    for start in range(0, len(found), _BATCH):
        yield from encoder.encode_passages([passage_text(passage) for passage in found[start : start + _BATCH]])


class CachedEncoder:
    """An encoder that remembers on disk, for fitting and measuring again and again with the same one."""

    def __init__(self, encoder: Encoder, path: Path) -> None:
        self._encoder = encoder
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._kept = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._kept.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, vectors BLOB) WITHOUT ROWID")

    @property
    def id(self) -> str:
        """The id of the encoder behind."""
        return self._encoder.id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._encoder.dimensions

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        """See `tadasu.ports.Encoder`."""
        keys = [self._key("query", query) for query in queries]
        self._fill(queries, keys, lambda missing: [row[None] for row in self._encoder.encode_queries(missing)])
        return np.concatenate([self._get(key) for key in keys]) if keys else np.zeros((0, self.dimensions), np.float32)

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        """See `tadasu.ports.Encoder`."""
        keys = [self._key("passage", repr((one.title, one.text, one.strips))) for one in passages]

        def encode(missing: Sequence[PassageText]) -> list[FloatMatrix]:
            return [np.vstack([one.passage[None], one.strips]) for one in self._encoder.encode_passages(missing)]

        self._fill(passages, keys, encode)
        return [PassageVectors(rows[0], rows[1:]) for rows in map(self._get, keys)]

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.id}\n{kind}\n{text}".encode()).digest()

    def _get(self, key: bytes) -> FloatMatrix:
        with self._lock:
            (blob,) = self._kept.execute("SELECT vectors FROM kept WHERE key = ?", (key,)).fetchone()
        return np.frombuffer(blob, dtype=np.float32).reshape(-1, self.dimensions)

    def _fill(
        self, items: Sequence[_Item], keys: Sequence[bytes], encode: Callable[[Sequence[_Item]], list[FloatMatrix]]
    ) -> None:
        with self._lock:
            missing = {key: item for key, item in zip(keys, items, strict=True) if not self._has(key)}
        if missing:
            made = encode(list(missing.values()))
            rows = [(key, rows.tobytes()) for key, rows in zip(missing, made, strict=True)]
            with self._lock:
                self._kept.execute("BEGIN")
                self._kept.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
                self._kept.execute("COMMIT")

    def _has(self, key: bytes) -> bool:
        return self._kept.execute("SELECT 1 FROM kept WHERE key = ?", (key,)).fetchone() is not None


def rows_of(*parts: Part) -> list[PassageRow]:
    """All passages of several parts."""
    return [row for part in parts for row in passages(part)]
