"""Asks the questions of a pair set of a real index, and labels what comes back."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.grading_groups import Group, GroupFile, key_of
from benchmarks.grading_sets import Asked, PairSet
from tadasu.answering.retrieval.fusion import load_weights
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.ports import Encoder, Store
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import articles, document_id, index
from tadasu.testing.datasets import holds_answer
from tadasu.text.analyze import analyzer_id, content_terms

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Mined:
    """`pairs` as graders are compared on them.

    `present` and `absent` are the plain top k of the same questions, with and without the passages that hold the answer
    in the index: for verdicts.
    """

    pairs: list[Group]
    present: list[Group]
    absent: list[Group]


class Miner:
    """Mines pair sets through hybrid search with `encoder`, keeping them in `file`."""

    def __init__(self, *, models: Path, encoder: Encoder, file: GroupFile) -> None:
        self._models, self._encoder, self._file = models, encoder, file

    async def mined(self, one: PairSet, *, verdicts: bool = False) -> Mined:
        """The groups of `one`, from the file where it was mined in the same way before."""
        weights = (self._models / "fusion.json").read_text("utf-8")
        ids = [f"{asked.question.id} {asked.question.text} {sorted(asked.gold)} {asked.beside}" for asked in one.asked]
        key = key_of(_VERSION, self._encoder.id, analyzer_id(), weights, one.k, one.within_article, one.overtaken, *ids)
        names = [one.name, *(f"{one.name}: {what}" for what in ("present", "absent") if verdicts)]
        kept = [self._file.read(name, key=key) for name in names]
        found = [groups for groups in kept if groups is not None]
        if len(found) < len(names):
            print(f"{one.name}: {len(one.rows)} passages, {len(one.asked)} questions", file=sys.stderr, flush=True)
            found = await self._mine(one, verdicts=verdicts)
            for name, groups in zip(names, found, strict=True):
                self._file.write(name, groups, key=key)
        return Mined(*found) if verdicts else Mined(found[0], [], [])

    async def _mine(self, one: PairSet, *, verdicts: bool) -> list[list[Group]]:
        pairs: list[Group] = []
        present: list[Group] = []
        absent: list[Group] = []
        async with self._indexed(one) as store:
            weights = load_weights(self._models / "fusion.json")
            search = HybridSearch(search=store, terms=store, encoder=self._encoder, weights=weights)
            asking = _Asking(one, store, search)
            for number, asked in enumerate(one.asked, start=1):
                group = await asking.pairs(asked)
                if one.overtaken and group.labels[0] != 0:
                    continue
                if one.overtaken and len(pairs) == one.overtaken:
                    break
                pairs.append(group)
                if verdicts:
                    present.append(await asking.plain(asked))
                    absent.append(await asking.plain(asked, without=asked.gold))
                if number % 200 == 0:
                    print(f"  {one.name}: {number} of {len(one.asked)} questions", file=sys.stderr, flush=True)
        return [pairs, present, absent] if verdicts else [pairs]

    @asynccontextmanager
    async def _indexed(self, one: PairSet) -> AsyncIterator[Store]:
        encoder = self._encoder
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.db"
            store = open_store(path, encoder_id=encoder.id, dimensions=encoder.dimensions, analyzer_id=analyzer_id())
            try:
                await index(articles(one.rows), encoder=encoder, store=store)
                yield store
            finally:
                await store.close()


class _Asking:
    def __init__(self, one: PairSet, store: Store, search: HybridSearch) -> None:
        self._set, self._store, self._search = one, store, search
        self._documents = {row.id: document_id(row) for row in one.rows}
        self._sources = {article.document.id: article.document.source for article in articles(one.rows)}

    async def pairs(self, asked: Asked) -> Group:
        """The top k, the gold and what stands beside it among them."""
        scope = self._scope(asked)
        found = await self._find(asked, self._set.k, scope)
        wanted = [*asked.gold, *asked.beside]
        missing = set(wanted) - {one.passage.id for one in found.candidates}
        chosen = list(found.candidates)
        if missing or asked.beside:
            # Search goes deep enough to give every passage its place and its scores.
            deep = await self._find(asked, len(self._set.rows), scope)
            place = {one.passage.id: number for number, one in enumerate(deep.candidates)}
            extra = [one for one in deep.candidates if one.passage.id in missing]
            chosen = self._filled(asked, found.candidates, extra)
            chosen.sort(key=lambda one: place[one.passage.id])
        return await self._group(asked, replace(found, candidates=tuple(chosen)), scope)

    def _filled(self, asked: Asked, found: Sequence[Candidate], extra: Sequence[Candidate]) -> list[Candidate]:
        kept = [*found]
        wanted = asked.gold | set(asked.beside)
        while len(kept) + len(extra) > self._set.k:
            last = max(place for place, one in enumerate(kept) if one.passage.id not in wanted)
            del kept[last]
        return [*kept, *extra]

    async def plain(self, asked: Asked, *, without: frozenset[str] = frozenset()) -> Group:
        """What the search brings back, as the product sees it."""
        scope = replace(self._scope(asked), exclude_passages=without)
        group = await self._group(asked, await self._find(asked, self._set.k, scope), scope)
        return replace(group, answerable=not without)

    def _scope(self, asked: Asked) -> Scope:
        if not self._set.within_article:
            return Scope()
        (source,) = {self._sources[self._documents[id_]] for id_ in asked.gold}
        return Scope(source_prefix=source)

    async def _find(self, asked: Asked, k: int, scope: Scope) -> Retrieval:
        return await self._search.search(asked.question.text, k=k, scope=scope, ledger=RunLedger(SystemClock()))

    async def _group(self, asked: Asked, retrieval: Retrieval, scope: Scope) -> Group:
        terms = content_terms(asked.question.text)
        hits = await self._store.lexical(terms, k=len(self._set.rows), scope=scope) if terms else []
        keyword = {hit.passage_id: hit.score or 0.0 for hit in hits}
        return Group(
            id=asked.question.id,
            language=self._set.language,
            retrieval=retrieval,
            labels=np.array([self._label(asked, one) for one in retrieval.candidates], dtype=np.int8),
            keyword=np.array([keyword.get(one.passage.id, 0.0) for one in retrieval.candidates]),
        )

    @staticmethod
    def _label(asked: Asked, candidate: Candidate) -> int:
        if candidate.passage.id in asked.gold:
            return 1
        # What holds an alias without being the gold may answer the question or not.
        return -1 if holds_answer(candidate.passage.text, asked.question.answers) else 0
