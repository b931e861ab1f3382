"""What a search brings back, on its way to the grader."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tadasu.core.documents import Passage
from tadasu.core.grades import Grade

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector


class Metric(enum.Enum):
    """What a store's raw score means. Only `similarity` below turns it into a number that may be compared."""

    COSINE = "cosine"
    """Cosine similarity in [-1, 1], higher is nearer."""
    INNER_PRODUCT = "inner_product"
    """Inner product of L2-normalised vectors in [-1, 1], higher is nearer."""
    L2 = "l2"
    """Euclidean distance of L2-normalised vectors in [0, 2], lower is nearer."""
    SQUARED_L2 = "squared_l2"
    """Squared Euclidean distance of L2-normalised vectors in [0, 4], lower is nearer."""
    BM25 = "bm25"
    """BM25 in [0, ∞), higher is better."""


BM25_K1 = 0.6
"""How much repeats of a term count, the same in every store. Chosen with `BM25_B` on 1,500 questions of JaQuAD's
training part: a mean reciprocal rank of .920, where the usual 1.2 and 0.75 give .917 (.933 and .924 after fusion)."""
BM25_B = 0.4
"""How much a long passage is held back, from 0 (not at all) to 1."""


def known(raw: object) -> float | None:
    """`raw` as a finite number, or None where the score is missing, not a number or not finite.

    A missing score means *unknown*, never zero. Numbers written as text are read.

    >>> known("0.9"), known(None), known(float("nan")), known("n/a")
    (0.9, None, None, None)
    """
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def similarity(raw: object, metric: Metric) -> float | None:
    """A raw store score as cosine similarity in [-1, 1] (BM25: itself), higher is better; None where unknown.

    Assumes L2-normalised vectors, for which ``|a - b|² = 2 - 2 cos(a, b)``.

    >>> similarity(0.0, Metric.L2), similarity(2.0, Metric.SQUARED_L2), similarity(0.85, Metric.COSINE)
    (1.0, 0.0, 0.85)
    """
    value = known(raw)
    if value is None:
        return None
    match metric:
        case Metric.BM25:
            return max(0.0, value)
        case Metric.L2:
            value = 1.0 - value * value / 2.0
        case Metric.SQUARED_L2:
            value = 1.0 - value / 2.0
        case Metric.COSINE | Metric.INNER_PRODUCT:
            pass
    return max(-1.0, min(1.0, value))


@dataclass(frozen=True, slots=True)
class Hit:
    """One row of a store's ranking, best first. `score` is raw, in the store's declared metric."""

    passage_id: str
    score: float | None


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage with its vectors as a store keeps them (float32, L2-normalised)."""

    passage: Passage
    vector: FloatVector
    strip_vectors: FloatMatrix


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that one retrieval found.

    Ranks count from 1 and are None where that search did not return it; `dense` is cosine similarity, `lexical` BM25,
    None where unknown. `fused` is the score that the order follows. `queries` lists every query that found it.
    """

    passage: Passage
    fused: float
    dense_rank: int | None = None
    dense: float | None = None
    lexical_rank: int | None = None
    lexical: float | None = None
    vector: FloatVector | None = None
    strip_vectors: FloatMatrix | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The outcome of one search: candidates in fused order, and what the first grading tier needs of the query.

    `term_weights` maps each content term of the query to its inverse document frequency (≥ 0) in the searched corpus.
    `context` holds candidates of earlier rounds: graders compare with them (is this one ahead of the others?) but give
    them no grade, for they have theirs: `context_grades`, in the same order, where they are known. `dropped` are web
    pages that were found and could not be used.
    """

    query: str
    candidates: tuple[Candidate, ...]
    query_vector: FloatVector | None = None
    term_weights: Mapping[str, float] = field(default_factory=dict)
    context: tuple[Candidate, ...] = ()
    context_grades: tuple[Grade, ...] = ()
    dropped: tuple[DroppedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedPassage:
    """A passage with its grade, on its way to refinement."""

    passage: Passage
    grade: Grade

    def __post_init__(self) -> None:
        if self.grade.passage_id != self.passage.id:
            raise ValueError(f"the grade of {self.grade.passage_id} was given to {self.passage.id}")

    @property
    def probability(self) -> float:
        """What the passage ranks by; an UNGRADED one ranks last."""
        return self.grade.probability if self.grade.probability is not None else 0.0


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that a web search returned, as hostile as the web is.

    `body` is the page as fetched (bytes, in `media_type`), and None where only the search engine's snippet is known.
    `date` is ISO 8601 or empty.
    """

    url: str
    title: str
    snippet: str = ""
    body: bytes | None = None
    media_type: str = "text/html"
    date: str = ""
    language: str = "und"


@dataclass(frozen=True, slots=True)
class DroppedPage:
    """A page that was found and not used, or only by its snippet or in part: its address, why, and details.

    `reason` is a stable word such as ``cookie_wall``.
    """

    url: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FetchedPages:
    """What fetching made of some pages, in their order: those that may be used, with body or snippet, and the rest.

    A page whose snippet stands in for it is in both.
    """

    pages: tuple[WebPage, ...] = ()
    dropped: tuple[DroppedPage, ...] = ()
