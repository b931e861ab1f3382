"""Limits, order and deadlines, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import threading
from functools import partial

import pytest

from tadasu.core.limits import SLACK, Ration
from tadasu.core.usage import Priority
from tadasu.errors import BudgetSpent
from tadasu.runtime.bounded import Bounded
from tadasu.runtime.scheduling.happenings import Kind
from tadasu.runtime.scheduling.rules import Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import MANY, LocalLimits
from tadasu.runtime.world import SystemClock
from tests.runtime.scheduling.virtual_time import LoopClock, run_virtual
from tests.runtime.scheduling.world import Deadline, Heard, InFlight, errand, ledger, scheduler


async def _many(office: CallScheduler, count: int, seconds: float, inside: InFlight) -> None:
    async def one() -> None:
        async with office.turn(errand(), ledger=ledger()):
            await inside.work(seconds)

    await asyncio.gather(*(one() for _ in range(count)))


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_no_more_calls_are_in_flight_than_the_limit_and_all_of_it_is_used(limit: int) -> None:
    async def main() -> tuple[int, float]:
        inside = InFlight()
        await _many(scheduler(Ration(limit, None)), 30, 1.0, inside)
        return inside.most, asyncio.get_running_loop().time()

    most, took = run_virtual(main())
    assert most == limit
    assert took == pytest.approx(30 / limit)


@pytest.mark.parametrize(("rate", "most"), [(10.0, 10), (2.5, 3), (0.5, 1)])
def test_within_any_window_no_more_calls_start_than_the_rate_allows(rate: float, most: int) -> None:
    async def main() -> list[float]:
        inside = InFlight()
        await _many(scheduler(Ration(50, rate)), 40, 0.01, inside)
        return inside.starts

    starts = run_virtual(main())
    window = SLACK * most / rate
    assert all(later - earlier >= window - 1e-9 for earlier, later in zip(starts, starts[most:], strict=False))
    assert starts[-1] == pytest.approx((39 // most) * window, rel=0.01), "the rate is used to the full"


def test_tokens_of_a_minute_are_shared_out_and_a_call_larger_than_all_of_them_is_served_alone() -> None:
    async def main() -> list[float]:
        office, inside = scheduler(Ration(10, None, tokens_per_minute=1000)), InFlight()

        async def one(tokens: int) -> None:
            async with office.turn(errand(tokens=tokens), ledger=ledger()):
                await inside.work(1.0)

        await asyncio.gather(*(one(tokens) for tokens in (400, 600, 300, 5000, 10)))
        return inside.starts

    first, second, third, large, small = run_virtual(main())
    assert (first, second) == (0.0, 0.0)
    assert third == pytest.approx(60.0)
    assert large == pytest.approx(120.0)
    assert small == pytest.approx(180.0)


def test_each_provider_has_its_own_limits() -> None:
    async def main() -> tuple[int, int]:
        office = scheduler(Ration(2, None), named={"slow": Ration(1, None)})
        counts = {"slow": InFlight(), "other": InFlight()}

        async def one(provider: str) -> None:
            async with office.turn(errand(provider), ledger=ledger()):
                await counts[provider].work(1.0)

        await asyncio.gather(*(one(provider) for provider in ("slow", "other") for _ in range(6)))
        return counts["slow"].most, counts["other"].most

    assert run_virtual(main()) == (1, 2)


def test_providers_without_end_are_forgotten_when_they_are_not_called_any_more() -> None:
    async def main() -> tuple[int, list[str]]:
        office = scheduler()
        async with office.turn(errand("held"), ledger=ledger()):
            for number in range(2 * MANY):
                await asyncio.sleep(0.1)
                async with office.turn(errand(f"host-{number}"), ledger=ledger()):
                    pass
            seen = office.look()
            return len(seen), [sight.provider for sight in seen if sight.in_flight]

    count, held = run_virtual(main())
    assert count <= MANY
    assert held == ["held"]


def test_a_store_forgets_no_provider_that_may_still_keep_a_call_waiting() -> None:
    async def main() -> list[bool]:
        store, slow = LocalLimits(LoopClock()), Ration(1, 1 / 30)
        await store.close_for("closed", 100.0)
        await store.admit("called", slow)
        for number in range(2 * MANY):
            await asyncio.sleep(0.04)
            ticket = (await store.admit(f"host-{number}", Ration(1, None))).ticket
            await store.give_back(f"host-{number}", ticket)
        return [(await store.admit(name, slow)).ticket == "" for name in ("closed", "called", "host-1")]

    assert run_virtual(main()) == [True, True, False]


def test_at_a_pace_that_was_lowered_a_call_waits_until_enough_starts_have_left_the_window() -> None:
    async def main() -> list[float]:
        store, ration = LocalLimits(LoopClock()), Ration(100, 10.0)
        for _ in range(6):
            assert (await store.admit("p", ration)).ticket
            await asyncio.sleep(0.1)
        # The starts were at 0.0, 0.1, … 0.5, and it is 0.6 now.
        return [(await store.admit("p", ration.paced(share))).wait_s for share in (0.6, 0.5, 0.2, 0.1)]

    assert run_virtual(main()) == pytest.approx([SLACK - 0.6, SLACK - 0.5, SLACK - 0.2, SLACK - 0.1])


# --- order -----------------------------------------------------------------------------------------


def _served(waiting: list[tuple[str, Priority]], rules: Rules | None = None) -> list[str]:
    """The tenants of `waiting` in the order in which they are served, one at a time, a second each."""

    async def main() -> list[str]:
        office, order = scheduler(Ration(1, None), rules), list[str]()

        async def one(tenant: str, priority: Priority) -> None:
            async with office.turn(errand(tenant=tenant, priority=priority), ledger=ledger()):
                order.append(tenant)
                await asyncio.sleep(1.0)

        async with asyncio.TaskGroup() as group:
            for tenant, priority in waiting:
                group.create_task(one(tenant, priority))
                await asyncio.sleep(0)
        return order

    return run_virtual(main())


def test_high_goes_before_normal_and_normal_before_low() -> None:
    waiting = [("now", Priority.LOW), *((p.name, p) for p in (Priority.LOW, Priority.NORMAL, Priority.HIGH))]
    assert _served(waiting) == ["now", "HIGH", "NORMAL", "LOW"]


def test_tenants_take_turns_within_a_priority() -> None:
    waiting = [("a", Priority.NORMAL)] * 6 + [("b", Priority.NORMAL), ("c", Priority.NORMAL), ("b", Priority.NORMAL)]
    assert _served(waiting) == ["a", "a", "b", "c", "a", "b", "a", "a", "a"]


@pytest.mark.parametrize(("priority", "steps"), [(Priority.NORMAL, 1), (Priority.LOW, 2)])
def test_under_a_constant_stream_of_high_a_call_waits_and_is_served_within_its_ageing_bound(
    priority: Priority, steps: int
) -> None:
    ageing_s, takes_s = 10.0, 1.0

    async def main() -> tuple[float, int, int]:
        office, before, after = scheduler(Ration(1, None), Rules(ageing_s=ageing_s)), 0, 0
        came = asyncio.get_running_loop().time()
        waited = -1.0

        async def urgent() -> None:
            nonlocal before, after
            async with office.turn(errand(priority=Priority.HIGH), ledger=ledger()):
                before, after = (before + 1, after) if waited < 0 else (before, after + 1)
                await asyncio.sleep(takes_s)

        async def patient() -> None:
            nonlocal waited
            async with office.turn(errand(priority=priority), ledger=ledger()):
                waited = asyncio.get_running_loop().time() - came
                await asyncio.sleep(takes_s)

        async with asyncio.TaskGroup() as group:
            group.create_task(urgent())
            await asyncio.sleep(0)
            group.create_task(patient())
            for _ in range(60):  # twice as many as can be served
                group.create_task(urgent())
                await asyncio.sleep(takes_s / 2)
        return waited, before, after

    waited, before, after = run_virtual(main())
    assert steps * ageing_s <= waited <= steps * ageing_s + 2 * takes_s
    assert before == pytest.approx(steps * ageing_s / takes_s, abs=2)
    assert before + after == 61


def test_a_thousand_low_calls_that_have_become_overdue_leave_every_second_turn_to_high_ones() -> None:
    async def main() -> list[Priority]:
        office, order = scheduler(Ration(1, None), Rules(ageing_s=1.0)), list[Priority]()

        async def one(priority: Priority) -> None:
            async with office.turn(errand(priority=priority), ledger=ledger()):
                order.append(priority)
                await asyncio.sleep(1.0)

        low = [asyncio.create_task(one(Priority.LOW)) for _ in range(1000)]
        await asyncio.sleep(5.0)
        order.clear()
        await asyncio.gather(*(one(Priority.HIGH) for _ in range(20)))
        for task in low:
            task.cancel()
        await asyncio.gather(*low, return_exceptions=True)
        return order

    order = run_virtual(main())
    assert order.count(Priority.HIGH) == 20
    assert order.count(Priority.LOW) == pytest.approx(20, abs=1)


# --- deadlines and budgets -------------------------------------------------------------------------


def test_a_call_whose_deadline_passes_while_it_waits_is_refused_then_and_its_neighbours_are_served() -> None:
    async def main() -> tuple[float, list[str]]:
        office, order = scheduler(Ration(1, None)), list[str]()

        async def one(name: str, seconds: float | None) -> None:
            async with office.turn(errand(), ledger=Deadline(seconds)):
                order.append(name)
                await asyncio.sleep(10.0)

        first = asyncio.create_task(one("first", None))
        await asyncio.sleep(0)
        late = asyncio.create_task(one("late", 3.0))
        await asyncio.sleep(0)
        last = asyncio.create_task(one("last", 30.0))
        with pytest.raises(BudgetSpent, match="waited for its turn"):
            await late
        refused_at = asyncio.get_running_loop().time()
        await asyncio.gather(first, last)
        return refused_at, order

    refused_at, order = run_virtual(main())
    assert refused_at == pytest.approx(3.0, abs=0.01)
    assert order == ["first", "last"]


def test_a_call_that_would_have_to_wait_beyond_its_deadline_is_refused_at_once() -> None:
    async def main() -> float:
        office = scheduler(Ration(5, 0.1))
        async with office.turn(errand(), ledger=ledger()):
            pass
        with pytest.raises(BudgetSpent, match="longer than the time left"):
            async with office.turn(errand(), ledger=Deadline(5.0)):
                raise AssertionError("never entered")
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 0.0


def test_the_run_is_asked_before_each_attempt_and_what_is_under_way_counts() -> None:
    async def main() -> tuple[int, int, int]:
        office, run = scheduler(Ration(10, None)), Deadline(calls=3, usd=1.0)

        async def one(attempt: int) -> None:
            await asyncio.sleep(1.0)

        done = await asyncio.gather(
            *(office.call(errand(usd=0.2), one, ledger=run) for _ in range(5)), return_exceptions=True
        )
        refused = sum(isinstance(result, BudgetSpent) for result in done)
        dear = await asyncio.gather(
            *(office.call(errand(usd=0.4), one, ledger=Deadline(usd=1.0)) for _ in range(2)),
            *(office.call(errand(usd=0.4), one, ledger=rich) for rich in [Deadline(usd=1.0)] * 3),
            return_exceptions=True,
        )
        again = await asyncio.gather(
            *(office.call(errand(usd=0.2), one, ledger=run) for _ in range(3)), return_exceptions=True
        )
        return refused, sum(isinstance(result, BudgetSpent) for result in dear), len([r for r in again if r is None])

    refused, dear, again = run_virtual(main())
    assert refused == 2, "three are under way, and the run allows three"
    assert dear == 1, "2 x $0.4 are under way of $1"
    assert again == 3, "what has ended, or was refused, is under way no more"


def test_work_that_outlasts_the_deadline_is_broken_off() -> None:
    async def main() -> float:
        with pytest.raises(BudgetSpent, match="before a call had ended"):
            await scheduler().call(errand(), lambda _: asyncio.sleep(60.0), ledger=Deadline(2.0))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(2.0)


# --- the cases -------------------------------------------------------------------------------------


def test_a60_a_ticker_keeps_ticking_while_a_call_is_throttled() -> None:
    async def main() -> tuple[list[float], int]:
        heard, ticks = Heard(), list[float]()
        office = scheduler(Ration(1, 0.2), listen=heard)
        loop = asyncio.get_running_loop()

        async def tick() -> None:
            while True:
                ticks.append(loop.time())
                await asyncio.sleep(0.1)

        ticker = asyncio.create_task(tick())
        await _many(office, 3, 0.01, InFlight())
        ticker.cancel()
        return ticks, len(heard.of(Kind.QUEUED))

    ticks, queued = run_virtual(main())
    assert queued == 2
    assert len(ticks) >= 100, "10 s of throttling, a tick each tenth"
    assert max(b - a for a, b in itertools.pairwise(ticks)) == pytest.approx(0.1)


def test_a62_over_two_event_loops_and_200_tasks_the_limit_is_never_exceeded() -> None:
    office = scheduler(Ration(7, None), clock=SystemClock())
    lock, inside, most, done = threading.Lock(), 0, 0, 0

    async def one() -> None:
        nonlocal inside, most, done
        async with office.turn(errand(), ledger=ledger()):
            with lock:
                inside += 1
                most = max(most, inside)
            await asyncio.sleep(0.002)
            with lock:
                inside -= 1
                done += 1

    async def half() -> None:
        async with asyncio.timeout(30.0):
            await asyncio.gather(*(one() for _ in range(100)))

    threads = [threading.Thread(target=asyncio.run, args=(half(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done, inside) == (7, 200, 0)
    assert [(sight.waiting, sight.in_flight) for sight in office.look()] == [(0, 0)]


def test_a63_of_50_gradings_10_fail_all_are_told_and_no_more_than_the_limit_are_in_flight() -> None:
    async def main() -> tuple[int, list[int], int]:
        office, inside = scheduler(Ration(4, None)), InFlight()

        async def grade(number: int, attempt: int) -> int:
            await inside.work(0.1)
            if number % 5 == 0:
                raise ValueError(number)
            return number

        jobs = {n: partial(office.call, errand(), partial(grade, n), ledger=ledger()) for n in range(50)}
        done = await Bounded(50).run(jobs)
        return len(done.results), sorted(done.failures), inside.most

    assert run_virtual(main()) == (40, list(range(0, 50, 5)), 4)


def test_a64_ten_passages_of_200_ms_at_concurrency_5_take_two_rounds_and_every_call_is_counted() -> None:
    async def main() -> tuple[float, int]:
        office, inside = scheduler(Ration(5)), InFlight()
        await _many(office, 10, 0.2, inside)
        return asyncio.get_running_loop().time(), len(inside.starts)

    took, calls = run_virtual(main())
    assert calls == 10
    assert took <= 2.2 * 0.2
