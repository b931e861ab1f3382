"""The suite for scorers, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tadasu.core.scores import ScoreScale
from tadasu.ports import PairScorer, ScorerSettings
from tadasu.providers import http_scorer, rerank
from tadasu.testing.conformance.scorer import ScorerConformance
from tadasu.testing.scorer_server import Dialect, ScorerServer

pytestmark = pytest.mark.enable_socket


class TestRerank(ScorerConformance):
    @pytest.fixture(params=[Dialect.COHERE, Dialect.TEI])
    async def scorer(self, request: pytest.FixtureRequest) -> AsyncIterator[PairScorer]:
        with ScorerServer(dialect=request.param) as server:
            scorer = rerank.open_scorer(
                ScorerSettings(scale=ScoreScale.PROBABILITY, base_url=server.base_url, timeout_s=60)
            )
            yield scorer
            await scorer.close()


class TestHttp(ScorerConformance):
    gives_strips = True
    reads_windows = False  # the service reads all of a passage; where it found the answer is its to say

    @pytest.fixture
    async def scorer(self) -> AsyncIterator[PairScorer]:
        with ScorerServer(scale=ScoreScale.LOGIT) as server:
            scorer = http_scorer.open_scorer(
                ScorerSettings(scale=ScoreScale.LOGIT, base_url=server.score_url, timeout_s=60)
            )
            yield scorer
            await scorer.close()
