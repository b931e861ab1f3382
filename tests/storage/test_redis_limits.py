"""Limits that several processes share, against a real server."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from tadasu.core.limits import SLACK, Admission, Ration
from tadasu.core.usage import Stage
from tadasu.errors import ProviderLimited, SettingsInvalid
from tadasu.ports import Errand, LimitStore
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.rules import Rations, RetryRules, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.world import FixedWorld, SystemClock
from tadasu.storage.redis_limits import RedisLimits, open_limits
from tests.storage.valkey import Server

CLOCK = SystemClock()
URL = "TADASU_TEST_REDIS_URL"
Open = Callable[..., RedisLimits]


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    shared.command("FLUSHALL")
    return shared


@pytest.fixture
async def opened(server: Server) -> AsyncIterator[Open]:
    stores: list[RedisLimits] = []

    def open_one(**options: float) -> RedisLimits:
        stores.append(RedisLimits(server.url, clock=CLOCK, **{"timeout_s": 5.0, **options}))
        return stores[-1]

    yield open_one
    for store in stores:
        await store.close()


def _scheduler(store: LimitStore, ration: Ration, *, attempts: int = 5) -> CallScheduler:
    rules = Rules(RetryRules(attempts=attempts, base_s=0.01))
    return CallScheduler(rations=Rations(ration), store=store, clock=CLOCK, chance=FixedWorld(), rules=rules)


def _errand() -> Errand:
    return Errand("p", Stage.GRADE, "a call")


async def _free(store: RedisLimits, ration: Ration, *, within_s: float) -> None:
    """Wait until `store` has a place."""
    began = time.monotonic()
    while not (await store.admit("p", ration)).ticket:
        assert time.monotonic() - began < within_s, "the place never came back"
        await asyncio.sleep(0.02)


async def test_places_are_counted_over_all_who_share_the_server(opened: Open) -> None:
    one, other = opened(), opened()
    ration = Ration(2, None)
    first, second = await one.admit("p", ration), await other.admit("p", ration)
    assert first.ticket
    assert second.ticket
    refused = await other.admit("p", ration)
    assert (refused.ticket, refused.closed) == ("", False)
    assert 0.0 < refused.wait_s < 0.1
    assert (await other.admit("q", ration)).ticket, "another provider has places of its own"
    await one.give_back("p", first.ticket)
    assert (await other.admit("p", ration)).ticket
    await one.give_back("p", "unknown")


async def test_starts_within_a_second_are_counted_over_all_and_the_wait_is_said(opened: Open) -> None:
    one, other = opened(), opened()
    ration = Ration(100, 3.0)
    assert all([(await store.admit("p", ration)).ticket for store in (one, other, one)])
    refused = await other.admit("p", ration)
    assert not refused.ticket
    assert 0.5 < refused.wait_s <= SLACK
    riding = await one.admit("p", ration, riding=True)
    assert not riding.ticket, "who rides along counts in the rates"


async def test_tokens_of_a_minute_are_counted_over_all(opened: Open) -> None:
    one, other = opened(), opened()
    ration = Ration(100, None, tokens_per_minute=1000)
    assert (await one.admit("p", ration, tokens=600)).ticket
    refused = await other.admit("p", ration, tokens=500)
    assert not refused.ticket
    assert 55.0 < refused.wait_s <= 60.0
    assert (await other.admit("p", ration, tokens=400)).ticket
    assert not (await other.admit("p", ration, tokens=1)).ticket
    assert (await other.admit("r", ration, tokens=9999)).ticket, "larger than all of it: it goes alone"


async def test_a_provider_that_asked_for_no_calls_is_closed_in_every_process(opened: Open) -> None:
    one, other = _scheduler(opened(), Ration()), _scheduler(opened(), Ration())

    async def limited(attempt: int) -> None:
        raise ProviderLimited(provider="p", reason="HTTP 429", retry_after_s=86_400.0)

    for scheduler in (one, other):
        with pytest.raises(ProviderLimited) as error:
            await scheduler.call(_errand(), limited, ledger=RunLedger(CLOCK))
        wait = error.value.details["retry_after_s"]
        assert isinstance(wait, float)
        assert 86_390.0 < wait <= 86_400.0


async def test_the_longer_of_two_waits_that_were_asked_for_stays(opened: Open) -> None:
    store = opened()
    await store.close_for("p", 50.0)
    await store.close_for("p", 1.0)
    admission = await store.admit("p", Ration())
    assert admission.closed
    assert 45.0 < admission.wait_s <= 50.0


async def test_two_schedulers_never_exceed_the_limit_together_and_serve_all(opened: Open) -> None:
    schedulers = [_scheduler(opened(), Ration(4, None)) for _ in range(2)]
    inside = most = served = 0

    async def one(scheduler: CallScheduler) -> None:
        nonlocal inside, most, served
        async with scheduler.turn(_errand(), ledger=RunLedger(CLOCK)):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1
            served += 1

    async with asyncio.timeout(30.0):
        await asyncio.gather(*(one(scheduler) for scheduler in schedulers for _ in range(30)))
    assert (most, served, inside) == (4, 60, 0)


async def test_a_call_longer_than_its_lease_keeps_its_place(opened: Open) -> None:
    one, other = opened(lease_s=0.3), opened()
    held = await one.admit("p", Ration(1, None))
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        assert not (await other.admit("p", Ration(1, None))).ticket
        await asyncio.sleep(0.05)
    await one.give_back("p", held.ticket)
    assert (await other.admit("p", Ration(1, None))).ticket


_HOLDER = """
import asyncio, sys
from tadasu.core.limits import Ration
from tadasu.runtime.world import SystemClock
from tadasu.storage.redis_limits import RedisLimits

