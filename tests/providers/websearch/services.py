"""The providers over a server that plays them, for the tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from tadasu.core.retrieved import WebPage
from tadasu.ports import WebSearch, WebSearchSettings
from tadasu.providers.registry import load_plugin
from tadasu.providers.websearch.service import ApiSearch
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tadasu.testing.web_dialects import DIALECTS, FoundPage
from tadasu.testing.web_server import WebManner, WebServer

PROVIDERS = tuple(DIALECTS)
KEY = "sk/secret+7f3a=&x"
"""With letters that are written otherwise in an address."""
VARIABLE = "WEB_TEST_KEY"


def opened(name: str, server: WebServer | None = None, **more: object) -> ApiSearch:
    """The provider `name`, asking `server`; with an engine, for those that want one."""
    settings = WebSearchSettings(base_url=server.base_url if server else "http://127.0.0.1:9", timeout_s=30)
    if name == "google":
        settings = replace(settings, engine="cx-1")
    provider: ApiSearch = load_plugin("tadasu.websearch", name)(replace(settings, **more))  # type: ignore[arg-type]
    return provider


@asynccontextmanager
async def playing(
    name: str,
    *manners: WebManner,
    pages: Sequence[FoundPage] | None = None,
    key: str = "",
    **more: object,
) -> AsyncIterator[tuple[ApiSearch, WebServer]]:
    """The provider `name` and the server that it asks."""
    with WebServer(name, manners or (WebManner.WELL,), pages=pages, key=key) as server:
        provider = opened(name, server, **more)
        try:
            yield provider, server
        finally:
            await provider.close()


@dataclass
class Searched:
    """What a search gave, and its ledger."""

    pages: Sequence[WebPage]
    ledger: RunLedger


async def searched(web: WebSearch, query: str = "warranty", *, limit: int = 5, language: str = "en") -> Searched:
    """One search in a run of its own."""
    ledger = RunLedger(FixedWorld())
    pages = await web.search(query, limit=limit, language=language, ledger=ledger)
    return Searched(pages, ledger)


def urls(pages: Iterable[WebPage]) -> list[str]:
    """Their addresses, in order."""
    return [page.url for page in pages]
