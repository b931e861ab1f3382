"""Two rankings made into one.

The default is a convex combination of the scores themselves, each brought to [0, 1] per query: Bruch, Gai and Ingber,
"An Analysis of Fusion Functions for Hybrid Retrieval" (2023), find it better than reciprocal ranks and easy to fit from
few examples. Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) is here as the baseline to beat.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from tadasu.core.retrieved import Hit, known
from tadasu.errors import ModelUnavailable

_RANK_CONSTANT: Final = 60
_UNKNOWN_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """How much a cosine counts against a keyword score in one language.

    `dense` in [0, 1] is the share of the dense score, the rest is the keyword score's. `dense_floor` is the cosine that
    counts as 0: encoders of the E5 family put unrelated texts at about 0.7, and only what lies above tells anything.
    """

    dense: float = 0.5
    dense_floor: float = 0.7

    def __post_init__(self) -> None:
        if not 0.0 <= self.dense <= 1.0 or not -1.0 <= self.dense_floor < 1.0:
            raise ValueError(f"a share lies in [0, 1] and a floor in [-1, 1), not {self}")


@dataclass(frozen=True, slots=True)
class FusionTable:
    """Weights per language, with `default` for every other."""

    default: FusionWeights = FusionWeights()
    languages: Mapping[str, FusionWeights] = field(default_factory=dict)

    def of(self, language: str) -> FusionWeights:
        """The weights for a query in `language`."""
        return self.languages.get(language, self.default)


def load_weights(path: Path) -> FusionTable:
    """Read ``fusion.json``: ``{"ja": {"dense": …, "dense_floor": …}, "en": …, "default": …, "card": {…}}``.

    Raises ModelUnavailable where it is missing or says something else.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        table = {
            name: FusionWeights(dense=float(weights["dense"]), dense_floor=float(weights["dense_floor"]))
            for name, weights in told.items()
            if name != "card"
        }
        return FusionTable(default=table.pop("default"), languages=table)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(path=path, reason=f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Fused:
    """One passage of the fused ranking: ranks count from 1, None where that ranking does not hold it.

    `dense` is a cosine and `lexical` a BM25 score, None where unknown.
    """

    passage_id: str
    score: float
    dense_rank: int | None = None
    dense: float | None = None
    lexical_rank: int | None = None
    lexical: float | None = None


def weighted_fusion(
    dense: Sequence[Hit],
    lexical: Sequence[Hit],
    *,
    weights: FusionWeights,
    depth: int,
    cosines: Mapping[str, float | None] | None = None,
) -> list[Fused]:
    """Fuse two rankings by their scores, best first; of equal ones the better ranked, then by id.

    Args:
        dense: best first, scores are cosines (`similarity`), None where unknown.
        lexical: best first, scores are BM25, None where unknown.
        weights: shares of the two.
        depth: how many hits each search was asked for. A keyword ranking shorter than that holds every passage that
            has any of the words, so what is not in it scores exactly 0; beyond a full one, scores are unknown.
        cosines: cosines of passages that only the keyword search returned.

    Returns:
        Each passage once, scores in [0, 1]. An unknown score counts by its rank, never as zero: between its known
        neighbours, and behind the end of a ranking as half of what the last one there has.
    """
    cosines = {hit.passage_id: known(hit.score) for hit in dense} | dict(cosines or {})
    words = {hit.passage_id: known(hit.score) for hit in lexical}
    near = _Parts(dense, _above_floor(cosines, floor=weights.dense_floor), ends=False)
    said = _Parts(lexical, _share_of_best(words), ends=len(lexical) < depth)
    dense_ranks, lexical_ranks = _ranks(dense), _ranks(lexical)
    fused = [
        Fused(
            passage_id=id_,
            score=weights.dense * near.of(id_) + (1.0 - weights.dense) * said.of(id_),
            dense_rank=dense_ranks.get(id_),
            dense=cosines.get(id_),
            lexical_rank=lexical_ranks.get(id_),
            lexical=words.get(id_, 0.0 if said.ends else None),
        )
        for id_ in dict.fromkeys([*dense_ranks, *lexical_ranks])
    ]
    return sorted(fused, key=_best_first)


def reciprocal_rank_fusion(
    dense: Sequence[Hit], lexical: Sequence[Hit], *, constant: int = _RANK_CONSTANT
) -> list[Fused]:
    """Fuse two rankings by ``1 / (constant + rank)`` alone, best first; scores are scaled to [0, 1]."""
    dense_ranks, lexical_ranks = _ranks(dense), _ranks(lexical)
    cosines = {hit.passage_id: known(hit.score) for hit in dense}
    words = {hit.passage_id: known(hit.score) for hit in lexical}
    fused = [
        Fused(
            passage_id=id_,
            score=sum(
                (constant + 1) / (constant + ranks[id_]) / 2.0 for ranks in (dense_ranks, lexical_ranks) if id_ in ranks
            ),
            dense_rank=dense_ranks.get(id_),
            dense=cosines.get(id_),
            lexical_rank=lexical_ranks.get(id_),
            lexical=words.get(id_),
        )
        for id_ in dict.fromkeys([*dense_ranks, *lexical_ranks])
    ]
    return sorted(fused, key=_best_first)


class _Parts:
    """One ranking's contribution to each passage, in [0, 1]; `ends` says that nothing lies beyond its end."""

    def __init__(self, ranking: Sequence[Hit], scores: Mapping[str, float], *, ends: bool) -> None:
        self.ends = ends
        values = _filled([scores.get(hit.passage_id) for hit in ranking])
        self._values = {hit.passage_id: value for hit, value in zip(ranking, values, strict=True)} | dict(scores)
        self._beyond = 0.0 if ends or not values else _UNKNOWN_SHARE * values[-1]

    def of(self, passage_id: str) -> float:
        """The contribution to one passage."""
        return self._values.get(passage_id, self._beyond)


def _filled(scores: Sequence[float | None]) -> list[float]:
    told = [(rank, score) for rank, score in enumerate(scores) if score is not None]
    if not told:
        return [(_RANK_CONSTANT + 1) / (_RANK_CONSTANT + 1 + rank) for rank in range(len(scores))]
    if len(told) == len(scores):
        return [score for _, score in told]
    places, values = zip(*told, strict=True)
    return [float(value) for value in np.interp(range(len(scores)), places, values)]


def _above_floor(cosines: Mapping[str, float | None], *, floor: float) -> dict[str, float]:
    told = {id_: cosine for id_, cosine in cosines.items() if cosine is not None}
    best = max(told.values(), default=floor)
    if best <= floor:
        # Nothing stands out: all lie where the encoder puts unrelated texts. The order is all there is to keep.
        return {id_: max(0.0, 1.0 + cosine - best) * 0.5 for id_, cosine in told.items()}
    return {id_: max(0.0, (cosine - floor) / (best - floor)) for id_, cosine in told.items()}


def _share_of_best(scores: Mapping[str, float | None]) -> dict[str, float]:
    told = {id_: score for id_, score in scores.items() if score is not None}
    best = max(told.values(), default=0.0)
    return {id_: score / best for id_, score in told.items()} if best > 0 else dict.fromkeys(told, 0.0)


def _ranks(ranking: Sequence[Hit]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(ranking, start=1):
        ranks.setdefault(hit.passage_id, rank)
    return ranks


def _best_first(fused: Fused) -> tuple[float, int, str]:
    ranks = [rank for rank in (fused.dense_rank, fused.lexical_rank) if rank is not None]
    return -fused.score, min(ranks), fused.passage_id
