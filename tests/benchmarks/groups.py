"""Small groups for the tests of the grading report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.grading_groups import Group
from tadasu.core.documents import Passage, Span
from tadasu.core.retrieved import Candidate, Retrieval


def passage(id_: str, text: str = "The tower is 15 m high. It stands in Kobe.", language: str = "en") -> Passage:
    """A passage of two strips."""
    middle = len(text) // 2
    strips = (Span(0, middle), Span(middle, len(text)))
    return Passage(id_, f"doc-{id_}", f"{id_}.md", f"Title {id_}", text, Span(0, len(text)), strips, language=language)


def group(labels: Sequence[int], *, question: str = "How high is the tower?", language: str = "en") -> Group:
    """A question with one candidate per label."""
    chance = np.random.default_rng(len(labels))
    candidates = tuple(
        Candidate(
            passage=passage(f"p{place}", language=language),
            fused=1.0 / (place + 1),
            dense_rank=place + 1,
            dense=0.5,
            lexical_rank=None,
            lexical=None,
            vector=chance.normal(size=4).astype(np.float32),
            strip_vectors=chance.normal(size=(2, 4)).astype(np.float32),
        )
        for place in range(len(labels))
    )
    return Group(
        id="q1",
        language=language,
        retrieval=Retrieval(question, candidates, chance.normal(size=4).astype(np.float32), {"tower": 1.5}),
        labels=np.array(labels, dtype=np.int8),
        keyword=np.arange(len(labels), dtype=np.float64),
    )
