"""Hybrid search: a dense and a keyword ranking of one store, fused, with all that the grader needs of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tadasu.answering.retrieval.fusion import FusionTable, FusionWeights, weighted_fusion
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Candidate, Hit, Retrieval, StoredPassage, similarity
from tadasu.core.runs import SearchMode
from tadasu.core.usage import Stage
from tadasu.errors import SearchFailed, TadasuError
from tadasu.ports import Encoder, Ledger, PassageSearch, TermWeights
from tadasu.runtime.ledger import timed
from tadasu.text.analyze import content_terms
from tadasu.text.language import detect

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatVector

_POOL_AT_LEAST: Final = 50
_POOL_FACTOR: Final = 5


class HybridSearch:
    """Searches a store by meaning and by keywords at once.

    Both rankings are taken deep (five times k, at least 50), so that a passage that only one of them likes still gets
    its chance; what only the keywords found gets its exact cosine from its stored vector.
    """

    def __init__(self, *, search: PassageSearch, terms: TermWeights, encoder: Encoder, weights: FusionTable) -> None:
        self._store = search
        self._terms = terms
        self._encoder = encoder
        self._weights = weights

    async def search(
        self, query: str, *, k: int, scope: Scope, ledger: Ledger, mode: SearchMode = SearchMode.HYBRID
    ) -> Retrieval:
        """At most `k` candidates of `scope` for `query`, best first, with vectors, ranks and scores.

        A query without a letter or a digit finds nothing. Raises a StoreError, or SearchFailed for any other failure,
        after the failed call has been written into `ledger`.
        """
        if mode is SearchMode.WEB:
            raise ValueError("the web is searched through the WebSearch port")
        if k <= 0 or not any(character.isalnum() for character in query):
            return Retrieval(query=query, candidates=())
        terms = content_terms(query)
        depth = max(_POOL_AT_LEAST, _POOL_FACTOR * k)
        vector, lexical = await asyncio.gather(
            self._embed(query, ledger), self._lexical(terms, depth=depth, scope=scope, mode=mode, ledger=ledger)
        )
        dense = await self._dense(vector, depth=depth, scope=scope, mode=mode, ledger=ledger)
        with _step(ledger, Stage.RETRIEVE, provider="store", model="fetch", items=k):
            weights = await self._terms.term_weights(terms, reader=scope.reader)
            candidates = await self._fused(query, vector, dense, lexical, k=k, depth=depth, scope=scope, mode=mode)
        return Retrieval(query=query, candidates=candidates, query_vector=vector, term_weights=weights)

    async def _embed(self, query: str, ledger: Ledger) -> FloatVector:
        with _step(ledger, Stage.EMBED, provider="local", model=self._encoder.id):
            vectors = await asyncio.to_thread(self._encoder.encode_queries, [query])
            vector: FloatVector = vectors[0]
            return vector

    async def _dense(
        self, vector: FloatVector, *, depth: int, scope: Scope, mode: SearchMode, ledger: Ledger
    ) -> list[Hit]:
        if mode is SearchMode.LEXICAL:
            return []
        with _step(ledger, Stage.RETRIEVE, provider="store", model="dense", items=depth):
            hits = await self._store.dense(vector, k=depth, scope=scope)
        metric = self._store.dense_metric
        return [Hit(hit.passage_id, similarity(hit.score, metric)) for hit in hits]

    async def _lexical(
        self, terms: Sequence[str], *, depth: int, scope: Scope, mode: SearchMode, ledger: Ledger
    ) -> Sequence[Hit]:
        if mode is SearchMode.DENSE or not terms:
            return []
        with _step(ledger, Stage.RETRIEVE, provider="store", model="lexical", items=depth):
            return await self._store.lexical(terms, k=depth, scope=scope)

    async def _fused(
        self,
        query: str,
        vector: FloatVector,
        dense: Sequence[Hit],
        lexical: Sequence[Hit],
        *,
        k: int,
        depth: int,
        scope: Scope,
        mode: SearchMode,
    ) -> tuple[Candidate, ...]:
        near = {hit.passage_id for hit in dense}
        stored = await self._fetch([hit.passage_id for hit in lexical if hit.passage_id not in near], scope)
        fused = weighted_fusion(
            dense,
            lexical,
            weights=self._shares(query, mode),
            # Where no keywords were searched for, nothing is known of them.
            depth=0 if mode is SearchMode.DENSE else depth,
            cosines={id_: float(passage.vector @ vector) for id_, passage in stored.items()},
        )[:k]
        stored |= await self._fetch([entry.passage_id for entry in fused if entry.passage_id not in stored], scope)
        # A passage that another process removed in between is left out.
        return tuple(
            Candidate(
                passage=stored[entry.passage_id].passage,
                fused=entry.score,
                dense_rank=entry.dense_rank,
                dense=entry.dense,
                lexical_rank=entry.lexical_rank,
                lexical=entry.lexical,
                vector=stored[entry.passage_id].vector,
                strip_vectors=stored[entry.passage_id].strip_vectors,
                queries=(query,),
            )
            for entry in fused
            if entry.passage_id in stored
        )

    def _shares(self, query: str, mode: SearchMode) -> FusionWeights:
        weights = self._weights.of(detect(query))
        match mode:
            case SearchMode.DENSE:
                return replace(weights, dense=1.0)
            case SearchMode.LEXICAL:
                return replace(weights, dense=0.0)
            case _:
                return weights

    async def _fetch(self, ids: Sequence[str], scope: Scope) -> dict[str, StoredPassage]:
        if not ids:
            return {}
        return {stored.passage.id: stored for stored in await self._store.fetch(ids, scope=scope)}


@contextmanager
def _step(ledger: Ledger, stage: Stage, *, provider: str, model: str, items: int = 1) -> Iterator[None]:
    """One timed step; a failure that has no name of its own becomes SearchFailed."""
    try:
        with timed(ledger, stage, provider=provider, model=model, items=items):
            yield
    except TadasuError:
        raise
    except Exception as error:
        raise SearchFailed(where=model, reason=f"{type(error).__name__}: {error}") from error
