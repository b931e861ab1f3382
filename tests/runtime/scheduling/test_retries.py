"""Attempts, waits that were asked for, slowing down for all, and circuit breakers, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.core.limits import Ration
from tadasu.errors import (
    BudgetSpent,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
)
from tadasu.runtime.scheduling.breaker import Breaker, Circuit, Health
from tadasu.runtime.scheduling.happenings import Kind
from tadasu.runtime.scheduling.pace import Pace
from tadasu.runtime.scheduling.rules import BreakerRules, RetryRules, Rules
from tests.runtime.scheduling.virtual_time import run_virtual
from tests.runtime.scheduling.world import Deadline, Heard, Merciless, errand, ledger, scheduler

DOWN = ProviderUnreachable(provider="p", reason="down")


def _now() -> float:
    return asyncio.get_running_loop().time()


def _plays(*results: ProviderError | str) -> Callable[[int], Awaitable[str]]:
    """Work that gives or raises `results` in turn."""
    script = iter(results)

    async def work(attempt: int) -> str:
        result = next(script)
        if isinstance(result, str):
            return f"{result} {attempt}"
        raise result

    return work


def _limited(seconds: float | None) -> ProviderLimited:
    return ProviderLimited(provider="p", reason="HTTP 429", retry_after_s=seconds)


@pytest.mark.parametrize("error", [DOWN, _limited(None), _limited(0.0)])
def test_a_call_is_tried_again_where_the_provider_may_do_better_and_knows_its_attempt(error: ProviderError) -> None:
    heard = Heard()

    async def main() -> str:
        return await scheduler(listen=heard).call(errand(), _plays(error, error, "served"), ledger=ledger())

    assert run_virtual(main()) == "served 3"
    assert [one.attempt for one in heard.of(Kind.STARTED)] == [1, 2, 3]
    assert [one.reason for one in heard.of(Kind.RETRIED)] == [error.code] * 2


@pytest.mark.parametrize(
    "error",
    [
        ProviderRefused(provider="p", reason="no"),
        ProviderAnswerInvalid(provider="p", reason="empty"),
        BudgetSpent(what="x"),
        ValueError("ours"),
    ],
)
def test_what_will_not_get_better_is_raised_at_once(error: Exception) -> None:
    calls = itertools.count()

    async def work(attempt: int) -> None:
        next(calls)
        raise error

    async def main() -> float:
        with pytest.raises(type(error)):
            await scheduler().call(errand(), work, ledger=ledger())
        return _now()

    assert run_virtual(main()) == 0.0
    assert next(calls) == 1


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_attempts_are_bounded_and_the_last_error_is_raised(attempts: int) -> None:
    errors = [ProviderUnreachable(provider="p", reason=str(number)) for number in range(9)]

    async def main() -> None:
        rules = Rules(RetryRules(attempts=attempts))
        with pytest.raises(ProviderUnreachable) as last:
            await scheduler(rules=rules).call(errand(), _plays(*errors), ledger=ledger())
        assert last.value is errors[attempts - 1]

    run_virtual(main())


def test_waits_are_drawn_from_the_whole_of_a_doubling_range() -> None:
    heard = Heard()
    rules = Rules(RetryRules(attempts=4, base_s=1.0, cap_s=3.0), BreakerRules(faults=10**6, window=10**6))

    async def main() -> None:
        office = scheduler(Ration(200, None), rules, listen=heard)

        async def one() -> None:
            with pytest.raises(ProviderUnreachable):
                await office.call(errand(), _plays(DOWN, DOWN, DOWN, DOWN), ledger=ledger())

        await asyncio.gather(*(one() for _ in range(200)))

    run_virtual(main())
    for attempt, top in ((2, 1.0), (3, 2.0), (4, 3.0)):
        waits = sorted(one.seconds for one in heard.of(Kind.RETRIED) if one.attempt == attempt)
        assert len(waits) == 200
        assert waits[0] < 0.1 * top
        assert 0.9 * top < waits[-1] < top
        assert waits[100] == pytest.approx(top / 2, rel=0.3)


def test_a_wait_that_was_asked_for_is_waited_for_by_all_who_call_that_provider_and_by_nobody_else() -> None:
    async def main() -> tuple[float, float, float]:
        office = scheduler(Ration(10, None))
        refused = asyncio.create_task(office.call(errand(), _plays(_limited(7.0), "served"), ledger=ledger()))
        await asyncio.sleep(0.1)

        async def when(provider: str) -> float:
            async with office.turn(errand(provider), ledger=ledger()):
                return _now()

        other, same = await asyncio.gather(when("q"), when("p"))
        await refused
        return other, same, _now()

    other, same, again = run_virtual(main())
    assert other == pytest.approx(0.1)
    assert same == pytest.approx(7.0, abs=0.01)
    assert 7.0 <= again < 7.6


def test_a_day_is_not_waited_for_and_meanwhile_nobody_is_let_through() -> None:
    async def main() -> None:
        office, run = scheduler(), Deadline(60.0)
        with pytest.raises(ProviderLimited) as first:
            await office.call(errand(), _plays(_limited(86_400.0), "never"), ledger=run)
        assert first.value.details["retry_after_s"] == 86_400.0
        await asyncio.sleep(10.0)
        with pytest.raises(ProviderLimited, match="86390 s"):
            await office.call(errand(), _plays("never"), ledger=run)
        assert _now() == pytest.approx(10.0)
        assert await office.call(errand("q"), _plays("served"), ledger=run) == "served 1"
        await asyncio.sleep(86_400.0)
        assert await office.call(errand(), _plays("served"), ledger=ledger()) == "served 1"

    run_virtual(main())


def test_a_server_fault_that_names_a_wait_closes_its_limits_too() -> None:
    async def main() -> float:
        busy = ProviderUnreachable(provider="p", reason="HTTP 503", retry_after_s=5.0)
        await scheduler().call(errand(), _plays(busy, "served"), ledger=ledger())
        return _now()

    assert 5.0 <= run_virtual(main()) < 5.6


def test_a_wait_beyond_the_deadline_is_not_begun_and_the_error_itself_is_raised() -> None:
    async def main() -> float:
        error = _limited(20.0)
        with pytest.raises(ProviderLimited) as raised:
            await scheduler().call(errand(), _plays(error, "never"), ledger=Deadline(10.0))
        assert raised.value is error
        return _now()

    assert run_virtual(main()) == 0.0


# --- a provider without mercy ----------------------------------------------------------------------


@pytest.mark.parametrize("told", [Ration(10, 10.0), Ration()], ids=["told its limit", "limit unknown"])
@pytest.mark.parametrize("retry_after_s", [None, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_50_callers_against_10_a_second_without_mercy_are_served_and_come_back_spread(
    told: Ration, retry_after_s: float | None, seed: int
) -> None:
    heard, server = Heard(), Merciless(10, retry_after_s=retry_after_s)

    async def main() -> tuple[int, int, float]:
        office = scheduler(told, listen=heard, seed=seed)
        served = asked = 0

        async def caller() -> None:
            nonlocal served, asked
            for _ in range(4):
                asked += 1
                try:
                    await office.call(errand(), server, ledger=ledger())
                    served += 1
                except ProviderError:
                    pass

        await asyncio.gather(*(caller() for _ in range(50)))
        return served, asked, _now()

    served, asked, took = run_virtual(main())
    assert asked == 200
    assert served >= 0.99 * asked
    assert took < 60.0, "200 calls at 10 a second are 20 s"
    if told.per_second == 10.0:
        assert server.refused == 0
        assert took < 20.5
    else:
        waits = [one.seconds for one in heard.of(Kind.RETRIED)]
        assert server.refused == len(waits) > 0
        assert len({round(wait, 3) for wait in waits}) > 0.9 * len(waits), "retry times are spread"


def test_the_pace_is_halved_once_for_refusals_that_come_together_and_comes_back() -> None:
    pace = Pace()
    assert [pace.slower(0.0), pace.slower(0.1), pace.slower(0.9)] == [True, False, False]
    assert pace.share(0.9) == 0.5
    for _ in range(25):
        pace.faster()
    assert pace.share(1.0) == pytest.approx(0.75)
    assert pace.slower(2.0)
    assert pace.share(2.0) == pytest.approx(0.375)
    assert pace.share(63.0) == 1.0


# --- circuit breaker -------------------------------------------------------------------------------


def test_after_faults_in_a_row_calls_fail_at_once_then_one_tries_and_the_circuit_closes() -> None:
    heard = Heard()
    rules = Rules(RetryRules(attempts=1), BreakerRules(faults=3, pause_s=5.0))

    async def main() -> None:
        office = scheduler(rules=rules, listen=heard)
        for _ in range(3):
            with pytest.raises(ProviderUnreachable, match="down"):
                await office.call(errand(), _plays(DOWN), ledger=ledger())
        await asyncio.sleep(2.0)
        with pytest.raises(ProviderUnreachable, match=r"down; .*tried again in 3\.0 s") as open_:
            await office.call(errand(), _plays("never"), ledger=ledger())
        assert open_.value.details["retry_after_s"] == pytest.approx(3.0)
        assert [sight.circuit for sight in office.look()] == [Circuit.OPEN]
        await asyncio.sleep(3.0)

        trying = asyncio.Event()

        async def slow(attempt: int) -> str:
            trying.set()
            await asyncio.sleep(1.0)
            return "well"

        probe = asyncio.create_task(office.call(errand(), slow, ledger=ledger()))
        await trying.wait()
        with pytest.raises(ProviderUnreachable, match="being tried again now"):
            await office.call(errand(), _plays("never"), ledger=ledger())
        assert await probe == "well"
        assert await office.call(errand(), _plays("served"), ledger=ledger()) == "served 1"

    run_virtual(main())
    assert [one.kind for one in heard if "circuit" in one.kind.value] == [Kind.CIRCUIT_OPENED, Kind.CIRCUIT_CLOSED]


def test_a_try_that_fails_doubles_the_pause_and_one_that_is_called_off_lets_the_next_try() -> None:
    rules = Rules(RetryRules(attempts=1), BreakerRules(faults=1, pause_s=5.0, longest_pause_s=12.0))

    async def main() -> None:
        office = scheduler(rules=rules)

        async def fails() -> float:
            with pytest.raises(ProviderUnreachable) as error:
                await office.call(errand(), _plays(DOWN), ledger=ledger())
            wait = error.value.details.get("retry_after_s", 0.0)
            assert isinstance(wait, float)
            return wait

        pauses = []
        for _ in range(4):
            assert await fails() == 0.0
            pauses.append(await fails())
            await asyncio.sleep(pauses[-1])
        assert pauses == pytest.approx([5.0, 10.0, 12.0, 12.0])

        called_off = asyncio.create_task(office.call(errand(), lambda _: asyncio.sleep(99.0), ledger=ledger()))
        await asyncio.sleep(0.1)
        called_off.cancel()
        await asyncio.gather(called_off, return_exceptions=True)
        assert await office.call(errand(), _plays("served"), ledger=ledger()) == "served 1"

    run_virtual(main())


def test_those_who_wait_in_line_fail_too_when_the_circuit_opens() -> None:
    rules = Rules(RetryRules(attempts=1), BreakerRules(faults=1, pause_s=50.0))

    async def main() -> tuple[int, float]:
        office = scheduler(Ration(1, None), rules)

        async def fails(attempt: int) -> None:
            await asyncio.sleep(1.0)
            raise ProviderUnreachable(provider="p", reason="down")

        done = await asyncio.gather(
            *(office.call(errand(), fails, ledger=ledger()) for _ in range(20)), return_exceptions=True
        )
        return sum(isinstance(one, ProviderUnreachable) for one in done), _now()

    failed, took = run_virtual(main())
    assert failed == 20
    assert took == pytest.approx(1.0)


def test_answers_that_are_no_fault_of_the_line_do_not_open_the_circuit() -> None:
    rules = Rules(RetryRules(attempts=1), BreakerRules(faults=2))
    kinds: list[ProviderError] = [
        ProviderRefused(provider="p", reason="no"),
        ProviderAnswerInvalid(provider="p", reason="empty"),
        _limited(0.0),
    ]

    async def main() -> None:
        office = scheduler(rules=rules)
        for error in kinds * 3:
            with pytest.raises(type(error)):
                await office.call(errand(), _plays(error), ledger=ledger())
        assert await office.call(errand(), _plays("served"), ledger=ledger()) == "served 1"

    run_virtual(main())


def test_a_share_of_faults_opens_it_too() -> None:
    breaker = Breaker(BreakerRules(faults=100, share=0.5, window=10, pause_s=5.0))
    changes = [breaker.ended(Health.FAULT if n % 2 else Health.WELL, 0.0, trying=False) for n in range(10)]
    assert changes == [None] * 9 + [Circuit.OPEN]
    assert breaker.closed_for(1.0) == pytest.approx(4.0)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(Health), st.integers(0, 160).map(lambda eighths: eighths / 8)), max_size=60))
def test_whatever_happens_a_circuit_lets_one_try_at_most_and_is_never_closed_for_ever(
    events: list[tuple[Health, float]],
) -> None:
    breaker, now = Breaker(BreakerRules(faults=2, pause_s=4.0, longest_pause_s=16.0)), 0.0
    for health, passed in events:
        now += passed
        wait = breaker.closed_for(now)
        if wait is not None:
            assert 0.0 < wait <= 16.0
            now += wait
            assert breaker.closed_for(now) is None
        trying = breaker.begin()
        assert trying == (breaker.circuit is Circuit.TRYING)
        if trying:
            assert breaker.closed_for(now) == 0.0, "nobody else tries meanwhile"
        breaker.ended(health, now, trying=trying)
        assert breaker.circuit is not Circuit.TRYING
