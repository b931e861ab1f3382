"""Questions asked of a real index, as rows of signals with labels: what the first tier is fitted and measured on."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tadasu.answering.grading.signals import Measured, measure
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.fusion import load_weights
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Candidate
from tadasu.ports import Encoder, Store
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import CachedEncoder, articles, document_id, index
from tadasu.testing.datasets import holds_answer
from tadasu.text.analyze import analyzer_id
from training.feature_sets import Asked, QuestionSet
from training.feature_swaps import Swapper

MODELS = Path(__file__).resolve().parents[1] / "models"
K = 10
_WITHOUT_ARTICLE, _WITHOUT_PASSAGE, _SWAPPED = 0.3, 0.2, 0.5
_FEWER = ((0.1, 3), (0.3, 5))


@dataclass(frozen=True, slots=True)
class Asking:
    """One retrieval, measured; `labels` is 1 for a passage that holds the answer, 0 for one that does not, -1 unknown.

    `strip_labels` is the same for every strip of the passages labelled 1, -1 for all other strips. `answerable` says
    whether a passage that holds the answer could have been found at all, `swapped` whether the question was given
    another name, number or attribute (`feature_swaps`), so that nothing answers it. The retrieval itself is let go:
    thousands of them with their vectors fill the memory.
    """

    measured: Measured
    labels: NDArray[np.int8]
    strip_labels: NDArray[np.int8]
    answerable: bool
    swapped: bool = False


def open_encoder(models: Path, *, cache: Path | None) -> Encoder:
    """The shipped encoder, remembering its vectors in `cache` if that is given."""
    encoder = OnnxEncoder.load(models / "encoder")
    return CachedEncoder(encoder, cache) if cache else encoder


async def asked(questions: QuestionSet, *, models: Path, encoder: Encoder) -> list[Asking]:
    """Index a set and ask all its questions."""
    counts = f"{len(questions.rows)} passages, {len(questions.asked)} questions"
    print(f"{questions.name}: {counts}", file=sys.stderr, flush=True)
    async with indexed(questions, encoder) as store:
        weights = load_weights(models / "fusion.json")
        search = HybridSearch(search=store, terms=store, encoder=encoder, weights=weights)
        swapper = Swapper(questions.language, pool=questions.others, rows=questions.rows)
        return await ask_all(questions, search, swapper)


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


async def ask_all(questions: QuestionSet, search: HybridSearch, swapper: Swapper) -> list[Asking]:
    """Every question as it comes; a part of them again without the article, or the passages, that hold the answer.

    Without those, the first tier would learn that the best of what is found is right, and INCORRECT could never be.
    """
    homes = {row.id: document_id(row) for row in questions.rows}
    found: list[Asking] = []
    for number, asked in enumerate(questions.asked):
        k = next((fewer for share, fewer in _FEWER if chance(asked, "k") < share), K)
        found += [await _ask(asked, search, homes, scope, k=k) for scope in scopes(asked, homes)]
        if chance(asked, "swap") < _SWAPPED and (other := swapper.swapped(asked)) is not None:
            found.append(await _ask(other, search, homes, Scope(), k=k, swapped=True))
        if number % 400 == 399:
            print(f"  {questions.name}: {number + 1} of {len(questions.asked)} questions", file=sys.stderr, flush=True)
    return found


def scopes(asked: Asked, homes: dict[str, str]) -> list[Scope]:
    """All of the index; for some questions also without the article, or without the passages, that answer."""
    found = [Scope()]
    if chance(asked, "article") < _WITHOUT_ARTICLE:
        found.append(Scope(exclude_documents=frozenset(homes[id_] for id_ in asked.gold)))
    if chance(asked, "passage") < _WITHOUT_PASSAGE:
        found.append(Scope(exclude_passages=asked.gold))
    return found


async def _ask(
    asked: Asked, search: HybridSearch, homes: dict[str, str], scope: Scope, *, k: int, swapped: bool = False
) -> Asking:
    question = asked.question
    retrieval = await search.search(question.text, k=k, scope=scope, ledger=RunLedger(SystemClock()))
    measured = measure(question.text, retrieval)
    gold_homes = {homes[id_] for id_ in asked.gold}
    labels = [0 if swapped else label_of_candidate(asked, candidate, gold_homes) for candidate in retrieval.candidates]
    strips: list[int] = []
    for label, candidate in zip(labels, retrieval.candidates, strict=True):
        text = candidate.passage.text
        spans = candidate.passage.strips
        strips += [holds_answer(span.of(text), question.answers) if label == 1 else -1 for span in spans]
    return Asking(
        measured=measured,
        labels=np.array(labels, dtype=np.int8),
        strip_labels=np.array(strips, dtype=np.int8),
        answerable=not (scope.exclude_documents or scope.exclude_passages or swapped),
        swapped=swapped,
    )


def label_of_candidate(asked: Asked, candidate: Candidate, gold_homes: set[str]) -> int:
    if candidate.passage.id in asked.gold:
        return 1
    # The same article may say it twice; a passage of another article that holds the string does so by chance.
    if candidate.passage.document_id in gold_homes and holds_answer(candidate.passage.text, asked.question.answers):
        return -1
    return 0


def chance(asked: Asked, what: str) -> float:
    digest = hashlib.sha256(f"{what}\n{asked.question.id}\n{asked.question.text}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
