"""BM25, written down once: the constants, the two factors, and the highest score that a query can reach.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the inverse document
frequency of Lucene, which is never negative: a term that is in most passages still counts a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1: Final = 1.2
"""How fast repeats of a term stop counting."""
B: Final = 0.75
"""How much a long passage is held back, from 0 (not at all) to 1."""


def inverse_document_frequency(passages: int, holding: int) -> float:
    """``ln(1 + (N - n + ½) / (n + ½))`` for a term that `holding` of `passages` passages hold; ≥ 0.

    >>> inverse_document_frequency(3, 1) > inverse_document_frequency(3, 3) > 0
    True
    """
    return math.log1p((passages - holding + 0.5) / (holding + 0.5))


def saturation(
    counts: NDArray[np.float64], lengths: NDArray[np.float64], *, average_length: float
) -> NDArray[np.float64]:
    """What `counts` occurrences of a term are worth in passages of `lengths` terms, in [0, K1 + 1)."""
    norm = 1.0 - B + B * lengths / average_length if average_length > 0 else np.ones_like(lengths)
    return counts * (K1 + 1.0) / (counts + K1 * norm)


def best_possible(weights: Mapping[str, float], terms: Iterable[str]) -> float:
    """The bound that no passage's BM25 for `terms` can pass: every term, repeated without end."""
    return (K1 + 1.0) * sum(weights.get(term, 0.0) for term in dict.fromkeys(terms))
