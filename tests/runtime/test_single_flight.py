from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.runtime.single_flight import PATIENCE, SingleFlight


class Counter:
    """Computes a key as its upper case once `go` is set; remembers what it was asked for."""

    def __init__(self, *, go: bool = False, fail: int = 0) -> None:
        self.asked: list[list[str]] = []
        self.go = asyncio.Event()
        self.fail = fail
        if go:
            self.go.set()

    async def __call__(self, keys: Sequence[str]) -> Mapping[str, str]:
        self.asked.append(list(keys))
        await self.go.wait()
        if self.fail:
            self.fail -= 1
            raise OSError("down")
        return {key: key.upper() for key in keys}


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_many_askers_of_one_key_cause_one_computation() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter()
    askers = [asyncio.create_task(flights.fetch(["a", "b"], compute)) for _ in range(50)]
    await _settle()
    compute.go.set()
    assert await asyncio.gather(*askers) == [{"a": "A", "b": "B"}] * 50
    assert compute.asked == [["a", "b"]]


async def test_overlapping_askers_compute_only_what_nobody_computes_yet() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter()
    first = asyncio.create_task(flights.fetch(["a", "b"], compute))
    await _settle()
    second = asyncio.create_task(flights.fetch(["b", "c", "a", "d"], compute))
    await _settle()
    compute.go.set()
    assert await first == {"a": "A", "b": "B"}
    assert await second == {"a": "A", "b": "B", "c": "C", "d": "D"}
    assert compute.asked == [["a", "b"], ["c", "d"]]


async def test_two_who_need_what_the_other_computes_do_not_wait_for_each_other() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter()
    tasks = [asyncio.create_task(flights.fetch(keys, compute)) for keys in (["a", "b"], ["c", "a"], ["d", "c", "b"])]
    await _settle()
    compute.go.set()
    async with asyncio.timeout(5):
        results = await asyncio.gather(*tasks)
    assert [sorted(result) for result in results] == [["a", "b"], ["a", "c"], ["b", "c", "d"]]
    assert sorted(key for asked in compute.asked for key in asked) == ["a", "b", "c", "d"]


async def test_a_failure_is_heard_by_its_own_asker_only() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter(fail=1)
    askers = [asyncio.create_task(flights.fetch(["a"], compute)) for _ in range(5)]
    await _settle()
    compute.go.set()
    results = await asyncio.gather(*askers, return_exceptions=True)
    assert isinstance(results[0], OSError)
    assert results[1:] == [{"a": "A"}] * 4
    assert len(compute.asked) == 2  # one failed, one of those who waited took over for the rest


async def test_a_cancelled_leader_hands_over_to_the_next() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter()
    leader, *others = [asyncio.create_task(flights.fetch(["a"], compute)) for _ in range(4)]
    await _settle()
    leader.cancel()
    await _settle()
    assert leader.cancelled()
    assert len(compute.asked) == 2
    compute.go.set()
    assert await asyncio.gather(*others) == [{"a": "A"}] * 3
    assert len(compute.asked) == 2


async def test_a_cancelled_waiter_disturbs_nobody() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter()
    leader, quitter, other = [asyncio.create_task(flights.fetch(["a"], compute)) for _ in range(3)]
    await _settle()
    quitter.cancel()
    await _settle()
    compute.go.set()
    assert await leader == await other == {"a": "A"}
    assert quitter.cancelled()
    assert len(compute.asked) == 1


async def test_a_key_that_is_left_out_is_shared_with_nobody() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    go = asyncio.Event()

    async def only_a(keys: Sequence[str]) -> Mapping[str, str]:
        await go.wait()
        return {key: key.upper() for key in keys if key == "a"}

    compute = Counter(go=True)
    poor = asyncio.create_task(flights.fetch(["a", "b"], only_a))
    await _settle()
    rich = asyncio.create_task(flights.fetch(["a", "b"], compute))
    await _settle()
    go.set()
    assert await poor == {"a": "A"}
    assert await rich == {"a": "A", "b": "B"}
    assert compute.asked == [["b"]]


async def test_a_broken_service_costs_no_asker_more_than_three_attempts() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    running, attempts = 0, []

    async def broken(keys: Sequence[str]) -> Mapping[str, str]:
        nonlocal running
        running += 1
        attempts.append(running)
        await asyncio.sleep(0.02)
        running -= 1
        raise OSError("down")

    began = asyncio.get_running_loop().time()
    results = await asyncio.gather(*[flights.fetch(["a"], broken) for _ in range(30)], return_exceptions=True)
    took = asyncio.get_running_loop().time() - began
    assert all(isinstance(result, OSError) for result in results)
    assert len(attempts) == 30  # a failure is nobody's result: each heard its own
    assert attempts[:PATIENCE] == [1] * PATIENCE
    assert took < 30 * 0.02 * 0.7  # and not one after another


async def test_nothing_is_kept_after_landing_however_it_ended() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    compute = Counter(go=True, fail=1)
    with pytest.raises(OSError, match="down"):
        await flights.fetch(["a"], compute)
    assert await flights.fetch(["a"], compute) == {"a": "A"}
    assert await flights.fetch(["a"], compute) == {"a": "A"}
    assert len(compute.asked) == 3
    assert await flights.fetch([], compute) == {}
    assert len(compute.asked) == 3


async def test_the_same_key_twice_is_one() -> None:
    compute = Counter(go=True)
    assert await SingleFlight[str, str]().fetch(["a", "a", "b", "a"], compute) == {"a": "A", "b": "B"}
    assert compute.asked == [["a", "b"]]


def test_loops_do_not_disturb_each_other() -> None:
    flights: SingleFlight[str, str] = SingleFlight()
    found: list[dict[str, str]] = []
    together = threading.Barrier(2, timeout=5)

    async def compute(keys: Sequence[str]) -> Mapping[str, str]:
        await asyncio.to_thread(together.wait)
        return {key: key.upper() for key in keys}

    def ask() -> None:
        found.append(asyncio.run(flights.fetch(["a"], compute)))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [{"a": "A"}, {"a": "A"}]
    gc.collect()
    assert not flights._loops


_asks = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcde"), max_size=5),  # keys
        st.integers(0, 3),  # turns of the loop before it asks
        st.sampled_from(["works", "works", "fails", "cancelled", "leaves out"]),
    ),
    min_size=1,
    max_size=8,
)


@given(_asks)
def test_whoever_is_not_itself_hindered_gets_all(asks: list[tuple[list[str], int, str]]) -> None:
    async def scene() -> None:
        flights: SingleFlight[str, str] = SingleFlight()

        async def ask(keys: list[str], delay: int, kind: str) -> dict[str, str]:
            async def compute(missing: Sequence[str]) -> Mapping[str, str]:
                for _ in range(3):
                    await asyncio.sleep(0)
                if kind == "fails":
                    raise OSError("down")
                return {} if kind == "leaves out" else {key: key.upper() for key in missing}

            for _ in range(delay):
                await asyncio.sleep(0)
            return await flights.fetch(keys, compute)

        tasks = [asyncio.create_task(ask(*one)) for one in asks]
        for _ in range(4):
            await asyncio.sleep(0)
        for task, (_, _, kind) in zip(tasks, asks, strict=True):
            if kind == "cancelled":
                task.cancel()
        async with asyncio.timeout(5):
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result, (keys, _, kind) in zip(results, asks, strict=True):
            if kind == "works":
                assert result == {key: key.upper() for key in keys}
            elif isinstance(result, dict):
                assert all(value == key.upper() for key, value in result.items())
        assert not any(flights._loops.values())

    asyncio.run(scene())
