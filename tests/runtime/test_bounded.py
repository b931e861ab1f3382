from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from tadasu.runtime.bounded import Bounded


class Room:
    """Counts who is in it."""

    def __init__(self) -> None:
        self.inside = self.most = self.left = 0

    async def stay(self, key: int) -> int:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            if key % 5 == 0:
                raise ValueError(f"no {key}")
            return key * key
        finally:
            self.inside -= 1
            self.left += 1


async def test_results_and_failures_come_by_key_and_never_too_many_run() -> None:
    room = Room()
    done = await Bounded(4).run({key: partial(room.stay, key) for key in range(50)})
    assert room.most == 4
    assert sorted(done.failures) == list(range(0, 50, 5))
    assert str(done.failures[10]) == "no 10"
    assert done.results == {key: key * key for key in range(50) if key % 5}


async def test_the_limit_holds_over_all_who_use_it() -> None:
    room, bounded = Room(), Bounded(3)
    await asyncio.gather(*(bounded.run({key: partial(room.stay, key) for key in range(1, 5)}) for _ in range(6)))
    assert (room.most, room.left) == (3, 24)


async def test_cancelling_ends_all_waits_for_them_and_leaves_nothing_behind() -> None:
    ended: list[int] = []

    async def long(key: int) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0)
            ended.append(key)

    bounded = Bounded(2)
    task = asyncio.create_task(bounded.run({key: partial(long, key) for key in range(5)}))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == [0, 1]
    assert len(asyncio.all_tasks()) == 1
    assert (await bounded.run({0: partial(Room().stay, 3)})).results == {0: 9}


async def test_a_job_that_cancels_itself_is_a_failure_and_costs_no_other() -> None:
    async def gone() -> int:
        raise asyncio.CancelledError

    jobs: dict[str, Callable[[], Awaitable[int]]] = {"gone": gone, "there": partial(Room().stay, 2)}
    done = await Bounded(2).run(jobs)
    assert done.results == {"there": 4}
    assert list(done.failures) == ["gone"]


def test_one_limit_serves_several_event_loops() -> None:
    bounded = Bounded(1)
    jobs: dict[int, Callable[[], Awaitable[int]]] = {key: partial(Room().stay, key) for key in (1, 2, 3)}
    assert [asyncio.run(bounded.run(jobs)).results for _ in range(2)] == [{1: 1, 2: 4, 3: 9}] * 2


async def test_no_jobs_are_no_outcomes() -> None:
    jobs: dict[str, Callable[[], Awaitable[int]]] = {}
    done = await Bounded(1).run(jobs)
    assert (done.results, done.failures) == ({}, {})


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Bounded(0)
