"""An event loop whose time is a FixedWorld's: where everybody waits, time jumps, so that no test waits for it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from tadasu.runtime.world import FixedWorld

T = TypeVar("T")


class _Jumping(selectors.SelectSelector):
    def __init__(self, world: FixedWorld) -> None:
        super().__init__()
        self._world = world

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise AssertionError("everybody waits for something that will never happen")
        if not ready and timeout is not None and timeout > 0:
            self._world.advance(timeout)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, world: FixedWorld) -> None:
        self._world = world
        super().__init__(_Jumping(world))

    def time(self) -> float:
        return self._world.elapsed()


def run_in(world: FixedWorld, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which sees the time of `world` alone."""
    loop = _Loop(world)
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
