"""The in-memory store beyond the suite that it passes with every other."""

from __future__ import annotations

import pytest

from tadasu.core.documents import Reader
from tadasu.core.retrieved import Metric
from tadasu.testing.conformance.corpus import SampleDocument
from tadasu.testing.memory_store import MemoryStore, open_store


async def test_the_plugin_opens_an_empty_store() -> None:
    store = open_store("anywhere", encoder_id="e/1", dimensions=8, analyzer_id="a/1")
    assert await store.sources(reader=Reader()) == []
    await store.put(*SampleDocument("a.md", (("word",),)).built(dimensions=8))
    assert len(await store.sources(reader=Reader())) == 1
    await store.close()
    assert await store.sources(reader=Reader()) == []


def test_bm25_is_no_metric_of_vectors() -> None:
    with pytest.raises(ValueError, match="BM25"):
        MemoryStore(dimensions=8, metric=Metric.BM25)
