"""Work of a plugin within the time that is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class OutOfTime(Exception):
    """There was no result within `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within the {seconds:.3g} s that were left")
        self.seconds = seconds


class BrokeOff(Exception):
    """The work was cancelled, and by nobody who waits for it."""


async def within(seconds: float | None, work: Awaitable[T]) -> T:
    """The result of `work`; raises OutOfTime after `seconds` (None: never), BrokeOff, and whatever `work` raises.

    A cancellation of the caller passes through.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await work
    except TimeoutError as problem:
        if seconds is None or not limit.expired():
            raise
        raise OutOfTime(seconds) from problem
    except asyncio.CancelledError as problem:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise BrokeOff from problem
