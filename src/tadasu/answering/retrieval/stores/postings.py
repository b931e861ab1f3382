"""Keyword search over the index file: how a term is written there, and BM25 over what a reader may see."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from tadasu.answering.retrieval.bm25 import inverse_document_frequency, saturation

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The characters that the FTS tokenizer (tables of Unicode 6.1) is sure to keep whole and unchanged.
_PLAIN: Final = re.compile(r"[a-z0-9ぁ-んァ-ヶー々一-龥]+")
_LONGEST: Final = 120


def posting_term(term: str, *, tenant: int) -> str:
    """`term` of `tenant` as it stands in the FTS table: one word for the tokenizer, different for different terms.

    Each tenant has its own words, so that no posting list mixes tenants.

    >>> posting_term("サーバ", tenant=1), posting_term("c++", tenant=1)
    ('1tサーバ', '1x632b2b')
    """
    if len(term) <= _LONGEST:
        if _PLAIN.fullmatch(term):
            return f"{tenant}t{term}"
        return f"{tenant}x{term.encode('utf-8', 'surrogatepass').hex()}"
    return f"{tenant}h{hashlib.sha256(term.encode('utf-8', 'surrogatepass')).hexdigest()}"


def posting_text(tokens: Iterable[str], *, tenant: int) -> str:
    """A passage's tokens as the FTS table takes them."""
    return " ".join(posting_term(token, tenant=tenant) for token in tokens)


@dataclass(slots=True)
class VisiblePassages:
    """The passages that a reader may see in one generation, as arrays: rows ascending, lengths in terms.

    Every statistic of BM25 is taken over these, so that a hidden document moves no score and no weight.
    """

    tenant: int | None
    rows: NDArray[np.int64]
    lengths: NDArray[np.float64]
    average_length: float
    holding: dict[str, int] = field(default_factory=dict)

    def occurrences(self, connection: sqlite3.Connection, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions in `rows` of the passages that hold `term`, and how often each does."""
        if self.tenant is None or not len(self.rows):
            return _NOTHING
        found = connection.execute(
            "SELECT group_concat(doc) FROM postings WHERE term = ?", (posting_term(term, tenant=self.tenant),)
        ).fetchone()[0]
        if found is None:
            return _NOTHING
        rows, counts = _runs(np.fromstring(found, dtype=np.int64, sep=","))
        positions = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        visible = self.rows[positions] == rows
        return positions[visible], counts[visible].astype(np.float64)

    def weight(self, connection: sqlite3.Connection, term: str) -> float:
        """Inverse document frequency of `term`."""
        if term not in self.holding:
            self.holding[term] = len(self.occurrences(connection, term)[0])
        return inverse_document_frequency(len(self.rows), self.holding[term])

    def scores(self, connection: sqlite3.Connection, terms: Sequence[str]) -> NDArray[np.float64]:
        """BM25 of every visible passage for the distinct `terms`; 0 where it holds none of them."""
        scores = np.zeros(len(self.rows))
        for term in dict.fromkeys(terms):
            positions, counts = self.occurrences(connection, term)
            self.holding[term] = len(positions)
            if len(positions):
                weight = inverse_document_frequency(len(self.rows), len(positions))
                lengths = self.lengths[positions]
                scores[positions] += weight * saturation(counts, lengths, average_length=self.average_length)
        return scores


_NOTHING: Final[tuple[NDArray[np.int64], NDArray[np.float64]]] = (np.empty(0, np.int64), np.empty(0))


def _runs(ascending: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values of an ascending array, and how often each comes."""
    starts = np.flatnonzero(np.diff(ascending, prepend=ascending[0] - 1))
    return ascending[starts], np.diff(starts, append=len(ascending))
