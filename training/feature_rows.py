"""Questions asked of a real index, as rows of signals with labels: what the first tier is fitted and measured on."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tadasu.answering.grading.signals import Measured, measure
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.ports import Encoder, Store
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import articles, document_id, index
from tadasu.testing.datasets import holds_answer
from tadasu.text.analyze import analyzer_id
from training.feature_sets import Asked, QuestionSet

K = 10
_WITHOUT_ARTICLE, _WITHOUT_PASSAGE = 0.3, 0.2
_FEWER = ((0.1, 3), (0.3, 5))


@dataclass(frozen=True, slots=True)
class Asking:
    """One retrieval, measured; `labels` is 1 for a passage that holds the answer, 0 for one that does not, -1 unknown.

    `strip_labels` is the same for every strip of the passages labelled 1, -1 for all other strips. `answerable` says
    whether a passage that holds the answer could have been found at all.
    """

    question: str
    retrieval: Retrieval
    measured: Measured
    labels: NDArray[np.int8]
    strip_labels: NDArray[np.int8]
    answerable: bool


@asynccontextmanager
async def indexed(questions: QuestionSet, encoder: Encoder) -> AsyncIterator[Store]:
    """The set's passages in a real store, in a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        store = open_store(path, encoder_id=encoder.id, dimensions=encoder.dimensions, analyzer_id=analyzer_id())
        try:
            await index(articles(questions.rows), encoder=encoder, store=store)
            yield store
        finally:
            await store.close()


async def ask_all(questions: QuestionSet, search: HybridSearch) -> list[Asking]:
    """Every question as it comes; a part of them again without the article, or the passages, that hold the answer.

    Without those, the first tier would learn that the best of what is found is right, and INCORRECT could never be.
    """
    homes = {row.id: document_id(row) for row in questions.rows}
    found: list[Asking] = []
    for number, asked in enumerate(questions.asked):
        k = next((fewer for share, fewer in _FEWER if _chance(asked, "k") < share), K)
        found.append(await _ask(asked, search, homes, Scope(), k=k))
        gone = frozenset(homes[id_] for id_ in asked.gold)
        if _chance(asked, "article") < _WITHOUT_ARTICLE:
            found.append(await _ask(asked, search, homes, Scope(exclude_documents=gone), k=k))
        if _chance(asked, "passage") < _WITHOUT_PASSAGE:
            found.append(await _ask(asked, search, homes, Scope(exclude_passages=asked.gold), k=k))
        if number % 400 == 399:
            print(f"  {questions.name}: {number + 1} of {len(questions.asked)} questions", file=sys.stderr, flush=True)
    return found


async def _ask(asked: Asked, search: HybridSearch, homes: dict[str, str], scope: Scope, *, k: int) -> Asking:
    question = asked.question
    retrieval = await search.search(question.text, k=k, scope=scope, ledger=RunLedger(SystemClock()))
    measured = measure(question.text, retrieval)
    gold_homes = {homes[id_] for id_ in asked.gold}
    labels = [_label(asked, candidate, gold_homes) for candidate in retrieval.candidates]
    strips: list[int] = []
    for label, candidate in zip(labels, retrieval.candidates, strict=True):
        text = candidate.passage.text
        spans = candidate.passage.strips
        strips += [holds_answer(span.of(text), question.answers) if label == 1 else -1 for span in spans]
    return Asking(
        question=question.text,
        retrieval=retrieval,
        measured=measured,
        labels=np.array(labels, dtype=np.int8),
        strip_labels=np.array(strips, dtype=np.int8),
        answerable=not (scope.exclude_documents or scope.exclude_passages),
    )


def _label(asked: Asked, candidate: Candidate, gold_homes: set[str]) -> int:
    if candidate.passage.id in asked.gold:
        return 1
    # The same article may say it twice; a passage of another article that holds the string does so by chance.
    if candidate.passage.document_id in gold_homes and holds_answer(candidate.passage.text, asked.question.answers):
        return -1
    return 0


def _chance(asked: Asked, what: str) -> float:
    digest = hashlib.sha256(f"{what}\n{asked.question.id}\n{asked.question.text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def without_vectors(asking: Asking) -> Asking:
    """The same retrieval as a web search gives it: no keyword scores, no vectors."""
    retrieval = asking.retrieval
    bare = tuple(
        replace(one, dense=None, dense_rank=None, lexical=None, lexical_rank=None, vector=None, strip_vectors=None)
        for one in retrieval.candidates
    )
    stripped = replace(retrieval, candidates=bare, query_vector=None)
    return replace(asking, retrieval=stripped, measured=measure(asking.question, stripped))
