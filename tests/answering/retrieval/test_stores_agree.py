"""Both built-in stores answer alike, whatever is stored and whatever a search may touch."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.documents import Access, Reader, Scope
from tadasu.ports import Store
from tadasu.testing.conformance.corpus import SampleDocument, unit_vectors
from tadasu.testing.memory_store import MemoryStore

DIMENSIONS = 8
QUERY = unit_vectors(1, dimensions=DIMENSIONS, seed="agree")[0]
SOURCES = ["a.md", "b/a.md", "b/c.md", "ｃ.md"]
groups = st.frozensets(st.sampled_from(["red", "blue"]))
words = st.sampled_from(["valve", "圧力", "c++", "zero"])
documents = st.builds(
    SampleDocument,
    source=st.sampled_from(SOURCES),
    passages=st.lists(st.lists(words, max_size=4).map(tuple), max_size=3).map(tuple),
    access=st.builds(Access, tenant=st.sampled_from(["alpha", "beta"]), groups=groups),
    language=st.sampled_from(["en", "ja"]),
    date=st.sampled_from(["", "2024-01-31", "2025-06-01"]),
    seed=st.integers(0, 2),
)
dates = st.sampled_from(["", "2024-01-31", "2025-01-01", "2026-01-01"])


@st.composite
def scopes(draw: st.DrawFn, samples: list[SampleDocument]) -> Scope:
    passages = [item.passage.id for each in samples for item in each.built(dimensions=DIMENSIONS)[1]]
    return Scope(
        reader=Reader(draw(st.sampled_from(["alpha", "beta"])), draw(groups)),
        language=draw(st.sampled_from([None, "en", "ja", "fr"])),
        source_prefix=draw(st.sampled_from(["", "b/", "ｃ", "B"])),
        since=draw(dates),
        until=draw(dates),
        exclude_passages=frozenset(draw(st.lists(st.sampled_from(["unknown", *passages]), max_size=2))),
        exclude_documents=frozenset(
            draw(st.lists(st.sampled_from([each.id for each in samples] or ["x"]), max_size=1))
        ),
    )


@st.composite
def libraries(draw: st.DrawFn) -> tuple[list[SampleDocument], list[Scope]]:
    samples = draw(st.lists(documents, max_size=6))
    return samples, draw(st.lists(scopes(samples), min_size=1, max_size=3))


async def answers(store: Store, scope: Scope, everything: list[str]) -> dict[str, object]:
    dense = await store.dense(QUERY, k=50, scope=scope)
    lexical = await store.lexical(["valve", "圧力", "c++"], k=50, scope=scope)
    return {
        "dense": {hit.passage_id: round(hit.score or 0.0, 4) for hit in dense},
        "lexical": {hit.passage_id: round(hit.score or 0.0, 6) for hit in lexical},
        "bounded": len(await store.dense(QUERY, k=2, scope=scope)),
        "fetch": [stored.passage for stored in await store.fetch(everything, scope=scope)],
        "documents": [await store.document(source, reader=scope.reader) for source in SOURCES],
        "sources": list(await store.sources(reader=scope.reader)),
        "statistics": await store.statistics(reader=scope.reader),
        "weights": await store.term_weights(["valve", "c++"], reader=scope.reader),
        "fingerprints": await store.fingerprints(tenant=scope.reader.tenant, source_prefix=scope.source_prefix),
    }


def test_both_stores_agree(tmp_path: Path) -> None:
    numbers = itertools.count()

    @settings(max_examples=40, deadline=None)
    @given(libraries())
    def check(library: tuple[list[SampleDocument], list[Scope]]) -> None:
        asyncio.run(compare(tmp_path / f"{next(numbers)}.db", *library))

    check()


async def compare(path: Path, samples: list[SampleDocument], scopes: list[Scope]) -> None:
    memory = MemoryStore(dimensions=DIMENSIONS)
    sqlite = open_store(path, encoder_id="e/1", dimensions=DIMENSIONS, analyzer_id="a/1")
    everything = [item.passage.id for each in samples for item in each.built(dimensions=DIMENSIONS)[1]]
    for at, sample in enumerate(samples):
        for store in (memory, sqlite):
            await store.put(*sample.built(dimensions=DIMENSIONS))
            if at % 4 == 3:
                await store.remove([samples[0].id])
        for scope in scopes:
            expected = await answers(memory, scope, everything)
            found = await answers(sqlite, scope, everything)
            for name, value in expected.items():
                assert (
                    found[name] == pytest.approx(value, abs=2e-4)
                    if name in {"dense", "lexical"}
                    else (found[name] == value)
                ), name
    await sqlite.close()
