from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tadasu.storage.score_cache import open_cache
from tadasu.testing.conformance.cache import CacheConformance, OpenCache


class TestSqliteCache(CacheConformance):
    @pytest.fixture
    def open_cache(self, tmp_path: Path) -> OpenCache:
        return lambda settings: open_cache(replace(settings, file=tmp_path / "deep" / "scores.db"))
