"""The suite for graders, over the graders that need no service and no large model, and over one behind HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from tadasu.answering.grading.cascade import Cascade
from tadasu.answering.grading.features import open_features
from tadasu.answering.grading.scored import ScoredGrader
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Call, Stage
from tadasu.core.vectors import PassageText
from tadasu.ports import Grader, Ledger, ScorerSettings
from tadasu.providers import http_scorer
from tadasu.testing.conformance.grader import GraderConformance
from tadasu.testing.scorer_server import ScorerServer, overlap


class OverlapScorer:
    id = "overlap@1"
    scale = ScoreScale.PROBABILITY

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        ledger.record(Call(Stage.GRADE, "here", items=len(passages)))
        return [
            PairScore(overlap(question, one.text), tuple(overlap(question, one.text[a:b]) for a, b in one.strips))
            for one in passages
        ]


class TestFeatures(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> Grader:
        return open_features()


class TestScored(GraderConformance):
    @pytest.fixture
    def grader(self) -> Grader:
        return ScoredGrader(OverlapScorer())


class TestCascade(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> Grader:
        return Cascade(open_features(), scorer=OverlapScorer())


class TestCascadeThatReadsEverything(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> Grader:
        return Cascade(open_features(), scorer=OverlapScorer(), read_everything=True)


@pytest.mark.enable_socket
class TestScoredOverHttp(GraderConformance):
    @pytest.fixture
    async def grader(self) -> AsyncIterator[Grader]:
        with ScorerServer(scale=ScoreScale.LOGIT) as server:
            scorer = http_scorer.open_scorer(
                ScorerSettings(scale=ScoreScale.LOGIT, base_url=server.score_url, timeout_s=60)
            )
            yield ScoredGrader(scorer, timeout_s=60)
            await scorer.close()
