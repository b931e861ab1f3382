"""Both built-in stores pass the suite that third parties subclass; so do stores with other metrics."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.core.retrieved import Metric
from tadasu.ports import Store
from tadasu.testing.conformance.store import MakeStore, StoreConformance
from tadasu.testing.memory_store import MemoryStore


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> MakeStore:
        numbers = itertools.count()

        async def make(dimensions: int) -> Store:
            path = tmp_path / f"index-{next(numbers)}.db"
            return open_store(path, encoder_id="test/1", dimensions=dimensions, analyzer_id="test/1")

        return make


class TestMemoryStore(StoreConformance):
    metric = Metric.COSINE

    @pytest.fixture
    def make_store(self) -> MakeStore:
        async def make(dimensions: int) -> Store:
            return MemoryStore(dimensions=dimensions, metric=self.metric)

        return make


class TestStoreWithInnerProduct(TestMemoryStore):
    metric = Metric.INNER_PRODUCT


class TestStoreWithDistance(TestMemoryStore):
    metric = Metric.L2


class TestStoreWithSquaredDistance(TestMemoryStore):
    metric = Metric.SQUARED_L2