async def main():
    store = RedisLimits(sys.argv[1], clock=SystemClock(), lease_s=1.0, timeout_s=5.0)
    for _ in range(2):
        assert (await store.admit("p", Ration(2, None))).ticket
    print("held", flush=True)
    await asyncio.sleep(60.0)

asyncio.run(main())
"""


async def test_the_places_of_a_process_that_is_killed_come_back(server: Server, opened: Open) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOLDER, server.url, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).strip() == b"held"
        store = opened()
        await asyncio.sleep(1.2)
        assert not (await store.admit("p", Ration(2, None))).ticket, "it lives, and renews its leases"
    finally:
        process.kill()
        await process.wait()
    await _free(store, Ration(2, None), within_s=5.0)


async def test_calls_that_are_cancelled_while_the_server_is_asked_leave_no_place_behind(
    server: Server, opened: Open
) -> None:
    scheduler = _scheduler(opened(), Ration(3, None))
    chance = FixedWorld(seed=7)

    async def one() -> None:
        async with scheduler.turn(_errand(), ledger=RunLedger(CLOCK)):
            await asyncio.sleep(0.002)

    for _ in range(60):
        tasks = [asyncio.create_task(one()) for _ in range(4)]
        await asyncio.sleep(chance.uniform() * 0.004)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await scheduler.close()  # waits for what must come to an end
    assert server.command("ZCARD", "tadasu:limits:{p}:places") == b":0\r\n"
    assert [(sight.waiting, sight.in_flight) for sight in scheduler.look()] == [(0, 0)]


async def test_while_the_server_is_away_each_process_counts_for_itself_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Server() as own:
        store = RedisLimits(own.url, clock=CLOCK, pause_s=0.2)
        before = await store.admit("p", Ration(2, None))
        own.stop()
        ration = Ration(2, None)
        tickets = [(await store.admit("p", ration)).ticket for _ in range(3)]
        assert tickets[0]
        assert tickets[1]
        assert not tickets[2], "the limit holds, as far as this process knows"
        for ticket in (before.ticket, *tickets[:2]):
            await store.give_back("p", ticket)
        assert len(caplog.records) == 1
        assert store.trouble
        own.start()
        await asyncio.sleep(0.25)
        back = await store.admit("p", ration)
        assert back.ticket
        assert store.trouble == ""
        assert own.command("ZCARD", "tadasu:limits:{p}:places") == b":1\r\n"
        await store.give_back("p", back.ticket)
        await store.close()


def test_an_address_that_is_missing_or_none_is_named_without_its_password() -> None:
    with pytest.raises(SettingsInvalid, match="not set") as missing:
        open_limits("", variable=URL, clock=CLOCK)
    assert URL in str(missing.value)
    with pytest.raises(SettingsInvalid) as wrong:
        open_limits("http://user:s3cret@host:1/", variable=URL, clock=CLOCK)
    assert "s3cret" not in str(wrong.value) + wrong.value.hint


# --- what both stores must do alike ------------------------------------------------------------------


@pytest.fixture(params=["local", "redis"])
def store(request: pytest.FixtureRequest) -> LimitStore:
    if request.param == "local":
        return LocalLimits(CLOCK)
    opened: Open = request.getfixturevalue("opened")
    return opened()


async def test_both_stores_answer_alike(store: LimitStore) -> None:
    async def ask(ration: Ration, *, tokens: int = 0, riding: bool = False) -> Admission:
        return await store.admit("p", ration, tokens=tokens, riding=riding)

    held = await ask(Ration(1, None))
    assert held.ticket
    assert not (await ask(Ration(1, None))).ticket
    assert (await ask(Ration(1, None), riding=True)).ticket, "who rides needs no place"
    await store.give_back("p", held.ticket)
    await store.give_back("p", held.ticket)
    assert (await ask(Ration(1, None))).ticket

    crowded = Ration(100, 5.0, 1000)
    assert all([(await ask(crowded, tokens=200)).ticket for _ in range(5)])
    for tokens in (0, 200):
        refused = await ask(crowded, tokens=tokens)
        assert not refused.ticket
        assert not refused.closed
        assert refused.wait_s > (0.5 if tokens == 0 else 50.0)
    slower = await ask(crowded.paced(0.2))
    assert not slower.ticket, "at a lower pace the starts that were are too many"
    await store.close_for("p", 30.0)
    closed = await ask(Ration())
    assert closed.closed
    assert 25.0 < closed.wait_s <= 30.0
