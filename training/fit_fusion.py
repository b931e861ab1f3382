"""Fit how much a cosine counts against a keyword score: ``python -m training.fit_fusion`` → ``models/fusion.json``.

Training data only: jaquad TRAIN for Japanese; popqa and covidqa TRAIN for English, since the retrieval benchmark
measures on all of xquad_en and wiki_en. Each question's two rankings come from the real store and encoder; every pair
of a grid of shares and floors is tried, and the middle of those that come within a thousandth of the best score (mean
of MRR at 10 and recall at 5) is taken, because the best itself is a point on a plateau.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tadasu.answering.retrieval.fusion import FusionWeights, weighted_fusion
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Hit
from tadasu.ports import Encoder, Store
from tadasu.testing.splits import Split, write_fitted_on
from tadasu.text.analyze import content_terms
from training.feature_rows import MODELS, indexed, open_encoder
from training.feature_sets import Asked, QuestionSet, english, japanese

DEPTH = 50
_QUESTIONS = 1500
_SHARES = [round(0.1 * step, 2) for step in range(1, 10)]
_FLOORS = [0.6, 0.65, 0.7, 0.75, 0.8]
_AS_GOOD = 0.001


@dataclass(frozen=True, slots=True)
class Rankings:
    """Both rankings of one question, and the ids that are right."""

    dense: Sequence[Hit]
    lexical: Sequence[Hit]
    cosines: dict[str, float]
    gold: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, help="file that keeps vectors between runs")
    parser.add_argument("--models", type=Path, default=MODELS)
    options = parser.parse_args()
    asyncio.run(fit_all(options.models, encoder=open_encoder(options.models, cache=options.cache)))


async def fit_all(models: Path, *, encoder: Encoder) -> None:
    """Fit every language and write the weights, what they were fitted on, and the figures."""
    fitted: dict[str, Any] = {}
    card: dict[str, Any] = {"encoder": encoder.id, "made_by": "python -m training.fit_fusion"}
    texts: list[str] = []
    sets = {
        "ja": japanese(Split.TRAIN),
        "en": english(Split.TRAIN, with_xquad=False, with_distractors=False),
    }
    for language, questions in sets.items():
        async with indexed(questions, encoder) as store:
            rankings = await rank_all(questions, store=store, encoder=encoder)
        weights, table = fit(rankings)
        fitted[language] = {"dense": weights.dense, "dense_floor": weights.dense_floor}
        card[language] = {"passages": len(questions.rows), "questions": len(rankings), **table}
        texts += [row.text for row in questions.fitted_on]
        print(f"{language}: {fitted[language]} {card[language]}", file=sys.stderr, flush=True)
    fitted["default"] = {key: round(float(np.mean([fitted[one][key] for one in sets])), 3) for key in fitted["en"]}
    (models / "fusion.json").write_text(json.dumps(fitted | {"card": card}, indent=1) + "\n", encoding="utf-8")
    write_fitted_on(models / "fusion.fitted_on.txt", texts)


async def rank_all(questions: QuestionSet, *, store: Store, encoder: Encoder) -> list[Rankings]:
    """Both rankings of every question (the first `_QUESTIONS` by hash)."""
    chosen = questions.asked[:_QUESTIONS]
    vectors = encoder.encode_queries([asked.question.text for asked in chosen])
    return [await _rank(asked, vector, store) for asked, vector in zip(chosen, vectors, strict=True)]


async def _rank(asked: Asked, vector: np.ndarray[Any, Any], store: Store) -> Rankings:
    dense = await store.dense(vector, k=DEPTH, scope=Scope())
    lexical = await store.lexical(content_terms(asked.question.text), k=DEPTH, scope=Scope())
    near = {hit.passage_id for hit in dense}
    rest = await store.fetch([hit.passage_id for hit in lexical if hit.passage_id not in near], scope=Scope())
    return Rankings(dense, lexical, {one.passage.id: float(one.vector @ vector) for one in rest}, asked.gold)


def fit(rankings: Sequence[Rankings]) -> tuple[FusionWeights, dict[str, Any]]:
    """The weights, and the figures of both parts and of the weights chosen."""
    grid = [FusionWeights(dense=share, dense_floor=floor) for floor in _FLOORS for share in _SHARES]
    scores = np.array([score(rankings, weights) for weights in grid])
    good = [
        weights
        for weights, found in zip(grid, scores.mean(axis=1), strict=True)
        if found >= scores.mean(axis=1).max() - _AS_GOOD
    ]
    middle = np.median([[one.dense, one.dense_floor] for one in good], axis=0)
    chosen = min(good, key=lambda one: abs(one.dense - middle[0]) + abs(one.dense_floor - middle[1]))
    alone = {"dense": FusionWeights(dense=1.0), "keyword": FusionWeights(dense=0.0), "hybrid": chosen}
    figures = {name: [round(value, 4) for value in score(rankings, weights)] for name, weights in alone.items()}
    return chosen, {"mrr_at_10_and_recall_at_5": figures}


def score(rankings: Sequence[Rankings], weights: FusionWeights) -> tuple[float, float]:
    """(MRR at 10, recall at 5)."""
    places = []
    for one in rankings:
        fused = weighted_fusion(one.dense, one.lexical, weights=weights, depth=DEPTH, cosines=one.cosines)[:10]
        places.append(next((rank for rank, entry in enumerate(fused, start=1) if entry.passage_id in one.gold), 0))
    found = np.array(places, dtype=np.float64)
    reciprocal = np.divide(1.0, found, out=np.zeros_like(found), where=found > 0)
    return float(reciprocal.mean()), float(((found > 0) & (found <= 5)).mean())


if __name__ == "__main__":
    main()
