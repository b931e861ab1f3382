"""How often search finds the passage: ``python -m benchmarks.retrieval [--json FILE] [--cache FILE] [--questions N]``.

Three sets that nothing of the search was fitted on, each in a real index with the shipped encoder, analyser and fusion
weights: jsquad, jaquad's dev part, and xquad_en among the paragraphs of wiki_en. Beside our figures stand those of
the reference (e5-small int8, BM25 over character bigrams, plain reciprocal rank fusion), measured once, elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.fusion import load_weights, reciprocal_rank_fusion
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Scope
from tadasu.ports import Encoder
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import CachedEncoder, articles, index, rows_of
from tadasu.testing.datasets import DataAbsent, Part, Question, questions
from tadasu.text.analyze import analyzer_id, content_terms

MODELS = Path(__file__).resolve().parents[1] / "models"
SETS = {
    "jsquad": (Part.JSQUAD_VALID, (Part.JSQUAD_VALID,)),
    "jaquad dev": (Part.JAQUAD_DEV, (Part.JAQUAD_DEV,)),
    "xquad_en": (Part.XQUAD_EN, (Part.XQUAD_EN, Part.WIKI_EN)),
}
REFERENCE = {
    "jsquad": {"dense": (0.932, 0.856), "keyword": (0.958, 0.920), "plain RRF": (0.967, 0.922)},
    "jaquad dev": {"dense": (0.928, 0.796), "keyword": (0.962, 0.886), "plain RRF": (0.972, 0.883)},
    "xquad_en": {"dense": (0.980, 0.933), "keyword": (0.951, 0.914), "plain RRF": (0.984, 0.952)},
}
"""Recall at 5 and MRR of the reference."""

DEPTH = 50
_SHOWN = 10
_WAYS = ("dense", "keyword", "plain RRF", "hybrid")


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one way of searching one set; all in [0, 1]. Ranks beyond ten count as not found."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr_10: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keep vectors between runs (development only)")
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="ask only the first N of each set")
    options = parser.parse_args()
    encoder: Encoder = OnnxEncoder.load(MODELS / "encoder")
    if options.cache:
        encoder = CachedEncoder(encoder, options.cache)
    print(harness.machine())
    try:
        measured = {name: asyncio.run(measure(name, encoder, limit=options.questions)) for name in SETS}
    except DataAbsent as absent:
        harness.skip(f"{absent} {absent.hint}")
    show(measured)
    harness.report({"retrieval": {name: _plain(found) for name, found in measured.items()}}, to=options.json)


async def measure(name: str, encoder: Encoder, *, limit: int = 0) -> dict[str, Figures]:
    """Index one set and search it in every way."""
    asked_part, parts = SETS[name]
    began = time.perf_counter()
    asked = questions(asked_part)[: limit or None]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(
            Path(folder) / "index.db",
            encoder_id=encoder.id,
            dimensions=encoder.dimensions,
            analyzer_id=analyzer_id(),
        )
        try:
            count = await index(articles(rows_of(*parts)), encoder=encoder, store=store)
            indexed = time.perf_counter() - began
            remembered = _Remembered(encoder, asked)
            hybrid = HybridSearch(
                search=store, terms=store, encoder=remembered, weights=load_weights(MODELS / "fusion.json")
            )
            places: dict[str, list[int]] = {way: [] for way in _WAYS}
            for question in asked:
                vector = remembered.encode_queries([question.text])[0]
                dense = await store.dense(vector, k=DEPTH, scope=Scope())
                lexical = await store.lexical(content_terms(question.text), k=DEPTH, scope=Scope())
                found = await hybrid.search(question.text, k=_SHOWN, scope=Scope(), ledger=RunLedger(SystemClock()))
                rankings = {
                    "dense": [hit.passage_id for hit in dense],
                    "keyword": [hit.passage_id for hit in lexical],
                    "plain RRF": [entry.passage_id for entry in reciprocal_rank_fusion(dense, lexical)],
                    "hybrid": [candidate.passage.id for candidate in found.candidates],
                }
                for way, ranking in rankings.items():
                    places[way].append(_place(ranking[:_SHOWN], question))
        finally:
            await store.close()
    seconds = time.perf_counter() - began
    print(
        f"{name}: {count} passages indexed in {indexed:.0f} s, {len(asked)} questions in {seconds - indexed:.0f} s",
        file=sys.stderr,
    )
    return {way: _figures(found) for way, found in places.items()}


class _Remembered:
    """An encoder whose query vectors are made once for all ways of searching."""

    def __init__(self, encoder: Encoder, asked: Sequence[Question]) -> None:
        texts = list(dict.fromkeys(question.text for question in asked))
        self._vectors = dict(zip(texts, encoder.encode_queries(texts), strict=True))
        self.id, self.dimensions = encoder.id, encoder.dimensions
        self.encode_passages = encoder.encode_passages

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.stack([self._vectors[query] for query in queries])


def _place(ranking: Sequence[str], question: Question) -> int:
    return next((rank for rank, id_ in enumerate(ranking, start=1) if id_ in question.gold), 0)


def _figures(places: Sequence[int]) -> Figures:
    found = np.array(places, dtype=np.float64)
    hit = found > 0
    return Figures(
        recall_1=float((found == 1).mean()),
        recall_5=float((hit & (found <= 5)).mean()),
        recall_10=float(hit.mean()),
        mrr_10=float(np.divide(1.0, found, out=np.zeros_like(found), where=hit).mean()),
    )


def show(measured: Mapping[str, Mapping[str, Figures]]) -> None:
    """Print the table, and what it says."""
    head = ("set", "way", "R@1", "R@5", "R@10", "MRR@10", "reference R@5", "reference MRR")
    rows = []
    for name, ways in measured.items():
        for way, one in ways.items():
            recall, mrr = REFERENCE[name].get(way, ("", ""))
            rows.append((name, way, one.recall_1, one.recall_5, one.recall_10, one.mrr_10, recall, mrr))
    print(harness.table(head, rows))
    for name, ways in measured.items():
        print(f"{name}: {_judge(name, ways)}")


def _judge(name: str, ways: Mapping[str, Figures]) -> str:
    hybrid, parts = ways["hybrid"], (ways["dense"], ways["keyword"])
    at_least = all(hybrid.recall_5 >= one.recall_5 and hybrid.mrr_10 >= one.mrr_10 for one in parts)
    best = [max(figures) for figures in zip(*REFERENCE[name].values(), strict=True)]
    above = hybrid.recall_5 > best[0] and hybrid.mrr_10 > best[1]
    return (
        f"hybrid {'is' if at_least else 'IS NOT'} at least both parts on recall at 5 and MRR, and "
        f"{'is' if above else 'IS NOT'} above the best reference ({best[0]:.3f}, {best[1]:.3f})"
    )


def _plain(ways: Mapping[str, Figures]) -> dict[str, dict[str, float]]:
    return {
        way: {"recall_1": one.recall_1, "recall_5": one.recall_5, "recall_10": one.recall_10, "mrr_10": one.mrr_10}
        for way, one in ways.items()
    }


if __name__ == "__main__":
    main()
