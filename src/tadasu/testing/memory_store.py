"""An index that lives in memory: small, plain, and right by inspection. For tests, and as the measure for engines."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tadasu.core.documents import Document, Passage, Reader, Scope
from tadasu.core.retrieved import BM25_B, BM25_K1, Hit, Metric, StoredPassage
from tadasu.ports import DocumentEntry, IndexedPassage, IndexStatistics

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatVector


def open_store(path: Path | str, *, encoder_id: str, dimensions: int, analyzer_id: str) -> MemoryStore:
    """A new, empty MemoryStore; the plugin behind ``tadasu.stores: memory``. Nothing is kept at `path`."""
    del path, encoder_id, analyzer_id
    return MemoryStore(dimensions=dimensions)


class MemoryStore:
    """ports.Store over dictionaries. `metric` chooses what the raw dense scores mean, as engines differ in that."""

    dense_metric: Metric

    def __init__(self, *, dimensions: int, metric: Metric = Metric.COSINE) -> None:
        if metric is Metric.BM25:
            raise ValueError("BM25 compares words, not vectors")
        self.dense_metric = metric
        self._dimensions = dimensions
        self._documents: dict[str, tuple[Document, tuple[IndexedPassage, ...]]] = {}

    # --- searching ---------------------------------------------------------------------------

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        """The `k` nearest passages of `scope`, nearest first, by brute force."""
        await asyncio.sleep(0)
        query = np.asarray(vector, dtype=np.float32)
        if query.shape != (self._dimensions,) or not np.isfinite(query).all():
            raise ValueError(f"a query vector must be {self._dimensions} finite numbers")
        norm = float(np.linalg.norm(query))
        unit = query / norm if norm > 0 else query
        hits = [
            Hit(item.passage.id, self._raw(float(item.vectors.passage @ unit))) for _, item in self._in_scope(scope)
        ]
        sign = 1.0 if self.dense_metric in {Metric.L2, Metric.SQUARED_L2} else -1.0
        hits.sort(key=lambda hit: (sign * (hit.score or 0.0), hit.passage_id))
        return hits[: max(0, k)]

    def _raw(self, cosine: float) -> float:
        cosine = max(-1.0, min(1.0, cosine))
        match self.dense_metric:
            case Metric.L2:
                return math.sqrt(2.0 - 2.0 * cosine)
            case Metric.SQUARED_L2:
                return 2.0 - 2.0 * cosine
            case _:
                return cosine

    async def lexical(self, terms: Sequence[str], *, k: int, scope: Scope) -> Sequence[Hit]:
        """The `k` passages of `scope` with the highest BM25, each distinct term counted once."""
        await asyncio.sleep(0)
        visible = [item for _, item in self._visible(scope.reader)]
        average = sum(len(item.tokens) for item in visible) / len(visible) if visible else 0.0
        weights = self._weights(terms, visible)
        hits = []
        for _, item in self._in_scope(scope):
            counts = Counter(item.tokens)
            score = 0.0
            for term, weight in weights.items():
                if counts[term]:
                    norm = BM25_K1 * (1.0 - BM25_B + BM25_B * len(item.tokens) / average)
                    score += weight * counts[term] * (BM25_K1 + 1.0) / (counts[term] + norm)
            if score > 0:
                hits.append(Hit(item.passage.id, score))
        hits.sort(key=lambda hit: (-(hit.score or 0.0), hit.passage_id))
        return hits[: max(0, k)]

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> Sequence[StoredPassage]:
        """The passages of `ids` that `scope` allows, in that order."""
        await asyncio.sleep(0)
        found = {
            item.passage.id: StoredPassage(item.passage, item.vectors.passage, item.vectors.strips)
            for _, item in self._in_scope(scope)
        }
        return [found[id_] for id_ in ids if id_ in found]

    async def term_weights(self, terms: Sequence[str], *, reader: Reader) -> Mapping[str, float]:
        """Inverse document frequency of each distinct term over what `reader` may see."""
        await asyncio.sleep(0)
        return self._weights(terms, [item for _, item in self._visible(reader)])

    @staticmethod
    def _weights(terms: Sequence[str], visible: Sequence[IndexedPassage]) -> dict[str, float]:
        weights = {}
        for term in dict.fromkeys(terms):
            holding = sum(term in item.tokens for item in visible)
            weights[term] = math.log1p((len(visible) - holding + 0.5) / (holding + 0.5))
        return weights

    def _visible(self, reader: Reader) -> Iterator[tuple[Document, IndexedPassage]]:
        for document, passages in self._documents.values():
            if reader.may_see(document.access):
                for item in passages:
                    yield document, item

    def _in_scope(self, scope: Scope) -> Iterator[tuple[Document, IndexedPassage]]:
        for document, item in self._visible(scope.reader):
            if document.id not in scope.exclude_documents and _fits(item.passage, scope):
                yield document, item

    # --- documents ---------------------------------------------------------------------------

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        """The document of that id or, failing that, at that source."""
        await asyncio.sleep(0)
        seen = [document for document, _ in self._documents.values() if reader.may_see(document.access)]
        by_id = [document for document in seen if document.id == id_or_source]
        by_source = sorted((d for d in seen if d.source == id_or_source), key=lambda d: d.id)
        return next(iter(by_id + by_source), None)

    async def sources(self, *, reader: Reader) -> Sequence[tuple[str, str]]:
        """(document id, source) of what `reader` may see, by source."""
        await asyncio.sleep(0)
        seen = [(d.id, d.source) for d, _ in self._documents.values() if reader.may_see(d.access)]
        return sorted(seen, key=lambda pair: (pair[1], pair[0]))

    async def entries(self, *, reader: Reader) -> Sequence[DocumentEntry]:
        """Every document that `reader` may see, without its text, by source."""
        await asyncio.sleep(0)
        seen = [d for d, _ in self._documents.values() if reader.may_see(d.access)]
        return [
            DocumentEntry(d.id, d.source, d.date, d.language, tuple(sorted(d.access.groups)))
            for d in sorted(seen, key=lambda d: (d.source, d.id))
        ]

    async def groups(self, *, tenant: str) -> Mapping[str, frozenset[str]]:
        """source → access groups of every document of `tenant`."""
        await asyncio.sleep(0)
        return {d.source: d.access.groups for d, _ in self._documents.values() if d.access.tenant == tenant}

    async def statistics(self, *, reader: Reader) -> IndexStatistics:
        """Counts over what `reader` may see."""
        await asyncio.sleep(0)
        seen = [
            (document, passages) for document, passages in self._documents.values() if reader.may_see(document.access)
        ]
        return IndexStatistics(
            documents=len(seen),
            passages=sum(len(passages) for _, passages in seen),
            languages=dict(sorted(Counter(document.language for document, _ in seen).items())),
            media_types=dict(sorted(Counter(document.media_type for document, _ in seen).items())),
        )

    # --- writing -----------------------------------------------------------------------------

    async def put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        """Store `document`, replacing what has its id. Raises ValueError for passages that do not fit."""
        await asyncio.sleep(0)
        for item in passages:
            if item.passage.document_id != document.id:
                raise ValueError(f"document {document.id}: every passage must name it as its document")
            vectors = item.vectors
            if vectors.passage.shape != (self._dimensions,) or not np.isfinite(vectors.passage).all():
                raise ValueError(f"passage {item.passage.id}: its vector must be {self._dimensions} finite numbers")
            if (
                vectors.strips.size != len(item.passage.strips) * self._dimensions
                or not np.isfinite(vectors.strips).all()
            ):
                raise ValueError(f"passage {item.passage.id}: strips need one vector each")
        if len({item.passage.id for item in passages}) != len(passages):
            raise ValueError(f"document {document.id}: two passages have one id")
        others = {i.passage.id for id_, (_, held) in self._documents.items() if id_ != document.id for i in held}
        if not others.isdisjoint(item.passage.id for item in passages):
            raise ValueError(f"document {document.id}: a passage id is another document's")
        self._documents[document.id] = (document, tuple(passages))

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Remove documents; ids that are not there are ignored."""
        await asyncio.sleep(0)
        for id_ in document_ids:
            self._documents.pop(id_, None)

    async def fingerprints(self, *, tenant: str, source_prefix: str = "") -> Mapping[str, str]:
        """source → content hash of the documents of `tenant` whose source starts with the prefix."""
        await asyncio.sleep(0)
        return {
            document.source: document.content_hash
            for document, _ in self._documents.values()
            if document.access.tenant == tenant and document.source.startswith(source_prefix)
        }

    async def close(self) -> None:
        """Forget everything."""
        await asyncio.sleep(0)
        self._documents.clear()


def _fits(passage: Passage, scope: Scope) -> bool:
    dated = bool(scope.since or scope.until)
    return (
        passage.id not in scope.exclude_passages
        and (scope.language is None or passage.language == scope.language)
        and passage.source.startswith(scope.source_prefix)
        and (not dated or bool(passage.date))
        and (not scope.since or passage.date >= scope.since)
        and (not scope.until or passage.date <= scope.until)
    )
