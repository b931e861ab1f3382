"""What every store does alike, as a suite of tests.

::

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def make_store(self, tmp_path):
            async def make(dimensions: int) -> Store:
                return await MyStore.open(tmp_path / uuid4().hex, dimensions=dimensions)
            return make
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tadasu.core.documents import Access, Reader, Scope
from tadasu.core.retrieved import BM25_B, BM25_K1, Hit, Metric, known, similarity
from tadasu.ports import IndexedPassage, Store
from tadasu.testing.conformance.corpus import SampleDocument, toward, unit_vectors, with_vectors

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatVector

MakeStore: TypeAlias = Callable[[int], Awaitable[Store]]
"""Opens a new, empty store for vectors of a length; different stores for different calls."""

EVERYBODY = Reader("alpha", frozenset({"red", "blue", "green"}))
RANGES = {
    Metric.COSINE: (-1.0, 1.0),
    Metric.INNER_PRODUCT: (-1.0, 1.0),
    Metric.L2: (0.0, 2.0),
    Metric.SQUARED_L2: (0.0, 4.0),
}

_words = st.sampled_from(["gauge", "valve", "圧力", "計", "zero", "弁"])
_documents = st.builds(
    SampleDocument,
    source=st.sampled_from(["a.md", "b.md", "c/d.md", "c/e.md", "f.pdf", "g.pdf"]),
    passages=st.lists(st.lists(_words, min_size=1, max_size=6).map(tuple), min_size=1, max_size=3).map(tuple),
    access=st.builds(
        Access,
        tenant=st.sampled_from(["alpha", "beta"]),
        groups=st.frozensets(st.sampled_from(["red", "blue", "green"]), max_size=2),
    ),
    language=st.sampled_from(["en", "ja"]),
    date=st.sampled_from(["", "2024-01-31", "2025-06-01"]),
    seed=st.integers(0, 3),
)
_readers = st.builds(
    Reader,
    tenant=st.sampled_from(["alpha", "beta", "gamma"]),
    groups=st.frozensets(st.sampled_from(["red", "blue", "green"]), max_size=2),
)


class StoreConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `make_store`.

    `dimensions` may be changed for engines with demands; `tolerance` is how far a score may be from the exact one.
    """

    dimensions = 16
    tolerance = 1e-4

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Override this."""
        raise NotImplementedError("give the suite a make_store fixture")

    # --- ranking -----------------------------------------------------------------------------

    async def test_dense_ranking_equals_brute_force(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            for query in unit_vectors(5, dimensions=self.dimensions, seed="queries"):
                hits = await filled.store.dense(query, k=7, scope=Scope(EVERYBODY))
                exact = sorted((-float(item.vectors.passage @ query), item.passage.id) for item in filled.items())[:7]
                assert [hit.passage_id for hit in hits] == [id_ for _, id_ in exact]
                got = [similarity(hit.score, filled.store.dense_metric) for hit in hits]
                assert got == pytest.approx([-score for score, _ in exact], abs=self.tolerance)

    async def test_lexical_ranking_equals_brute_force(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            for terms in (["valve"], ["圧力", "計"], ["valve", "圧力", "zero"], ["valve", "valve", "nowhere"]):
                hits = await filled.store.lexical(terms, k=50, scope=Scope(EVERYBODY))
                exact = _bm25(terms, filled.items())
                assert {hit.passage_id: hit.score for hit in hits} == pytest.approx(exact, rel=1e-3)
                assert _descending([hit.score for hit in hits])

    async def test_nearest_has_the_highest_normalised_score(self, make_store: MakeStore) -> None:
        document, items = SampleDocument("near.md", (("a",), ("b",), ("c",))).built(dimensions=self.dimensions)
        query = unit_vectors(1, dimensions=self.dimensions, seed="q")[0]
        cosines = (0.2, 0.95, 0.6)
        vectors = [toward(query, cosine=cosine, dimensions=self.dimensions) for cosine in cosines]
        store = await make_store(self.dimensions)
        await store.put(document, with_vectors(items, vectors))
        hits = await store.dense(query, k=3, scope=Scope())
        assert [hit.passage_id for hit in hits] == [items[i].passage.id for i in (1, 2, 0)]
        scores = [similarity(hit.score, store.dense_metric) for hit in hits]
        assert scores == pytest.approx([0.95, 0.6, 0.2], abs=self.tolerance)
        await store.close()

    async def test_scores_keep_their_contract(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            low, high = RANGES[filled.store.dense_metric]
            query = unit_vectors(1, dimensions=self.dimensions, seed="contract")[0]
            for hit in await filled.store.dense(query, k=50, scope=Scope(EVERYBODY)):
                score = known(hit.score)
                assert score is None or low - self.tolerance <= score <= high + self.tolerance
            for hit in await filled.store.lexical(["valve", "計"], k=50, scope=Scope(EVERYBODY)):
                score = known(hit.score)
                assert score is None or score > 0

    async def test_equal_scores_are_ordered_by_id(self, make_store: MakeStore) -> None:
        document, items = SampleDocument("twins.md", (("twin",),) * 5).built(dimensions=self.dimensions)
        query = unit_vectors(1, dimensions=self.dimensions, seed="twins")[0]
        store = await make_store(self.dimensions)
        await store.put(document, with_vectors(list(reversed(items)), [query] * 5))
        expected = sorted(item.passage.id for item in items)[:3]
        assert _ids(await store.lexical(["twin"], k=3, scope=Scope())) == expected
        await store.close()

    @pytest.mark.parametrize(("k", "expected"), [(-1, 0), (0, 0), (1, 1), (10**6, 14)])
    async def test_k_is_a_bound(self, make_store: MakeStore, k: int, expected: int) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            query = unit_vectors(1, dimensions=self.dimensions, seed="k")[0]
            assert len(await filled.store.dense(query, k=k, scope=Scope(EVERYBODY))) == expected
            assert len(await filled.store.lexical(["common"], k=k, scope=Scope(EVERYBODY))) == expected

    async def test_a_vector_of_another_shape_is_refused(self, make_store: MakeStore) -> None:
        store = await make_store(self.dimensions)
        document, items = SampleDocument("shape.md", (("a",),)).built(dimensions=self.dimensions)
        with pytest.raises(ValueError, match="vector"):
            await store.dense(np.ones(self.dimensions + 1, np.float32), k=1, scope=Scope())
        with pytest.raises(ValueError, match="vector"):
            await store.put(document, with_vectors(items, [np.full(self.dimensions, np.nan, np.float32)]))
        assert await store.sources(reader=Reader()) == []
        await store.close()

    async def test_passages_that_are_not_the_documents_own_are_refused(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            document, items = SampleDocument("new.md", (("a",), ("b",))).built(dimensions=self.dimensions)
            taken = replace(items[1].passage, id=filled.items()[0].passage.id)
            foreign = replace(items[1].passage, document_id="another")
            for passage in (taken, foreign, items[0].passage):
                with pytest.raises(ValueError, match=r"."):
                    await filled.store.put(document, [items[0], replace(items[1], passage=passage)])
            assert await filled.store.document(document.id, reader=Reader()) is None
            assert len(await filled.store.lexical(["common"], k=99, scope=Scope(EVERYBODY))) == 14

    # --- what a search may touch -------------------------------------------------------------

    @pytest.mark.parametrize(
        ("scope", "expected"),
        [
            (Scope(EVERYBODY, language="ja"), {"c/d.md", "c/e.md"}),
            (Scope(EVERYBODY, source_prefix="c/"), {"c/d.md", "c/e.md"}),
            (Scope(EVERYBODY, source_prefix="c/d"), {"c/d.md"}),
            (Scope(EVERYBODY, source_prefix="%"), set()),
            (Scope(EVERYBODY, since="2025-01-01"), {"b.md", "c/e.md"}),
            (Scope(EVERYBODY, until="2024-12-31"), {"a.md"}),
            (Scope(EVERYBODY, since="2024-03-01", until="2025-03-01"), {"a.md", "b.md"}),
            (Scope(EVERYBODY, since="2030-01-01"), set()),
            (Scope(EVERYBODY, language="ja", since="2025-01-01"), {"c/e.md"}),
        ],
    )
    async def test_filters_are_applied_before_ranking(
        self, make_store: MakeStore, scope: Scope, expected: set[str]
    ) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            inside = {item.passage.id for item in filled.items() if item.passage.source in expected}
            query = unit_vectors(1, dimensions=self.dimensions, seed="filters")[0]
            assert set(_ids(await filled.store.dense(query, k=50, scope=scope))) == inside
            assert set(_ids(await filled.store.lexical(["common"], k=50, scope=scope))) == inside
            everything = [item.passage.id for item in filled.items()]
            found = await filled.store.fetch(everything, scope=scope)
            assert [stored.passage.id for stored in found] == [id_ for id_ in everything if id_ in inside]
            # The bound counts what is left, not what was filtered away.
            assert len(await filled.store.dense(query, k=2, scope=scope)) == min(2, len(inside))

    async def test_exclusions_are_applied_before_ranking(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            query = unit_vectors(1, dimensions=self.dimensions, seed="exclusions")[0]
            before = _ids(await filled.store.dense(query, k=50, scope=Scope(EVERYBODY)))
            gone = SampleDocument("b.md", (), Access("alpha")).id
            scope = Scope(
                EVERYBODY,
                exclude_passages=frozenset({before[0], "unknown"}),
                exclude_documents=frozenset({gone, "unknown"}),
            )
            hidden = {before[0]} | {i.passage.id for i in filled.items() if i.passage.document_id == gone}
            left = [id_ for id_ in before if id_ not in hidden]
            assert _ids(await filled.store.dense(query, k=50, scope=scope)) == left
            assert _ids(await filled.store.dense(query, k=3, scope=scope)) == left[:3]
            assert set(_ids(await filled.store.lexical(["common"], k=50, scope=scope))) == set(left)
            assert [s.passage.id for s in await filled.store.fetch(before, scope=scope)] == left

    def test_nothing_hidden_shows_anywhere(self, make_store: MakeStore) -> None:
        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(documents=st.lists(_documents, max_size=10), removed=st.integers(0, 3), reader=_readers)
        def check(documents: list[SampleDocument], removed: int, reader: Reader) -> None:
            asyncio.run(self._check_hiding(make_store, documents, documents[:removed], reader))

        check()

    async def _check_hiding(
        self,
        make_store: MakeStore,
        documents: Sequence[SampleDocument],
        removed: Sequence[SampleDocument],
        reader: Reader,
    ) -> None:
        """A store with hidden documents must be the same, to the last digit that shows, as one without them."""
        full, visible_only = await make_store(self.dimensions), await make_store(self.dimensions)
        final = {document.id: document for document in documents}
        for document in documents:
            await full.put(*document.built(dimensions=self.dimensions))
        await full.remove([document.id for document in removed])
        for document in removed:
            final.pop(document.id, None)
        for document in final.values():
            if reader.may_see(document.access):
                await visible_only.put(*document.built(dimensions=self.dimensions))
        everything = [
            item.passage.id for document in documents for item in document.built(dimensions=self.dimensions)[1]
        ]
        seen = await _see(full, everything, reader, self.dimensions)
        expected = await _see(visible_only, everything, reader, self.dimensions)
        for name, value in expected.items():
            assert seen[name] == value, name
        await full.close()
        await visible_only.close()

    # --- writing -----------------------------------------------------------------------------

    async def test_a_stored_passage_comes_back_as_it_went_in(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            items = list(filled.items())
            found = await filled.store.fetch([item.passage.id for item in items], scope=Scope(EVERYBODY))
            for item, stored in zip(items, found, strict=True):
                assert stored.passage == item.passage
                np.testing.assert_allclose(stored.vector, item.vectors.passage, atol=self.tolerance)
                assert stored.strip_vectors.dtype == np.float32
                np.testing.assert_allclose(stored.strip_vectors, item.vectors.strips, atol=2e-3)

    async def test_a_stored_document_comes_back_by_id_and_by_source(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            for sample in _library():
                document, _ = sample.built(dimensions=self.dimensions)
                expected = document if EVERYBODY.may_see(document.access) else None
                assert await filled.store.document(document.id, reader=EVERYBODY) == expected
            assert await filled.store.document("nowhere.md", reader=EVERYBODY) is None
            by_source = await filled.store.document("c/d.md", reader=EVERYBODY)
            assert by_source is not None
            assert by_source.source == "c/d.md"

    async def test_putting_again_replaces_all_of_a_document(self, make_store: MakeStore) -> None:
        old = SampleDocument("a.md", (("old", "shared"), ("old", "second")))
        new = SampleDocument("a.md", (("new", "shared"),), seed=9)
        store = await make_store(self.dimensions)
        await store.put(*old.built(dimensions=self.dimensions))
        await store.put(*new.built(dimensions=self.dimensions))
        ids = [item.passage.id for item in new.built(dimensions=self.dimensions)[1]]
        query = unit_vectors(1, dimensions=self.dimensions, seed="replace")[0]
        assert _ids(await store.dense(query, k=9, scope=Scope())) == ids
        assert _ids(await store.lexical(["shared"], k=9, scope=Scope())) == ids
        assert _ids(await store.lexical(["old"], k=9, scope=Scope())) == []
        assert (await store.statistics(reader=Reader())).passages == 1
        assert await store.fingerprints(tenant="default") == {"a.md": new.built(dimensions=2)[0].content_hash}
        await store.close()

    async def test_a_replaced_document_takes_its_new_access(self, make_store: MakeStore) -> None:
        store = await make_store(self.dimensions)
        document, items = SampleDocument("a.md", (("word",),)).built(dimensions=self.dimensions)
        await store.put(document, items)
        secret = SampleDocument("a.md", (("word",),), access=Access(groups=frozenset({"red"})))
        await store.put(*secret.built(dimensions=self.dimensions))
        assert await store.lexical(["word"], k=5, scope=Scope()) == []
        assert len(await store.lexical(["word"], k=5, scope=Scope(Reader(groups=frozenset({"red"}))))) == 1
        await store.close()

    async def test_a_removed_document_is_gone_and_unknown_ids_are_ignored(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            gone = SampleDocument("a.md", (), Access("alpha")).id
            ids = [item.passage.id for item in filled.items() if item.passage.document_id == gone]
            await filled.store.remove([gone, "unknown", gone])
            await filled.store.remove([])
            assert await filled.store.fetch([*ids, "unknown"], scope=Scope(EVERYBODY)) == []
            assert await filled.store.document(gone, reader=EVERYBODY) is None
            assert gone not in {id_ for id_, _ in await filled.store.sources(reader=EVERYBODY)}
            assert "a.md" not in await filled.store.fingerprints(tenant="alpha")
            left = [item for item in filled.items() if item.passage.document_id != gone]
            hits = await filled.store.lexical(["valve"], k=50, scope=Scope(EVERYBODY))
            assert {hit.passage_id: hit.score for hit in hits} == pytest.approx(_bm25(["valve"], left), rel=1e-3)

    async def test_a_document_without_passages_is_a_document(self, make_store: MakeStore) -> None:
        store = await make_store(self.dimensions)
        await store.put(*SampleDocument("empty.md", ()).built(dimensions=self.dimensions))
        assert [source for _, source in await store.sources(reader=Reader())] == ["empty.md"]
        assert (await store.statistics(reader=Reader())).passages == 0
        await store.close()

    async def test_fingerprints_are_by_tenant_and_prefix(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            assert set(await filled.store.fingerprints(tenant="alpha", source_prefix="c/")) == {"c/d.md", "c/e.md"}
            assert set(await filled.store.fingerprints(tenant="beta")) == {"a.md"}
            assert await filled.store.fingerprints(tenant="nobody") == {}

    async def test_access_tags_can_be_audited(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            store = filled.store
            tags = await store.groups(tenant="alpha")
            assert tags == {
                document.source: document.access.groups for document in _library() if document.access.tenant == "alpha"
            }
            assert await store.groups(tenant="nobody") == {}
            seen = await store.entries(reader=Reader("alpha", frozenset({"grey"})))
            assert [(one.id, one.source) for one in seen] == list(
                await store.sources(reader=Reader("alpha", frozenset({"grey"})))
            )
            assert {one.source: one.groups for one in seen}["g.md"] == ("green", "grey")
            assert all(set(one.groups) == tags[one.source] for one in seen)
            assert {one.source: (one.date, one.language) for one in seen}["b.md"] == ("2025-01-01", "en")

    # --- odd input ---------------------------------------------------------------------------

    async def test_an_empty_index_answers_everything(self, make_store: MakeStore) -> None:
        store = await make_store(self.dimensions)
        query = unit_vectors(1, dimensions=self.dimensions, seed="empty")[0]
        assert await store.dense(query, k=5, scope=Scope()) == []
        assert await store.lexical(["word"], k=5, scope=Scope()) == []
        assert await store.lexical([], k=5, scope=Scope()) == []
        assert await store.fetch(["p1"], scope=Scope()) == []
        assert await store.fetch([], scope=Scope()) == []
        assert await store.document("d1", reader=Reader()) is None
        assert await store.sources(reader=Reader()) == []
        assert (await store.statistics(reader=Reader())).documents == 0
        assert await store.fingerprints(tenant="default") == {}
        weights = await store.term_weights(["word"], reader=Reader())
        assert set(weights) == {"word"}
        assert weights["word"] >= 0
        await store.close()

    async def test_unusual_tokens_are_found_as_they_are(self, make_store: MakeStore) -> None:
        odd = ["c++", "c#", "3.14", "a b", "", " ", '"', "'", "NEAR", "AND", "*", "café", "cafe", "CAFE", "①", "ｻｰﾊﾞｰ",
               "サーバー", "𠮷", "👍🏽", "x" * 5000, "x" * 5001, "term:", "-", "t", "1t", "\u200b", "\x00"]  # fmt: skip
        document, items = SampleDocument("odd.md", tuple((token,) for token in odd)).built(dimensions=self.dimensions)
        store = await make_store(self.dimensions)
        await store.put(document, items)
        for token, item in zip(odd, items, strict=True):
            assert _ids(await store.lexical([token], k=99, scope=Scope())) == [item.passage.id], repr(token)
        await store.remove([document.id])
        for token in odd:
            assert await store.lexical([token], k=9, scope=Scope()) == []
        await store.close()

    async def test_term_weights_follow_the_formula(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            weights = await filled.store.term_weights(["common", "valve", "nowhere"], reader=EVERYBODY)
            items = list(filled.items())
            for term, weight in weights.items():
                holding = sum(term in item.tokens for item in items)
                assert weight == pytest.approx(math.log(1 + (len(items) - holding + 0.5) / (holding + 0.5)))
            assert weights["common"] < weights["valve"] < weights["nowhere"]

    async def test_searches_may_run_side_by_side(self, make_store: MakeStore) -> None:
        async with _Filled(make_store, self.dimensions, _library()) as filled:
            queries = unit_vectors(8, dimensions=self.dimensions, seed="side by side")
            alone = [await filled.store.dense(query, k=4, scope=Scope(EVERYBODY)) for query in queries]
            together = await asyncio.gather(
                *(filled.store.dense(query, k=4, scope=Scope(EVERYBODY)) for query in queries)
            )
            assert [_ids(hits) for hits in together] == [_ids(hits) for hits in alone]


class _Filled:
    """A store with documents in it, closed at the end; `items` are the passages that EVERYBODY may see."""

    def __init__(self, make_store: MakeStore, dimensions: int, samples: Sequence[SampleDocument]) -> None:
        self._make = make_store
        self._dimensions = dimensions
        self._samples = samples
        self.store: Store

    async def __aenter__(self) -> _Filled:
        self.store = await self._make(self._dimensions)
        for sample in self._samples:
            await self.store.put(*sample.built(dimensions=self._dimensions))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.store.close()

    def items(self) -> list[IndexedPassage]:
        """Passages that EVERYBODY may see."""
        return [
            item
            for sample in self._samples
            if EVERYBODY.may_see(sample.access)
            for item in sample.built(dimensions=self._dimensions)[1]
        ]


def _library() -> list[SampleDocument]:
    alpha = Access("alpha")
    red = Access("alpha", frozenset({"red"}))
    cycle = itertools.cycle(["valve", "圧力", "計", "gauge"])
    return [
        SampleDocument("a.md", tuple(("common", next(cycle), "zero") for _ in range(3)), alpha, "en", "2024-05-01"),
        SampleDocument("b.md", tuple(("common", next(cycle)) * (n + 1) for n in range(4)), alpha, "en", "2025-01-01"),
        SampleDocument("c/d.md", tuple(("common", "圧力", "計", next(cycle)) for _ in range(4)), alpha, "ja", ""),
        SampleDocument("c/e.md", (("common", "弁"), ("common", "圧力", "圧力", "弁")), red, "ja", "2025-06-30"),
        SampleDocument("g.md", (("common",),), Access("alpha", frozenset({"green", "grey"}))),
        SampleDocument("h.md", (("common", "valve"),), Access("alpha", frozenset({"grey"}))),
        SampleDocument("a.md", (("common", "valve"), ("valve",)), Access("beta")),
    ]


async def _see(store: Store, everything: Sequence[str], reader: Reader, dimensions: int) -> dict[str, object]:
    """All that `reader` can learn from a store, scores rounded to what brute force gives alike."""
    scope = Scope(reader)
    query: FloatVector = unit_vectors(1, dimensions=dimensions, seed="see")[0]
    terms = ["gauge", "valve", "圧力", "計", "zero", "弁", "nowhere"]
    sources = await store.sources(reader=reader)
    documents = [await store.document(source, reader=reader) for source in ("a.md", "b.md", "c/d.md", "f.pdf")]
    return {
        "dense": {h.passage_id: _rounded(h.score) for h in await store.dense(query, k=99, scope=scope)},
        "lexical": {h.passage_id: _rounded(h.score) for h in await store.lexical(terms, k=99, scope=scope)},
        "fetch": [stored.passage for stored in await store.fetch(everything, scope=scope)],
        "sources": list(sources),
        "entries": list(await store.entries(reader=reader)),
        "documents": documents,
        "statistics": await store.statistics(reader=reader),
        "term_weights": {
            term: _rounded(weight) for term, weight in (await store.term_weights(terms, reader=reader)).items()
        },
    }


def _bm25(terms: Sequence[str], items: Sequence[IndexedPassage]) -> dict[str, float]:
    average = sum(len(item.tokens) for item in items) / len(items)
    scores: dict[str, float] = {}
    for term in set(terms):
        holding = sum(term in item.tokens for item in items)
        weight = math.log(1 + (len(items) - holding + 0.5) / (holding + 0.5))
        for item in items:
            count = Counter(item.tokens)[term]
            if count:
                norm = 1 - BM25_B + BM25_B * len(item.tokens) / average
                gain = count * (BM25_K1 + 1) / (count + BM25_K1 * norm)
                scores[item.passage.id] = scores.get(item.passage.id, 0.0) + weight * gain
    return scores


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage_id for hit in hits]


def _rounded(score: object) -> float | None:
    value = known(score)
    return None if value is None else round(value, 4)


def _descending(scores: Sequence[float | None]) -> bool:
    values = [score for score in scores if score is not None]
    return all(earlier >= later for earlier, later in itertools.pairwise(values))
