"""The suite for web searches, over real HTTP, and for the folder that plays the web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tadasu.ports import WebSearch, WebSearchSettings
from tadasu.providers.websearch.chain import SearchChain
from tadasu.providers.websearch.folder import open_search
from tadasu.runtime.world import FixedWorld
from tadasu.testing.conformance.websearch import WebSearchConformance
from tests.providers.websearch.services import PROVIDERS, opened, playing

pytestmark = pytest.mark.enable_socket


class TestServices(WebSearchConformance):
    @pytest.fixture(params=PROVIDERS)
    async def web(self, request: pytest.FixtureRequest) -> AsyncIterator[WebSearch]:
        async with playing(request.param) as (web, _):
            yield web

    @pytest.fixture(params=PROVIDERS)
    async def failing(self, request: pytest.FixtureRequest) -> AsyncIterator[WebSearch]:
        gone = opened(request.param)
        yield gone
        await gone.close()


class TestFolder(WebSearchConformance):
    leaves_the_machine = False

    @pytest.fixture
    def web(self, tmp_path: Path) -> WebSearch:
        rows = []
        for name, text in (
            ("en", "The warranty of the KPT-340 is three years."),
            ("ja", "KPT-340の保証期間は3年です。"),
        ):
            (tmp_path / f"{name}.html").write_text(f"<p>{text}</p>", "utf-8")
            rows.append(
                {"url": f"https://{name}.example/", "title": text[:12], "snippet": text, "file": f"{name}.html"}
            )
        (tmp_path / "index.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        return open_search(WebSearchSettings(folder=tmp_path))


class TestChain(WebSearchConformance):
    """The calls are those of the provider that answered; the rest holds of the chain itself."""

    @pytest.fixture
    async def web(self) -> AsyncIterator[WebSearch]:
        async with playing("brave") as (web, _):
            yield _Named(SearchChain([web], clock=FixedWorld()), web.id)

    @pytest.fixture
    async def failing(self) -> AsyncIterator[WebSearch]:
        gone = SearchChain([opened("brave"), opened("tavily")], clock=FixedWorld())
        yield gone
        await gone.close()


class _Named:
    def __init__(self, chain: SearchChain, name: str) -> None:
        self.search = chain.search
        self.id = name
