"""Ranking passages that are in no store, such as web pages of this very question, and merging several retrievals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tadasu.answering.retrieval.bm25 import saturation
from tadasu.answering.retrieval.fusion import FusionTable, weighted_fusion
from tadasu.core.documents import Passage
from tadasu.core.retrieved import Candidate, Hit, Retrieval
from tadasu.core.vectors import PassageVectors
from tadasu.text.analyze import tokens
from tadasu.text.language import detect

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatVector

T = TypeVar("T", int, float)


def rank_transient(
    query: str,
    passages: Sequence[Passage],
    vectors: Sequence[PassageVectors],
    *,
    query_vector: FloatVector,
    term_weights: Mapping[str, float],
    weights: FusionTable,
) -> Retrieval:
    """Rank `passages` for `query` as hybrid search would, best first.

    Args:
        query: what was searched for.
        passages: the passages, in any order; of two with one id the first counts.
        vectors: theirs, in the same order.
        query_vector: the query's (d,).
        term_weights: how telling each of its terms is. A few pages make no statistics of their own: they all match.
        weights: how much each part counts.
    """
    paired: dict[str, tuple[Passage, PassageVectors]] = {}
    for passage, its in zip(passages, vectors, strict=True):
        paired.setdefault(passage.id, (passage, its))
    dense = [Hit(id_, float(its.passage @ query_vector)) for id_, (_, its) in paired.items()]
    lexical = _keyword_ranking([passage for passage, _ in paired.values()], term_weights)
    fused = weighted_fusion(
        sorted(dense, key=_best_first), lexical, weights=weights.of(detect(query)), depth=len(paired) + 1
    )
    candidates = tuple(
        Candidate(
            passage=paired[entry.passage_id][0],
            fused=entry.score,
            dense_rank=entry.dense_rank,
            dense=entry.dense,
            lexical_rank=entry.lexical_rank,
            lexical=entry.lexical,
            vector=paired[entry.passage_id][1].passage,
            strip_vectors=paired[entry.passage_id][1].strips,
            queries=(query,),
        )
        for entry in fused
    )
    return Retrieval(query=query, candidates=candidates, query_vector=query_vector, term_weights=dict(term_weights))


def nearest_by_words(passages: Sequence[Passage], term_weights: Mapping[str, float], *, most: int) -> list[Passage]:
    """At most `most` of `passages`, in their order: those with the best keyword score, the earlier first among equals.

    What may be encoded of a long page, which costs a hundred times as much as to count its words.
    """
    if len(passages) <= most:
        return list(passages)
    scores = {hit.passage_id: hit.score or 0.0 for hit in _keyword_ranking(passages, term_weights)}
    ranked = sorted(range(len(passages)), key=lambda place: (-scores.get(passages[place].id, 0.0), place))
    return [passages[place] for place in sorted(ranked[:most])]


def _keyword_ranking(passages: Sequence[Passage], term_weights: Mapping[str, float]) -> list[Hit]:
    counted = [Counter(tokens(f"{passage.title}\n{passage.text}")) for passage in passages]
    lengths = np.array([sum(counts.values()) for counts in counted], dtype=np.float64)
    average = float(lengths.mean()) if len(lengths) else 0.0
    scores = np.zeros(len(passages))
    for term, weight in term_weights.items():
        occurrences = np.array([counts[term] for counts in counted], dtype=np.float64)
        scores += weight * saturation(occurrences, lengths, average_length=average)
    hits = [Hit(passage.id, float(score)) for passage, score in zip(passages, scores, strict=True) if score > 0]
    return sorted(hits, key=_best_first)


def _best_first(hit: Hit) -> tuple[float, str]:
    return -(hit.score or 0.0), hit.passage_id


def merge_retrievals(retrievals: Sequence[Retrieval], *, k: int | None = None) -> Retrieval:
    """One retrieval from those of several queries: each passage once, with every query that found it.

    A passage keeps its best fused score, ranks and similarities. Query, vector and term weights are those of the first
    retrieval, whose question all the others serve; pages that could not be used are those of all. At most `k`
    candidates, best first; all where `k` is None.

    Raises ValueError for no retrieval at all.
    """
    if not retrievals:
        raise ValueError("there is nothing to merge")
    merged: dict[str, Candidate] = {}
    for retrieval in retrievals:
        for candidate in retrieval.candidates:
            before = merged.get(candidate.passage.id)
            merged[candidate.passage.id] = candidate if before is None else _both(before, candidate)
    ordered = sorted(merged.values(), key=lambda candidate: (-candidate.fused, candidate.passage.id))
    dropped = dict.fromkeys(page for retrieval in retrievals for page in retrieval.dropped)
    return replace(retrievals[0], candidates=tuple(ordered[:k]), dropped=tuple(dropped))


def _both(first: Candidate, second: Candidate) -> Candidate:
    return replace(
        first,
        fused=max(first.fused, second.fused),
        dense_rank=min(_told(first.dense_rank, second.dense_rank), default=None),
        dense=max(_told(first.dense, second.dense), default=None),
        lexical_rank=min(_told(first.lexical_rank, second.lexical_rank), default=None),
        lexical=max(_told(first.lexical, second.lexical), default=None),
        vector=second.vector if first.vector is None else first.vector,
        strip_vectors=second.strip_vectors if first.strip_vectors is None else first.strip_vectors,
        queries=tuple(dict.fromkeys([*first.queries, *second.queries])),
    )


def _told(*values: T | None) -> list[T]:
    return [value for value in values if value is not None]
