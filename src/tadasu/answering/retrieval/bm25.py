"""BM25, written down once: its two factors.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the inverse document
frequency of Lucene, which is never negative: a term that is in most passages still counts a little.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tadasu.core.retrieved import BM25_B, BM25_K1

if TYPE_CHECKING:
    from numpy.typing import NDArray


def inverse_document_frequency(passages: int, holding: int) -> float:
    """``ln(1 + (N - n + ½) / (n + ½))`` for a term that `holding` of `passages` passages hold; ≥ 0.

    >>> inverse_document_frequency(3, 1) > inverse_document_frequency(3, 3) > 0
    True
    """
    return math.log1p((passages - holding + 0.5) / (holding + 0.5))


def saturation(
    counts: NDArray[np.float64], lengths: NDArray[np.float64], *, average_length: float
) -> NDArray[np.float64]:
    """What `counts` occurrences of a term are worth in passages of `lengths` terms, in [0, BM25_K1 + 1)."""
    norm = 1.0 - BM25_B + BM25_B * lengths / average_length if average_length > 0 else np.ones_like(lengths)
    return counts * (BM25_K1 + 1.0) / (counts + BM25_K1 * norm)
