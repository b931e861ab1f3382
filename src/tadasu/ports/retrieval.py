"""Text to vectors, the store, and the search that is made of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tadasu.core.documents import Document, Passage, Reader, Scope
from tadasu.core.retrieved import Hit, Metric, Retrieval, StoredPassage
from tadasu.core.runs import SearchMode
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector


class TokenCounter(Protocol):
    """How long a text is for a model."""

    def count(self, text: str) -> int:
        """Tokens of `text`, without special ones."""
        ...


class PromptSpace(TokenCounter, Protocol):
    """How long evidence is for the model that reads it, and how much of it fits its prompt."""

    @property
    def counted_by(self) -> str:
        """Who counts, for a run: a tokenizer's name, or ``estimate``."""
        ...

    async def room(self, question: str, language: str) -> int | None:
        """Tokens of the model's window that are left for evidence; None where the window is not known."""
        ...


class Encoder(Protocol):
    """Texts to L2-normalised vectors. Thread-safe; blocking (callers move it off the event loop)."""

    @property
    def id(self) -> str:
        """Name and version; an index remembers it."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        """(n, d) float32, one row per query, in order."""
        ...

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        """One result per passage, in order; strips pooled from the passage's own pass. Nothing is cut silently."""
        ...


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage ready to be stored: `tokens` are the analyser's search terms, in order."""

    passage: Passage
    tokens: tuple[str, ...]
    vectors: PassageVectors


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """What a reader can see of an index. Counts cover visible documents only."""

    documents: int
    passages: int
    languages: Mapping[str, int]
    media_types: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A stored document as lists show it; `groups` are in order, none where all of its tenant may see it."""

    id: str
    source: str
    date: str
    language: str
    groups: tuple[str, ...]


class PassageSearch(Protocol):
    """Ranked search. `scope` is applied inside, before anything is ranked: what it hides is nowhere in the result."""

    dense_metric: Metric

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        """At most `k` hits, nearest first, scores raw in `dense_metric` (missing = unknown)."""
        ...

    async def lexical(self, terms: Sequence[str], *, k: int, scope: Scope) -> Sequence[Hit]:
        """At most `k` hits that hold any of `terms`, best BM25 first, score ≥ 0, higher is better."""
        ...

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> Sequence[StoredPassage]:
        """The passages of `ids` that `scope` allows, in the order of `ids`; unknown ones are left out."""
        ...


class TermWeights(Protocol):
    """How telling a term is in the corpus that a reader can see."""

    async def term_weights(self, terms: Sequence[str], *, reader: Reader) -> Mapping[str, float]:
        """Inverse document frequency per term, ``ln(1 + (N - n + ½) / (n + ½))`` ≥ 0 (Robertson; as in Lucene)."""
        ...


class DocumentShelf(Protocol):
    """Whole documents, for citations, `why` and `stats`."""

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        """The document if it exists and `reader` may see it."""
        ...

    async def sources(self, *, reader: Reader) -> Sequence[tuple[str, str]]:
        """(document id, source) of every visible document, by source."""
        ...

    async def statistics(self, *, reader: Reader) -> IndexStatistics:
        """Counts over what `reader` may see."""
        ...


class PassageIndex(Protocol):
    """Writing. Each call is one transaction: readers see all of a document or nothing of it."""

    async def put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        """Store a document, replacing what was stored under its id."""
        ...

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Remove documents; unknown ids are ignored."""
        ...

    async def fingerprints(self, *, tenant: str, source_prefix: str = "") -> Mapping[str, str]:
        """source → content hash of every stored document of `tenant` below the prefix."""
        ...


class AccessTags(Protocol):
    """Who may see what."""

    async def entries(self, *, reader: Reader) -> Sequence[DocumentEntry]:
        """Every document that `reader` may see, without its text, by source."""
        ...

    async def groups(self, *, tenant: str) -> Mapping[str, frozenset[str]]:
        """source → access groups of every stored document of `tenant`, for ingestion; empty where all may see it."""
        ...


class TaggedIndex(PassageIndex, AccessTags, Protocol):
    """What an ingest needs of an index: to write, and to know what was said about access before."""


class Store(PassageSearch, TermWeights, DocumentShelf, TaggedIndex, Protocol):
    """All that an engine offers. Parts ask for the small protocol that they need."""

    async def close(self) -> None:
        """Give back files and connections."""
        ...


class CandidateSearch(Protocol):
    """Retrieval as the correction loop sees it: a query in, candidates in fused order out."""

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        """At most `k` candidates that `scope` allows; raises SearchFailed or a StoreError."""
        ...
