"""Fetches take their turns at the scheduler, as providers of their hosts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Priority, Stage
from tadasu.errors import BudgetSpent, ProviderLimited, ProviderUnreachable
from tadasu.ports import Errand, Ledger
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching.fetching import ARTICLE, reasons, settings
from tests.providers.fetching.server import HostileServer, reply

pytestmark = pytest.mark.enable_socket
T = TypeVar("T")


class Turns:
    """A scheduler that lets everybody through, or nobody, and remembers how turns ended."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal
        self.errands: list[Errand] = []
        self.ends: list[BaseException | None] = []

    @asynccontextmanager
    async def turn(self, errand: Errand, *, ledger: Ledger) -> AsyncIterator[None]:
        self.errands.append(errand)
        if self.refusal is not None:
            raise self.refusal
        try:
            yield
        except BaseException as error:
            self.ends.append(error)
            raise
        self.ends.append(None)

    async def call(self, errand: Errand, work: Callable[[int], Awaitable[T]], *, ledger: Ledger) -> T:
        async with self.turn(errand, ledger=ledger):
            return await work(1)


class Urgent(RunLedger):
    priority = Priority.LOW
    tenant = "north"


async def run(
    server: HostileServer, turns: Turns, *paths: str, ledger: RunLedger | None = None
) -> tuple[list[str], int]:
    fetcher = PageFetcher(settings(server), clock=FixedWorld(), scheduler=turns)
    pages = [WebPage(server.url(path), "A", snippet="A snippet.") for path in paths]
    found = await fetcher.fetch(pages, ledger=ledger or RunLedger(SystemClock()))
    await fetcher.close()
    return reasons(found), len(found.pages)


async def test_a_fetch_is_an_errand_of_its_host_for_the_run_that_asks() -> None:
    turns = Turns()
    async with HostileServer({"/": reply(ARTICLE)}) as server:
        assert await run(server, turns, "/", ledger=Urgent(SystemClock())) == ([], 1)
    (errand,) = turns.errands
    assert (errand.provider, errand.stage, errand.priority, errand.tenant) == (
        "127.0.0.1", Stage.FETCH, Priority.LOW, "north",
    )  # fmt: skip
    assert turns.ends == [None]


async def test_the_scheduler_learns_of_hosts_that_are_down_or_overrun_and_of_nothing_else() -> None:
    turns = Turns()
    answers = {
        "/down": reply("x", status="503 Service Unavailable"),
        "/overrun": reply("x", status="429 Too Many Requests", Retry_After="7"),
        "/wall": reply("<title>Log in</title><p>Please log in to continue."),
        "/image": reply(b"x", kind="image/png"),
    }
    async with HostileServer(answers) as server:
        told, _ = await run(server, turns, *answers)
    assert told == ["http_status", "limited", "login_wall", "media_type"]
    kinds = {type(end): end for end in turns.ends}
    assert ProviderUnreachable in kinds
    assert isinstance(limited := kinds[ProviderLimited], ProviderLimited)
    assert limited.details["retry_after_s"] == 7.0
    assert sum(isinstance(end, (ProviderUnreachable, ProviderLimited)) for end in turns.ends) == 2


async def test_a_host_that_is_left_alone_costs_its_page_only() -> None:
    async with HostileServer({"/": reply(ARTICLE)}) as server:
        turns = Turns(ProviderUnreachable(provider="127.0.0.1", reason="circuit open"))
        assert await run(server, turns, "/") == (["unreachable"], 1)  # by its snippet
        assert server.asked == []
        with pytest.raises(BudgetSpent):
            await run(server, Turns(BudgetSpent(what="all")), "/")
