"""Small corpora for the store suite: documents from a few words, with vectors that are chosen or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.core.documents import Access, Block, BlockKind, Document, Origin, Passage, Span
from tadasu.core.ids import digest, document_id, passage_id
from tadasu.core.vectors import PassageVectors
from tadasu.ports import IndexedPassage

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector

EVERYONE: Final = Access()


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """A document to be stored: `passages` are its search terms, a tuple per passage; `seed` moves its vectors."""

    source: str
    passages: tuple[tuple[str, ...], ...]
    access: Access = EVERYONE
    language: str = "en"
    date: str = ""
    seed: int = 0

    @property
    def id(self) -> str:
        """Id of the document, the same for every content."""
        return document_id(self.access.tenant, self.source)

    def built(self, *, dimensions: int) -> tuple[Document, list[IndexedPassage]]:
        """The document and its passages, ready for `put`."""
        texts = [" ".join(tokens) or "…" for tokens in self.passages]
        text = "\n".join(texts)
        content_hash = digest(self.source, text, str(self.seed), self.date, self.language)
        document = Document(
            id=self.id,
            source=self.source,
            title=f"About {self.source}",
            text=text,
            content_hash=content_hash,
            blocks=(Block(BlockKind.PARAGRAPH, Span(0, len(text)), page=1),),
            language=self.language,
            date=self.date,
            access=self.access,
            metadata={"author": "計測部"},
        )
        items = []
        start = 0
        for ordinal, (tokens, body) in enumerate(zip(self.passages, texts, strict=True)):
            items.append(self._passage(document, ordinal, tokens, body, start, dimensions))
            start += len(body) + 1
        return document, items

    def _passage(
        self, document: Document, ordinal: int, tokens: tuple[str, ...], body: str, start: int, dimensions: int
    ) -> IndexedPassage:
        middle = len(body) // 2
        strips = (Span(0, middle), Span(middle, len(body))) if middle else (Span(0, len(body)),)
        passage = Passage(
            id=passage_id(document.id, document.content_hash, ordinal),
            document_id=document.id,
            source=document.source,
            title=document.title,
            text=body,
            span=Span(start, start + len(body)),
            strips=strips,
            ordinal=ordinal,
            headings=("Measuring", "測定"),
            page=ordinal + 1 if ordinal % 2 else None,
            language=document.language,
            date=document.date,
            content_hash=digest(body),
            kind=BlockKind.TABLE if ordinal % 2 else BlockKind.PARAGRAPH,
            origin=Origin.INTERNAL,
            access=document.access,
        )
        drawn = unit_vectors(1 + len(strips), dimensions=dimensions, seed=f"{passage.id}{self.seed}")
        return IndexedPassage(passage, tokens, PassageVectors(drawn[0], drawn[1:]))


def unit_vectors(count: int, *, dimensions: int, seed: str) -> FloatMatrix:
    """`count` directions, the same for the same seed: (count, dimensions) float32, L2-normalised."""
    generator = np.random.default_rng(int(digest(seed)[:12], 16))
    drawn: FloatMatrix = generator.standard_normal((count, dimensions)).astype(np.float32)
    lengths: FloatMatrix = np.linalg.norm(drawn, axis=1, keepdims=True).astype(np.float32)
    return np.divide(drawn, lengths)


def toward(vector: FloatVector, *, cosine: float, dimensions: int) -> FloatVector:
    """A unit vector whose cosine with the unit vector `vector` is `cosine`."""
    other = unit_vectors(1, dimensions=dimensions, seed="sideways")[0]
    across = other - float(other @ vector) * vector
    across /= np.float32(np.linalg.norm(across))
    mixed: FloatVector = (cosine * vector + np.sqrt(1.0 - cosine * cosine) * across).astype(np.float32)
    return mixed


def with_vectors(items: Sequence[IndexedPassage], vectors: Sequence[FloatVector]) -> list[IndexedPassage]:
    """`items` with these passage vectors in place of their own."""
    return [
        IndexedPassage(item.passage, item.tokens, PassageVectors(vector, item.vectors.strips))
        for item, vector in zip(items, vectors, strict=True)
    ]
