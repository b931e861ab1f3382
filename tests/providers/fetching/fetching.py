"""Fetchers for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tadasu.core.retrieved import FetchedPages, WebPage
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.providers.fetching.settings import FetchSettings
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching.server import HostileServer

ARTICLE = (
    "<html><head><title>Harbour</title></head><body><main><h1>Harbour</h1><p>The harbour of Norwick was dredged to"
    " eleven metres in 1987, and the new quay opened two years later.</p></main></body></html>"
)


def settings(server: HostileServer | None = None, **chosen: Any) -> FetchSettings:
    """Settings that let a server on loopback be fetched, without robots.txt unless asked for."""
    if server is not None:
        chosen.setdefault("private_hosts", (f"127.0.0.1:{server.port}",))
    chosen.setdefault("robots", False)
    chosen.setdefault("per_domain", 100)
    return FetchSettings(**chosen)


async def fetch(
    urls: Sequence[str], chosen: FetchSettings, *, snippet: str = "", **parts: Any
) -> tuple[FetchedPages, RunLedger]:
    """`urls` fetched by a fetcher of their own."""
    ledger = RunLedger(SystemClock())
    parts.setdefault("clock", FixedWorld())
    fetcher = PageFetcher(chosen, **parts)
    try:
        pages = [WebPage(url, "A page", snippet=snippet) for url in urls]
        return await fetcher.fetch(pages, ledger=ledger), ledger
    finally:
        await fetcher.close()


def reasons(found: FetchedPages) -> list[str]:
    """Why pages were dropped, in order."""
    return [page.reason for page in found.dropped]
