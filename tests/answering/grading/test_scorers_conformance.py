"""The suite for scorers, over models in ONNX whose every number is known, and over a scorer that remembers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.grading.cached import CachedScorer
from tadasu.answering.grading.cross_encoder import open_cross_encoder
from tadasu.answering.grading.onnx_classifier import open_scorer
from tadasu.core.scores import ScoreScale
from tadasu.ports import CacheSettings, PairScorer, ScorerSettings
from tadasu.runtime.cache import open_cache
from tadasu.testing.conformance.scorer import ScorerConformance
from tests.answering.grading.tiny_models import numbers, pieces, write_classifier, write_cross_encoder


def table() -> np.ndarray:
    """A logit per piece: high where the answers to the suite's questions have a word of their own."""
    made = np.full_like(numbers(), -4.0)
    for word in ("labour", "納品", "部品"):
        made[pieces(word)[-1]] = 4.0
    return made


class TestCrossEncoder(ScorerConformance):
    gives_strips = True

    @pytest.fixture
    def scorer(self, tmp_path: Path) -> PairScorer:
        return open_cross_encoder(write_cross_encoder(tmp_path, table()))


class TestClassifier(ScorerConformance):
    @pytest.fixture
    def scorer(self, tmp_path: Path) -> PairScorer:
        folder = write_classifier(tmp_path, table()[:, None], card={"scale": "logit"})
        return open_scorer(ScorerSettings(path=folder, max_tokens=128))


class TestProbabilityClassifier(ScorerConformance):
    @pytest.fixture
    def scorer(self, tmp_path: Path) -> PairScorer:
        made = 1.0 / (1.0 + np.exp(-table()))
        folder = write_classifier(tmp_path, made[:, None])
        return open_scorer(ScorerSettings(path=folder, scale=ScoreScale.PROBABILITY, max_tokens=128))


class TestCached(ScorerConformance):
    gives_strips = True

    @pytest.fixture
    def scorer(self, tmp_path: Path) -> PairScorer:
        return CachedScorer(open_cross_encoder(write_cross_encoder(tmp_path, table())), open_cache(CacheSettings()))
