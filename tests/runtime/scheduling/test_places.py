"""Places come back: calls that are cancelled anywhere, calls within calls, event loops that go away."""

from __future__ import annotations

import asyncio
import random
import threading
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.core.limits import SLACK, Ration
from tadasu.core.usage import Priority
from tadasu.errors import ProviderError, ProviderLimited, ProviderUnreachable
from tadasu.runtime.scheduling.breaker import Circuit
from tadasu.runtime.scheduling.happenings import Happening
from tadasu.runtime.scheduling.rules import BreakerRules, RetryRules, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.world import SystemClock
from tests.runtime.scheduling.virtual_time import run_virtual
from tests.runtime.scheduling.world import InFlight, errand, ledger, scheduler


def _idle(office: CallScheduler) -> bool:
    return all((sight.waiting, sight.in_flight) == (0, 0) for sight in office.look())


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_calls_cancelled_at_any_moment_give_their_places_back(seed: int) -> None:
    chance = random.Random(seed)

    async def main() -> None:
        rules = Rules(RetryRules(attempts=3), BreakerRules(faults=4, pause_s=1.0))
        office, inside = scheduler(Ration(3, 20.0), rules, seed=seed), InFlight()

        async def work(attempt: int) -> None:
            await inside.work(chance.random())
            match chance.randrange(6):
                case 0:
                    raise ProviderUnreachable(provider="p", reason="down")
                case 1:
                    raise ProviderLimited(provider="p", reason="429", retry_after_s=chance.random())
                case 2:
                    async with office.turn(errand(chance.choice("pq")), ledger=ledger()):
                        await asyncio.sleep(chance.random())

        tasks = [
            asyncio.create_task(office.call(errand(chance.choice("ppq")), work, ledger=ledger())) for _ in range(30)
        ]
        for task in chance.sample(tasks, 20):
            await asyncio.sleep(chance.choice((0.0, 0.0, 0.05, 0.3)))
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(one is None or isinstance(one, ProviderError | asyncio.CancelledError) for one in done)
        assert inside.now == 0
        assert inside.most <= 6, "3 at each of two providers"
        assert _idle(office)
        await asyncio.sleep(100.0)
        full = InFlight()

        async def again() -> None:
            async with office.turn(errand(), ledger=ledger()):
                await full.work(1.0)

        await again()  # the one that tries, where the circuit is open
        await asyncio.gather(*(again() for _ in range(9)))
        assert full.most == 3, "every place is there again"

    run_virtual(main())


# --- calls within calls ----------------------------------------------------------------------------


def test_a_call_within_a_turn_of_the_same_provider_rides_along_as_deep_as_you_like() -> None:
    async def main() -> float:
        office = scheduler(Ration(1, None))
        async with AsyncExitStack() as stack:
            for _ in range(4):
                await stack.enter_async_context(office.turn(errand(), ledger=ledger()))
        assert _idle(office)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 0.0


def test_calls_side_by_side_within_a_turn_ride_one_at_a_time_so_that_the_limit_holds() -> None:
    async def main() -> tuple[int, float]:
        office, inside = scheduler(Ration(2, None)), InFlight()

        async def inner() -> None:
            async with office.turn(errand(), ledger=ledger()):
                await inside.work(1.0)

        async def outer() -> None:
            async with office.turn(errand(), ledger=ledger()), asyncio.TaskGroup() as group:
                for _ in range(5):
                    group.create_task(inner())

        await asyncio.gather(outer(), outer())
        assert _idle(office)
        return inside.most, asyncio.get_running_loop().time()

    assert run_virtual(main()) == (2, 5.0)


def test_calls_that_ride_along_count_in_the_rates() -> None:
    async def main() -> float:
        office = scheduler(Ration(5, 1.0))
        async with office.turn(errand(), ledger=ledger()):
            for _ in range(3):
                async with office.turn(errand(), ledger=ledger()):
                    pass
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(3.0 * SLACK)


def test_who_rides_on_a_turn_that_ends_first_keeps_its_place_and_gives_it_back() -> None:
    async def main() -> int:
        office, inside = scheduler(Ration(1, None)), InFlight()

        async def call(seconds: float) -> None:
            async with office.turn(errand(), ledger=ledger()):
                await inside.work(seconds)

        async with office.turn(errand(), ledger=ledger()):
            left_behind = [asyncio.create_task(call(3.0)) for _ in range(3)]
            await asyncio.sleep(1.0)
        await call(1.0)
        await asyncio.gather(*left_behind)
        assert _idle(office)
        return inside.most

    assert run_virtual(main()) == 1


