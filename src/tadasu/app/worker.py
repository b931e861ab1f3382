"""The worker: takes one job after the other, says that it is alive, and gives back what it does not end."""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tadasu.core.jobs import Claim, Ending, Job, JobState, Settlement
from tadasu.core.runs import Run
from tadasu.errors import NotFound, TadasuError

if TYPE_CHECKING:
    from tadasu.ports import Clock, JobQueue

_PATIENCE = 3
"""How often a queue may be busy in a row before a worker with an end in sight gives up."""

Do = Callable[[Job], Awaitable[Run]]
Pause = Callable[[float], Awaitable[None]]


class Outcome(enum.Enum):
    """How one attempt at a job ended."""

    DONE = "done"
    FAILED = "failed"
    """To be tried again later."""
    DEAD = "dead"
    GIVEN_BACK = "given_back"
    LOST = "lost"
    """The lease had ended: the job is another worker's, and nothing of this attempt counts."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a job, and how long it took. `run` is the result of one that is DONE, `reason` says why else."""

    job: Job
    number: int
    outcome: Outcome
    seconds: float
    run: Run | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """An attempt begins."""

    job: Job
    number: int


Watcher = Callable[[Begun | Attempt], None]


def unwatched(_event: Begun | Attempt) -> None:
    """A watcher for those who only want the result."""


class Worker:
    """Does jobs with `do`, which has to bear being cancelled anywhere and being done again."""

    def __init__(
        self,
        queue: JobQueue,
        do: Do,
        *,
        clock: Clock,
        beat: float,
        poll: float = 2.0,
        pause: Pause = asyncio.sleep,
        not_before: Callable[[TadasuError], datetime | None] = lambda _problem: None,
    ) -> None:
        """A sign of life every `beat` seconds, a look for work every `poll` seconds where there was none."""
        self._queue = queue
        self._do = do
        self._clock = clock
        self._beat = beat
        self._poll = poll
        self._pause = pause
        self._not_before = not_before

    async def run(
        self,
        *,
        until_empty: bool = False,
        at_most: int | None = None,
        stop: asyncio.Event | None = None,
        watch: Watcher = unwatched,
    ) -> list[Attempt]:
        """Work until `stop` is set, until nothing is due (`until_empty`), or until `at_most` attempts were made.

        Cancelling it gives back the job in hand, too. Raises a StoreError where the queue itself fails for good; a busy
        one is asked again, for ever where neither bound is given.
        """
        stop = stop or asyncio.Event()
        bounded = until_empty or at_most is not None
        made: list[Attempt] = []
        refused = 0
        while not stop.is_set() and (at_most is None or len(made) < at_most):
            try:
                claim = await self._claim()
                refused = 0
            except TadasuError as problem:
                refused += 1
                if not problem.retryable or (bounded and refused > _PATIENCE):
                    raise
                await _first(self._pause(self._poll), stop.wait())
                continue
            if claim is not None:
                watch(Begun(claim.job, claim.attempt))
                attempt = await self._attempt(claim, stop)
                watch(attempt)
                made.append(attempt)
            elif bounded:
                break
            else:
                await _first(self._pause(self._poll), stop.wait())
        return made

    async def _claim(self) -> Claim | None:
        claiming = asyncio.create_task(asyncio.to_thread(self._queue.claim))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The thread cannot be stopped: whatever it has taken goes back.
            if (claim := await claiming) is not None:
                await asyncio.to_thread(self._queue.settle, claim, Settlement(Ending.GIVEN_BACK))
            raise

    async def _attempt(self, claim: Claim, stop: asyncio.Event) -> Attempt:
        began = self._clock.elapsed()
        work = asyncio.ensure_future(self._do(claim.job))
        lost = asyncio.create_task(self._keep(claim))
        halt = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, lost, halt}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._parted(claim, work, gone=False)
            raise
        finally:
            for task in (lost, halt):
                task.cancel()
            gone = lost.done() and not lost.cancelled()
        outcome, run, reason = await self._parted(claim, work, gone=gone)
        return Attempt(claim.job, claim.attempt, outcome, self._clock.elapsed() - began, run, reason)

    async def _keep(self, claim: Claim) -> None:
        """Says that this worker is alive; ends when the job is another's."""
        while True:
            await self._pause(self._beat)
            try:
                if await asyncio.to_thread(self._queue.keep, claim) is None:
                    return
            except TadasuError as problem:
                # A busy database is no lost lease: the next beat may get through before it ends.
                if not problem.retryable:
                    return

    async def _parted(self, claim: Claim, work: asyncio.Future[Run], *, gone: bool) -> tuple[Outcome, Run | None, str]:
        """Ends what is still under way, and tells the queue; nothing in here is left half done by a cancellation."""
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await asyncio.shield(_ended(work))
        settlement, run = self._judge(work)
        if gone:
            return Outcome.LOST, None, "the lease had ended"
        try:
            state = await asyncio.shield(asyncio.to_thread(self._queue.settle, claim, settlement))
        except TadasuError as problem:
            if not problem.retryable:
                raise
            # What was made is saved; the job comes back when its lease ends, and is found done then.
            return Outcome.LOST, None, str(problem)
        return _outcome(settlement, state), run, settlement.reason

    def _judge(self, work: asyncio.Future[Run]) -> tuple[Settlement, Run | None]:
        if work.cancelled():
            return Settlement(Ending.GIVEN_BACK), None
        match work.exception():
            case None:
                return Settlement(Ending.DONE), work.result()
            case NotFound() as problem:
                return Settlement(Ending.HOPELESS, str(problem)), None
            case TadasuError() as problem:
                return Settlement(Ending.FAILED, str(problem), self._not_before(problem)), None
            case problem:
                # A bug met by one job must not end the worker; it stands in the job's row.
                return Settlement(Ending.FAILED, f"{type(problem).__name__}: {problem}"), None


def _outcome(settlement: Settlement, state: JobState | None) -> Outcome:
    match state:
        case None:
            return Outcome.LOST
        case JobState.DEAD:
            return Outcome.DEAD
        case JobState.DONE:
            return Outcome.DONE
        case _:
            return Outcome.GIVEN_BACK if settlement.ending is Ending.GIVEN_BACK else Outcome.FAILED


async def _ended(work: asyncio.Future[Run]) -> None:
    await asyncio.wait({work})


async def _first(*works: Awaitable[object]) -> None:
    """Waits for the first of `works` and cancels the rest."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
