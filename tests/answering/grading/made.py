"""Retrievals made by hand, as a store and a hybrid search would give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tadasu.core.documents import Passage, Span
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.segment import segment

DIMENSIONS = 8


def passage(text: str, *, number: int = 0, title: str = "", language: str | None = None) -> Passage:
    told = language or detect(text)
    return Passage(
        id=f"p{number}",
        document_id=f"d{number}",
        source=f"{number}.txt",
        title=title,
        text=text,
        span=Span(0, len(text)),
        strips=tuple(Span(*span) for span in segment(text, language=told)) if text else (),
        language=told,
    )


def unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def at_cosine(cosine: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A unit vector at this cosine to ``unit(1)``."""
    return unit(cosine, float(np.sqrt(max(0.0, 1.0 - cosine * cosine))))


def candidate(one: Passage, *, cosine: float | None, lexical: float | None = None, rank: int = 1) -> Candidate:
    vector = None if cosine is None else at_cosine(cosine)
    strips = None if vector is None else np.stack([vector] * max(len(one.strips), 1))[: len(one.strips)]
    return Candidate(
        passage=one,
        fused=1.0 / rank,
        dense_rank=None if cosine is None else rank,
        dense=cosine,
        lexical_rank=None if lexical is None else rank,
        lexical=lexical,
        vector=vector,
        strip_vectors=strips,
    )


def retrieval(
    question: str, candidates: Sequence[Candidate], *, weights: Mapping[str, float] | None = None
) -> Retrieval:
    told = weights if weights is not None else dict.fromkeys(content_terms(question), 3.0)
    return Retrieval(query=question, candidates=tuple(candidates), query_vector=unit(1.0), term_weights=told)


def bare(found: Retrieval) -> Retrieval:
    """The same as a search without scores and vectors gives it."""
    candidates = tuple(
        replace(one, dense=None, dense_rank=None, lexical=None, lexical_rank=None, vector=None, strip_vectors=None)
        for one in found.candidates
    )
    return replace(found, candidates=candidates, query_vector=None, term_weights={})
