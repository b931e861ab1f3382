"""robots.txt is honoured, fetched under the same rules as any page, and remembered."""

from __future__ import annotations

import pytest

from tadasu.core.retrieved import WebPage
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching.fetching import ARTICLE, fetch, reasons, settings
from tests.providers.fetching.server import HostileServer, redirect, reply

pytestmark = pytest.mark.enable_socket
PAGES = {"/open/a": reply(ARTICLE), "/closed/a": reply(ARTICLE), "/closed/but/open": reply(ARTICLE)}
RULES = "User-agent: *\nDisallow: /closed/\nAllow: /closed/but/\n"


def robots(text: str | bytes, **more: str) -> bytes:
    return reply(text, kind="text/plain", **more)


@pytest.mark.parametrize(
    ("rules", "fetched"),
    [
        (robots(RULES), ["/open/a", "/closed/but/open"]),
        (robots("User-agent: Tadasu\nDisallow: /\n\nUser-agent: *\nAllow: /"), []),
        (robots("User-agent: tadasu\nAllow: /\n\nUser-agent: *\nDisallow: /"), list(PAGES)),
        (robots("User-agent: *\nDisallow: /*/a$"), ["/closed/but/open"]),
        (robots("\ufeffUser-agent: *\r\nDisallow: /\r\n"), []),
        (robots(""), list(PAGES)),
        (robots("<html>no rules at all</html>"), list(PAGES)),
        (robots("x", status="404 Not Found"), list(PAGES)),
        (robots("x", status="403 Forbidden"), list(PAGES)),
        (robots("x", status="500 Oops"), []),
        (robots("x", status="429 Too Many Requests"), []),
        (robots("Disallow: /\n" * 100_000), list(PAGES)),
        (redirect("/rules"), ["/open/a", "/closed/but/open"]),
        (redirect("/robots.txt"), list(PAGES)),
        (b"", []),
    ],
)
async def test_a_site_says_what_may_be_fetched(rules: bytes, fetched: list[str]) -> None:
    async with HostileServer({**PAGES, "/robots.txt": rules, "/rules": robots(RULES)}) as server:
        found, _ = await fetch([server.url(path) for path in PAGES], settings(server, robots=True))
    assert [page.url for page in found.pages] == [server.url(path) for path in fetched]
    assert set(reasons(found)) <= {"robots"}
    assert len(found.pages) + len(found.dropped) == len(PAGES)
    assert server.paths.count("/robots.txt") == 1 or rules == redirect("/robots.txt")  # by one of three at once


async def test_a36_robots_txt_leads_nobody_into_the_inside() -> None:
    answers = {"/open/a": reply(ARTICLE), "/robots.txt": redirect("http://169.254.169.254/robots.txt")}
    async with HostileServer(answers) as server:
        found, _ = await fetch([server.url("/open/a")], settings(server, robots=True))
    assert reasons(found) == ["address"]
    assert server.paths == ["/robots.txt"]


async def test_a_redirect_to_a_closed_page_is_not_followed() -> None:
    answers = {**PAGES, "/open/a": redirect("/closed/a"), "/robots.txt": robots(RULES)}
    async with HostileServer(answers) as server:
        found, _ = await fetch([server.url("/open/a")], settings(server, robots=True))
    assert reasons(found) == ["robots"]
    assert "/closed/a" not in server.paths


async def test_rules_are_fetched_once_a_day_and_every_look_at_them_is_in_the_ledger() -> None:
    clock = FixedWorld()
    async with HostileServer({**PAGES, "/robots.txt": robots(RULES)}) as server:
        fetcher = PageFetcher(settings(server, robots=True), clock=clock)
        ledger = RunLedger(SystemClock())
        for _ in range(3):
            await fetcher.fetch([WebPage(server.url("/open/a"), "A")], ledger=ledger)
        assert server.paths.count("/robots.txt") == 1
        clock.advance(86_400)
        await fetcher.fetch([WebPage(server.url("/open/a"), "A")], ledger=ledger)
        await fetcher.close()
    assert server.paths.count("/robots.txt") == 2
    assert [call.model for call in ledger.calls if call.model] == ["robots.txt", "robots.txt"]
    assert len([call for call in ledger.calls if not call.model]) == 4


async def test_a_site_that_was_down_is_asked_again_soon() -> None:
    clock = FixedWorld()
    async with HostileServer({**PAGES, "/robots.txt": robots("x", status="500 Oops")}) as server:
        fetcher = PageFetcher(settings(server, robots=True), clock=clock)
        page = WebPage(server.url("/open/a"), "A")
        first = await fetcher.fetch([page], ledger=RunLedger(SystemClock()))
        server.answers["/robots.txt"] = robots("")
        clock.advance(700)
        second = await fetcher.fetch([page], ledger=RunLedger(SystemClock()))
        await fetcher.close()
    assert reasons(first) == ["robots"]
    assert len(second.pages) == 1
