"""Questions asked of a real index, graded by the features and read by the cross-encoder: what the cascade is fitted on.

The same questions and retrievals as the first tier's (`training.feature_rows`), CALIBRATE split only: neither tier has
learnt from them. Swapped questions are left out, since how many of them a user asks is not known.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tadasu.answering.grading.cascade import as_text
from tadasu.answering.grading.features import FeatureGrader
from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.scoring import checked_scores
from tadasu.answering.retrieval.fusion import load_weights
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.core.documents import Scope
from tadasu.ports import Encoder, PairScorer
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import document_id
from tadasu.testing.datasets import holds_answer
from training.feature_rows import K, indexed, label_of_candidate, scopes
from training.feature_sets import Asked, QuestionSet


@dataclass(frozen=True, slots=True)
class Read:
    """One retrieval: per passage the features' probability (NaN: ungraded), the reader's logit (NaN: failed), a label.

    Strips are those of passages labelled 1 that hold the answer in one strip at least.
    """

    counted: Numbers
    read: Numbers
    labels: NDArray[np.int8]
    strips_counted: Numbers
    strips_read: Numbers
    strip_labels: NDArray[np.int8]
    answerable: bool


async def read_all(
    questions: QuestionSet, *, models: Path, encoder: Encoder, features: FeatureGrader, scorer: PairScorer
) -> list[Read]:
    """Index a set, ask all its questions (a part again without what answers them), and read everything found."""
    homes = {row.id: document_id(row) for row in questions.rows}
    found: list[Read] = []
    async with indexed(questions, encoder) as store:
        weights = load_weights(models / "fusion.json")
        search = HybridSearch(search=store, terms=store, encoder=encoder, weights=weights)
        for number, asked in enumerate(questions.asked):
            found += [
                await _read(asked, scope, homes, search=search, features=features, scorer=scorer)
                for scope in scopes(asked, homes)
            ]
            if number % 50 == 49:
                done = f"{number + 1} of {len(questions.asked)} questions"
                print(f"  {questions.name}: {done}", file=sys.stderr, flush=True)
    return found


async def _read(
    asked: Asked,
    scope: Scope,
    homes: dict[str, str],
    *,
    search: HybridSearch,
    features: FeatureGrader,
    scorer: PairScorer,
) -> Read:
    question, ledger = asked.question, RunLedger(SystemClock())
    retrieval = await search.search(question.text, k=K, scope=scope, ledger=ledger)
    grades = features.grade_now(question.text, retrieval)
    texts = [as_text(candidate) for candidate in retrieval.candidates]
    scores = await checked_scores(scorer, question.text, texts, ledger=ledger, timeout_s=None)
    gold_homes = {homes[id_] for id_ in asked.gold}
    labels = [label_of_candidate(asked, candidate, gold_homes) for candidate in retrieval.candidates]
    counted: list[float] = []
    read: list[float] = []
    strip_labels: list[int] = []
    for label, grade, score, candidate in zip(labels, grades, scores, retrieval.candidates, strict=True):
        passage = candidate.passage
        holds = [int(holds_answer(strip.of(passage.text), question.answers)) for strip in passage.strips]
        if label == 1 and any(holds) and len(grade.strip_scores) == len(score.strips) == len(holds):
            counted += grade.strip_scores
            read += score.strips
            strip_labels += holds
    return Read(
        counted=_numbers([grade.probability for grade in grades]),
        read=_numbers([score.score for score in scores]),
        labels=np.array(labels, dtype=np.int8),
        strips_counted=np.array(counted),
        strips_read=np.array(read),
        strip_labels=np.array(strip_labels, dtype=np.int8),
        answerable=not (scope.exclude_documents or scope.exclude_passages),
    )


def _numbers(values: Sequence[float | None]) -> Numbers:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
