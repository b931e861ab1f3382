"""Pages kept between runs: for so long, so many, and never at the cost of a run."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tadasu.core.retrieved import WebPage
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.providers.fetching.page_cache import KeptPage, PageCache
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching.fetching import ARTICLE, settings
from tests.providers.fetching.server import HostileServer, reply

PAGE = KeptPage("text/html", b"<p>kept")
DAY = 86_400


def test_a_page_is_kept_until_its_days_are_over(tmp_path: Path) -> None:
    clock = FixedWorld()
    cache = PageCache(tmp_path / "pages.db", clock=clock, days=7)
    cache.put("https://a.example/", PAGE)
    clock.advance(6.9 * DAY)
    assert cache.get("https://a.example/") == PAGE
    assert cache.get("https://a.example/", days=1) is None
    assert cache.get("https://b.example/") is None
    clock.advance(0.2 * DAY)
    assert cache.get("https://a.example/") is None
    cache.close()


def test_another_process_finds_it(tmp_path: Path) -> None:
    first, second = (PageCache(tmp_path / "pages.db", clock=FixedWorld()) for _ in range(2))
    first.put("https://a.example/", PAGE)
    assert second.get("https://a.example/") == PAGE
    first.close()
    second.close()


def test_what_was_used_longest_ago_goes_where_there_is_no_room(tmp_path: Path) -> None:
    clock = FixedWorld()
    cache = PageCache(tmp_path / "pages.db", clock=clock, max_mb=0.1)
    pages = {f"https://{n}.example/": KeptPage("text/html", os.urandom(20_000)) for n in range(8)}
    for n, (address, page) in enumerate(pages.items()):
        clock.advance(1)
        cache.put(address, page)
        if n:
            cache.get("https://0.example/")  # the first is in use all the time
    held = [address for address, page in pages.items() if cache.get(address) == page]
    assert "https://0.example/" in held
    assert "https://7.example/" in held
    assert 3 <= len(held) <= 5
    cache.put("https://huge.example/", KeptPage("text/html", os.urandom(50_000)))
    assert cache.get("https://huge.example/") is None
    cache.close()


@pytest.mark.parametrize("damage", ["garbage", "cut", "row", "older"])
def test_a_damaged_file_is_thrown_away(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "pages.db"
    cache = PageCache(file, clock=FixedWorld())
    cache.put("https://a.example/", PAGE)
    cache.close()
    if damage == "garbage":
        file.write_bytes(b"this is no database" * 500)
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:5000])
    else:
        with sqlite3.connect(file) as database:
            if damage == "row":
                database.execute("UPDATE pages SET data = x'00ff'")
            else:
                database.execute("PRAGMA user_version = 77")
        database.close()
    cache = PageCache(file, clock=FixedWorld())
    assert cache.get("https://a.example/") is None
    cache.put("https://a.example/", PAGE)
    assert cache.get("https://a.example/") == PAGE
    cache.close()


def test_a_place_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = PageCache(tmp_path / "file" / "pages.db", clock=FixedWorld())
    cache.put("https://a.example/", PAGE)
    assert cache.get("https://a.example/") is None
    cache.close()


@pytest.mark.enable_socket
async def test_a_cached_page_is_served_without_its_server_and_said_to_be_cached(tmp_path: Path) -> None:
    clock = FixedWorld()
    answers = {"/": reply(ARTICLE), "/never": reply(ARTICLE, Cache_Control="max-age=0, no-store")}
    async with HostileServer(answers) as server:
        ledger = RunLedger(SystemClock())
        for _ in range(2):
            fetcher = PageFetcher(
                settings(server), clock=clock, cache=PageCache(tmp_path / "pages.db", clock=clock, days=7)
            )
            pages = [WebPage(server.url(path), "A") for path in answers]
            found = await fetcher.fetch(pages, ledger=ledger)
            assert len(found.pages) == 2
            assert found.pages[0].body == found.pages[1].body
            await fetcher.close()
        assert server.paths.count("/") == 1
        assert server.paths.count("/never") == 2
        assert sum(call.cached for call in ledger.calls) == 1
        assert len(ledger.calls) == 4


@pytest.mark.enable_socket
async def test_what_was_dropped_is_not_kept(tmp_path: Path) -> None:
    clock = FixedWorld()
    async with HostileServer({"/": reply("<title>Log in</title><p>Please log in to continue.")}) as server:
        cache = PageCache(tmp_path / "pages.db", clock=clock)
        fetcher = PageFetcher(settings(server), clock=clock, cache=cache)
        page = WebPage(server.url("/"), "A")
        await fetcher.fetch([page], ledger=RunLedger(SystemClock()))
        server.answers["/"] = reply(ARTICLE)
        found = await fetcher.fetch([page], ledger=RunLedger(SystemClock()))
        await fetcher.close()
    assert len(found.pages) == 1
