"""Coroutines at most so many at once: what came of each by its key, failures too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Outcomes(Generic[K, V]):
    """Each key of the jobs is in exactly one of both."""

    results: Mapping[K, V]
    failures: Mapping[K, Exception]


class Bounded:
    """A limit of `most` jobs at once, over all that run through one instance (and one event loop)."""

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"at least one job runs at a time, not {most}")
        self._most = most
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def run(self, jobs: Mapping[K, Callable[[], Awaitable[V]]]) -> Outcomes[K, V]:
        """Run all `jobs`; one that fails costs no other. Where this is cancelled, so are they, and it waits for them.

        A job is called when its turn comes: one that is never reached leaves nothing behind.
        """
        gate = self._gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most))
        results: dict[K, V] = {}
        failures: dict[K, Exception] = {}

        async def one(key: K, job: Callable[[], Awaitable[V]]) -> None:
            try:
                async with gate:
                    results[key] = await job()
            except asyncio.CancelledError as stop:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                failures[key] = RuntimeError(f"it broke off its own work {stop}".strip())
            except Exception as problem:  # noqa: BLE001 - the caller gets every failure, by its key
                failures[key] = problem

        async with asyncio.TaskGroup() as group:
            for key, job in jobs.items():
                group.create_task(one(key, job))
        return Outcomes(results, failures)
