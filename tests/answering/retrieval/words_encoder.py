"""An encoder that knows words only: texts with the same words are near. Fast, and the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.testing.conformance.corpus import unit_vectors
from tadasu.text.analyze import tokens

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector


class WordsEncoder:
    """ports.Encoder: the mean of one fixed direction per word."""

    id = "words/1"
    dimensions = 64

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        return np.stack([self._vector(query) for query in queries]).astype(np.float32)

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        return [
            PassageVectors(
                self._vector(f"{passage.title} {passage.text}"),
                np.array([self._vector(passage.text[a:b]) for a, b in passage.strips], np.float32).reshape(-1, 64),
            )
            for passage in passages
        ]

    def _vector(self, text: str) -> FloatVector:
        words = tokens(text) or ["…"]
        total = np.sum([unit_vectors(1, dimensions=64, seed=word)[0] for word in words], axis=0)
        vector: FloatVector = (total / np.linalg.norm(total)).astype(np.float32)
        return vector