def test_turns_of_two_providers_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    async def main() -> float:
        office = scheduler(Ration(1, None))

        async def one(first: str, second: str) -> None:
            async with office.turn(errand(first), ledger=ledger()):
                await asyncio.sleep(1.0)
                async with office.turn(errand(second), ledger=ledger()):
                    await asyncio.sleep(1.0)

        await asyncio.gather(one("a", "b"), one("b", "a"), one("a", "b"), one("b", "a"))
        assert _idle(office)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) < 9.0


def test_who_may_pass_a_provider_whose_turns_are_all_blocked_is_told_when_the_last_other_turn_there_ends() -> None:
    async def main() -> float:
        office, seconds = scheduler(named={"p": Ration(3, None), "q": Ration(1, None)}), asyncio.sleep

        async def within(first: str, second: str, *, before: float, after: float) -> float:
            await seconds(before)
            async with office.turn(errand(first), ledger=ledger()):
                await seconds(1.0)
                async with office.turn(errand(second), ledger=ledger()):
                    await seconds(1.0)
                done = asyncio.get_running_loop().time()
                await seconds(after)
            return done

        async def alone(provider: str, *, before: float, takes: float) -> float:
            await seconds(before)
            async with office.turn(errand(provider, priority=Priority.HIGH), ledger=ledger()):
                await seconds(takes)
            return 0.0

        _, _, second_done, _, _ = await asyncio.gather(
            within("q", "p", before=0.5, after=0.0),
            within("p", "q", before=0.0, after=100.0),
            within("p", "q", before=0.2, after=100.0),
            alone("p", before=0.0, takes=100.0),
            alone("q", before=0.6, takes=0.0),
        )
        assert _idle(office)
        return second_done

    assert run_virtual(main()) < 5.0


def test_a_fault_within_a_turn_of_another_provider_is_that_ones_fault_only() -> None:
    async def main() -> dict[str, Circuit]:
        office = scheduler(rules=Rules(RetryRules(attempts=1), BreakerRules(faults=1)))
        for _ in range(2):
            with pytest.raises(ProviderUnreachable):
                async with office.turn(errand("a"), ledger=ledger()), office.turn(errand("b"), ledger=ledger()):
                    raise ProviderUnreachable(provider="b", reason="down")
        return {sight.provider: sight.circuit for sight in office.look()}

    assert run_virtual(main()) == {"a": Circuit.CLOSED, "b": Circuit.OPEN}


# --- threads and event loops -----------------------------------------------------------------------


def test_one_who_waits_on_an_event_loop_that_is_gone_holds_up_nobody() -> None:
    office = scheduler(Ration(1, None), clock=SystemClock())
    gone = asyncio.new_event_loop()
    left_behind: list[asyncio.Task[None]] = []

    async def wait() -> None:
        async with office.turn(errand(), ledger=ledger()):
            raise AssertionError("its event loop is gone")

    async def main() -> None:
        async with office.turn(errand(), ledger=ledger()):
            left_behind.append(gone.create_task(wait()))
            await asyncio.to_thread(gone.run_until_complete, asyncio.sleep(0.01))
            gone.close()
        async with asyncio.timeout(10.0), office.turn(errand(), ledger=ledger()):
            pass

    asyncio.run(main())


def test_a_turn_that_ends_in_one_thread_wakes_who_waits_in_another() -> None:
    office = scheduler(Ration(1, None), clock=SystemClock())
    inside, may_end, order = threading.Event(), threading.Event(), list[str]()

    async def first() -> None:
        async with office.turn(errand(), ledger=ledger()):
            inside.set()
            await asyncio.to_thread(may_end.wait, 10.0)
            order.append("first")

    async def second() -> None:
        async with asyncio.timeout(10.0), office.turn(errand(), ledger=ledger()):
            order.append("second")

    thread = threading.Thread(target=asyncio.run, args=(first(),))
    thread.start()
    assert inside.wait(10.0)

    async def main() -> None:
        task = asyncio.create_task(second())
        await asyncio.sleep(0.02)
        assert [(sight.waiting, sight.in_flight) for sight in office.look()] == [(1, 1)]
        may_end.set()
        await task

    asyncio.run(main())
    thread.join()
    assert order == ["first", "second"]


def test_a_listener_that_fails_costs_no_call_its_place(caplog: pytest.LogCaptureFixture) -> None:
    def broken(happening: Happening) -> None:
        raise RuntimeError("no room on the meter")

    async def main() -> None:
        office = scheduler(Ration(1, None), listen=broken)
        for _ in range(2):
            async with office.turn(errand(), ledger=ledger()):
                pass
        assert _idle(office)

    run_virtual(main())
    assert "no room on the meter" in caplog.text
