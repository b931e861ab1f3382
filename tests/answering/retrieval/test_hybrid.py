"""Hybrid search over a real SQLite index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Access, Reader, Scope
from tadasu.core.retrieved import Hit, Metric, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import SearchFailed, StoreBusy
from tadasu.ports import Store
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.memory_store import MemoryStore
from tests.answering.retrieval.small_index import TEXTS, fill
from tests.answering.retrieval.words_encoder import WordsEncoder

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(tmp_path / "index.db", encoder_id="words/1", dimensions=64, analyzer_id="test")
    await fill(opened, TEXTS)
    yield opened
    await opened.close()


@pytest.fixture
def ledger() -> RunLedger:
    return RunLedger(SystemClock())


def hybrid(store: Store) -> HybridSearch:
    return HybridSearch(search=store, terms=store, encoder=WordsEncoder(), weights=FusionTable())


def sources(retrieval: Retrieval) -> list[str]:
    return [candidate.passage.source for candidate in retrieval.candidates]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("When does the pressure valve open?", "valve.md"),
        ("圧力弁はいつ開きますか？", "弁.md"),
        ("引越しの手順", "引っ越し.md"),
        ("ｻｰﾊﾞの電源", "引っ越し.md"),
    ],
)
async def test_the_passage_that_answers_comes_first(store: Store, ledger: RunLedger, query: str, first: str) -> None:
    retrieval = await hybrid(store).search(query, k=3, scope=Scope(), ledger=ledger)
    assert sources(retrieval)[0] == first
    best = retrieval.candidates[0]
    assert best.vector is not None
    assert best.strip_vectors is not None
    assert best.strip_vectors.shape == (1, 64)
    assert best.dense_rank == 1
    assert best.lexical_rank == 1
    assert best.queries == (query,)
    assert retrieval.query_vector is not None
    assert retrieval.term_weights
    assert all(weight > 0 for weight in retrieval.term_weights.values())


async def test_a_city_does_not_hit_another_by_keywords(store: Store, ledger: RunLedger) -> None:
    search = hybrid(store)
    assert sources(await search.search("京都", k=5, scope=Scope(), ledger=ledger, mode=SearchMode.LEXICAL)) == []
    found = await search.search("東京都", k=5, scope=Scope(), ledger=ledger, mode=SearchMode.LEXICAL)
    assert sources(found) == ["京都.md"]


async def test_what_only_keywords_found_has_its_exact_cosine(store: Store, ledger: RunLedger) -> None:
    found = await hybrid(store).search("pressure", k=5, scope=Scope(), ledger=ledger, mode=SearchMode.LEXICAL)
    assert set(sources(found)) == {"valve.md", "gauge.md"}
    for candidate in found.candidates:
        assert candidate.dense_rank is None
        assert candidate.vector is not None
        assert found.query_vector is not None
        assert candidate.dense == pytest.approx(float(candidate.vector @ found.query_vector))


async def test_modes_say_what_they_know(store: Store, ledger: RunLedger) -> None:
    search = hybrid(store)
    dense = await search.search("pressure", k=9, scope=Scope(), ledger=ledger, mode=SearchMode.DENSE)
    assert len(dense.candidates) == len(TEXTS)
    assert all(c.lexical is None and c.lexical_rank is None for c in dense.candidates)
    both = await search.search("pressure", k=9, scope=Scope(), ledger=ledger)
    # The keyword ranking ended before its bound: what is not in it scores exactly nothing.
    assert {c.passage.source: c.lexical for c in both.candidates}["music.md"] == 0.0
    with pytest.raises(ValueError, match="web"):
        await search.search("pressure", k=9, scope=Scope(), ledger=ledger, mode=SearchMode.WEB)


async def test_scope_reaches_both_searches(store: Store, ledger: RunLedger) -> None:
    await fill(store, {"secret.md": "The pressure valve is secret."}, access=Access(groups=frozenset({"red"})))
    search = hybrid(store)
    open_to_all = await search.search("secret pressure valve", k=9, scope=Scope(), ledger=ledger)
    assert "secret.md" not in sources(open_to_all)
    red = Scope(Reader(groups=frozenset({"red"})))
    assert sources(await search.search("secret pressure valve", k=9, scope=red, ledger=ledger))[0] == "secret.md"


@pytest.mark.parametrize("query", ["", " ", "　", "\n", "？！…", "---", "\x00"])
async def test_a25_a_query_without_words_finds_nothing(store: Store, ledger: RunLedger, query: str) -> None:
    retrieval = await hybrid(store).search(query, k=5, scope=Scope(), ledger=ledger)
    assert retrieval.candidates == ()
    assert retrieval.query == query


async def test_a27_an_empty_index_finds_nothing(tmp_path: Path, ledger: RunLedger) -> None:
    empty = open_store(tmp_path / "empty.db", encoder_id="words/1", dimensions=64, analyzer_id="test")
    for mode in (SearchMode.HYBRID, SearchMode.DENSE, SearchMode.LEXICAL):
        retrieval = await hybrid(empty).search("弁はいつ開く？", k=5, scope=Scope(), ledger=ledger, mode=mode)
        assert retrieval.candidates == ()
        assert retrieval.term_weights
    await empty.close()


async def test_a25_passages_without_text_are_candidates_like_others(store: Store, ledger: RunLedger) -> None:
    await fill(store, {"blank.md": " ", "none.md": "", "dots.md": "…"})
    found = await hybrid(store).search("pressure valve", k=20, scope=Scope(), ledger=ledger)
    assert {"blank.md", "none.md", "dots.md"} <= set(sources(found))
    assert sources(found)[0] == "valve.md"


async def test_every_step_is_in_the_ledger(store: Store, ledger: RunLedger) -> None:
    await hybrid(store).search("pressure", k=5, scope=Scope(), ledger=ledger)
    steps = {(call.stage, call.model) for call in ledger.calls}
    assert (Stage.EMBED, "words/1") in steps
    assert {(Stage.RETRIEVE, "dense"), (Stage.RETRIEVE, "lexical"), (Stage.RETRIEVE, "fetch")} <= steps
    assert all(call.outcome is Outcome.OK and call.cost_usd == 0.0 for call in ledger.calls)


class FailingStore(MemoryStore):
    problem: Exception

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        raise self.problem


@pytest.mark.parametrize(
    ("problem", "raised"), [(StoreBusy(path="index.db"), StoreBusy), (RuntimeError("no more"), SearchFailed)]
)
async def test_a_failed_search_is_named_and_recorded(
    ledger: RunLedger, problem: Exception, raised: type[Exception]
) -> None:
    store = FailingStore(dimensions=64)
    store.problem = problem
    with pytest.raises(raised):
        await hybrid(store).search("pressure", k=5, scope=Scope(), ledger=ledger)
    failed = [call for call in ledger.calls if call.outcome is Outcome.FAILED]
    assert [(call.stage, call.model) for call in failed] == [(Stage.RETRIEVE, "dense")]
    assert failed[0].error


class BrokenEncoder(WordsEncoder):
    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        raise RuntimeError("no session")


async def test_a_failed_encoder_is_named_and_recorded(store: Store, ledger: RunLedger) -> None:
    search = HybridSearch(search=store, terms=store, encoder=BrokenEncoder(), weights=FusionTable())
    with pytest.raises(SearchFailed, match="no session"):
        await search.search("pressure", k=5, scope=Scope(), ledger=ledger)
    assert any(call.stage is Stage.EMBED and call.outcome is Outcome.FAILED for call in ledger.calls)


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.INNER_PRODUCT, Metric.L2, Metric.SQUARED_L2])
async def test_a18_a19_every_metric_gives_the_same_ranking_and_cosines(ledger: RunLedger, metric: Metric) -> None:
    reference, store = MemoryStore(dimensions=64), MemoryStore(dimensions=64, metric=metric)
    await fill(reference, TEXTS)
    await fill(store, TEXTS)
    for mode in (SearchMode.HYBRID, SearchMode.DENSE):
        expected = await hybrid(reference).search("pressure valve", k=4, scope=Scope(), ledger=ledger, mode=mode)
        found = await hybrid(store).search("pressure valve", k=4, scope=Scope(), ledger=ledger, mode=mode)
        assert sources(found) == sources(expected)
        assert [c.dense for c in found.candidates] == pytest.approx([c.dense for c in expected.candidates], abs=1e-5)
        assert [c.dense_rank for c in found.candidates] == [c.dense_rank for c in expected.candidates]


async def test_a22_a_cosine_is_not_converted_again(ledger: RunLedger) -> None:
    store = MemoryStore(dimensions=64, metric=Metric.COSINE)
    await fill(store, TEXTS)
    query = WordsEncoder().encode_queries(["pressure valve"])[0]
    raw = {hit.passage_id: hit.score for hit in await store.dense(query, k=9, scope=Scope())}
    found = await hybrid(store).search("pressure valve", k=9, scope=Scope(), ledger=ledger, mode=SearchMode.DENSE)
    assert {c.passage.id: c.dense for c in found.candidates} == raw


async def test_a20_a_threshold_keeps_what_brute_force_keeps(ledger: RunLedger) -> None:
    store = MemoryStore(dimensions=64, metric=Metric.INNER_PRODUCT)
    await fill(store, TEXTS)
    query = WordsEncoder().encode_queries(["pressure valve"])[0]
    texts = WordsEncoder().encode_queries(list(TEXTS.values()))
    found = await hybrid(store).search("pressure valve", k=9, scope=Scope(), ledger=ledger, mode=SearchMode.DENSE)
    kept = [c for c in found.candidates if c.dense is not None and c.dense >= 0.3]
    assert len(kept) == int((np.sum(texts * query, axis=1) >= 0.3).sum()) > 0


class UnscoredStore(MemoryStore):
    """Returns rankings whose scores are missing or no numbers (A14)."""

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        hits = await super().dense(vector, k=k, scope=scope)
        odd = [None, float("nan"), "0.9", "n/a", None, float("inf")]
        return [Hit(hit.passage_id, value) for hit, value in zip(hits, odd, strict=True)]  # type: ignore[arg-type]


async def test_a14_a_missing_score_is_unknown_and_never_zero(ledger: RunLedger) -> None:
    store = UnscoredStore(dimensions=64)
    await fill(store, TEXTS)
    found = await hybrid(store).search("pressure valve", k=9, scope=Scope(), ledger=ledger, mode=SearchMode.DENSE)
    assert [c.dense for c in found.candidates] == [None, None, 0.9, None, None, None]
    assert [c.dense_rank for c in found.candidates] == [1, 2, 3, 4, 5, 6]
    assert all(c.fused > 0 for c in found.candidates)
