"""A worker does jobs one by one, says that it is alive, and gives back what it does not end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tadasu.app.worker import Attempt, Begun, Do, Outcome, Worker
from tadasu.core.documents import Reader
from tadasu.core.jobs import Claim, Ending, Job, JobState, QueueRules, Settlement, correction_job
from tadasu.core.runs import Run
from tadasu.errors import ProviderUnreachable, RunNotFound, StoreBusy, StoreDamaged, TadasuError
from tadasu.runtime.world import FixedWorld
from tadasu.storage.database import open_database
from tadasu.storage.jobs import SqlJobQueue
from tests.storage.some_runs import everyday_run

RULES = QueueRules(lease=60.0, attempts=2, first_wait=30.0)


class Noted(SqlJobQueue):
    """A queue that says when it has heard a sign of life."""

    kept = threading.Event()

    def keep(self, claim: Claim) -> Claim | None:
        found = super().keep(claim)
        self.kept.set()
        return found


class Desk:
    """A queue with jobs, in a world whose time moves when told, and pauses that end when told."""

    def __init__(self, file: Path) -> None:
        self.world = FixedWorld()
        self.queue = Noted(open_database(file), clock=self.world, ids=self.world, rules=RULES)
        self.beats = asyncio.Queue[None]()

    def leave(self, *names: str) -> None:
        for name in names:
            now = self.world.now().isoformat(timespec="milliseconds")
            self.queue.put(correction_job(name, reader=Reader(), created_at=now))
            self.world.advance(0.001)

    async def pause(self, _seconds: float) -> None:
        await self.beats.get()

    def worker(self, do: Do, **options: object) -> Worker:
        given = {"clock": self.world, "beat": 20.0, "pause": self.pause, **options}
        return Worker(self.queue, do, **given)  # type: ignore[arg-type]

    def state(self, name: str) -> tuple[JobState, int, str]:
        status = self.queue.job(f"correct-{name}", reader=Reader())
        assert status is not None
        return status.state, status.attempts, status.reason


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "state.db")
    yield made
    made.queue.close()


async def corrected(job: Job) -> Run:
    return everyday_run(f"better-{job.subject}")


def failing(problem: Exception) -> Do:
    async def do(_job: Job) -> Run:
        raise problem

    return do


async def test_all_that_is_due_is_done_and_told(desk: Desk) -> None:
    desk.leave("run-1", "run-2")
    told: list[Begun | Attempt] = []
    made = await desk.worker(corrected).run(until_empty=True, watch=told.append)
    assert [(one.job.subject, one.outcome, one.run and one.run.id) for one in made] == [
        ("run-1", Outcome.DONE, "better-run-1"),
        ("run-2", Outcome.DONE, "better-run-2"),
    ]
    assert [type(event) for event in told] == [Begun, Attempt, Begun, Attempt]
    assert desk.queue.pending() == 0


async def test_at_most_so_many_and_not_waiting_for_more(desk: Desk) -> None:
    desk.leave("run-1", "run-2")
    assert len(await desk.worker(corrected).run(at_most=1)) == 1
    assert desk.queue.pending() == 1
    assert len(await desk.worker(corrected).run(at_most=5)) == 1


@pytest.mark.parametrize(
    ("problem", "outcomes", "reason"),
    [
        (ProviderUnreachable(provider="tavily", reason="no route"), ["failed", "dead"], "tavily cannot be reached"),
        (ZeroDivisionError("a bug"), ["failed", "dead"], "ZeroDivisionError: a bug"),
        (RunNotFound(run="run-1"), ["dead"], "There is no run run-1 here."),
    ],
)
async def test_a_failure_is_kept_with_its_reason_and_ends_no_worker(
    desk: Desk, problem: Exception, outcomes: list[str], reason: str
) -> None:
    desk.leave("run-1")
    worker = desk.worker(failing(problem))
    seen = []
    for _ in range(3):
        seen += [one.outcome.value for one in await worker.run(until_empty=True)]
        desk.world.advance(30.0)
    assert seen == outcomes
    state, attempts, kept = desk.state("run-1")
    assert (state, attempts) == (JobState.DEAD, len(outcomes))
    assert reason in kept


async def test_a_failure_that_knows_when_puts_the_next_attempt_off(desk: Desk) -> None:
    desk.leave("run-1")
    tomorrow = desk.world.now() + timedelta(hours=5)
    asked: list[TadasuError] = []

    def when(problem: TadasuError) -> object:
        asked.append(problem)
        return tomorrow

    problem = ProviderUnreachable(provider="tavily", reason="no route")
    await desk.worker(failing(problem), not_before=when).run(until_empty=True)
    assert asked == [problem]
    status = desk.queue.job("correct-run-1", reader=Reader())
    assert status is not None
    assert status.due == tomorrow


async def test_a_stop_breaks_the_work_off_and_gives_the_job_back(desk: Desk) -> None:
    desk.leave("run-1", "run-2")
    stop, begun, broken_off = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def do(_job: Job) -> Run:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            broken_off.set()
        raise AssertionError

    working = asyncio.create_task(desk.worker(do).run(stop=stop))
    await begun.wait()
    assert desk.state("run-1")[0] is JobState.RUNNING
    stop.set()
    made = await working
    assert [one.outcome for one in made] == [Outcome.GIVEN_BACK]
    assert broken_off.is_set()
    assert desk.state("run-1") == (JobState.WAITING, 0, "")


async def test_a_cancelled_worker_gives_the_job_back_too(desk: Desk) -> None:
    desk.leave("run-1")
    begun = asyncio.Event()

    async def do(_job: Job) -> Run:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    working = asyncio.create_task(desk.worker(do).run())
    await begun.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert desk.state("run-1") == (JobState.WAITING, 0, "")


async def test_what_is_done_when_the_stop_comes_counts(desk: Desk) -> None:
    desk.leave("run-1", "run-2")
    stop = asyncio.Event()

    async def do(job: Job) -> Run:
        stop.set()
        return await corrected(job)

    made = await desk.worker(do).run(stop=stop)
    assert [one.outcome for one in made] == [Outcome.DONE]
    assert desk.state("run-2")[0] is JobState.WAITING


async def test_signs_of_life_keep_the_job_while_the_work_goes_on(desk: Desk) -> None:
    desk.leave("run-1")
    begun, end = asyncio.Event(), asyncio.Event()

    async def do(job: Job) -> Run:
        begun.set()
        await end.wait()
        return await corrected(job)

    working = asyncio.create_task(desk.worker(do).run(until_empty=True))
    await begun.wait()
    for _ in range(4):
        desk.world.advance(50.0)
        desk.queue.kept.clear()
        desk.beats.put_nowait(None)
        assert await asyncio.to_thread(desk.queue.kept.wait, 30.0)
        assert desk.queue.claim() is None
    end.set()
    assert [one.outcome for one in await working] == [Outcome.DONE]


async def test_a_worker_whose_job_is_anothers_breaks_off_and_changes_nothing(desk: Desk) -> None:
    desk.leave("run-1")
    begun = asyncio.Event()

    async def do(_job: Job) -> Run:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    working = asyncio.create_task(desk.worker(do).run(until_empty=True))
    await begun.wait()
    desk.world.advance(61.0)
    other = desk.queue.claim()
    assert other is not None
    desk.beats.put_nowait(None)
    assert [one.outcome for one in await working] == [Outcome.LOST]
    assert desk.queue.settle(other, Settlement(Ending.DONE)) is JobState.DONE


class Moody:
    """A queue that fails with `problem` until it is told otherwise."""

    def __init__(self, queue: SqlJobQueue, problem: TadasuError) -> None:
        self.queue = queue
        self.problem: TadasuError | None = problem
        self.asked = threading.Event()

    def claim(self) -> Claim | None:
        self.asked.set()
        if self.problem is not None:
            raise self.problem
        return self.queue.claim()

    def keep(self, claim: Claim) -> Claim | None:
        return self.queue.keep(claim)

    def settle(self, claim: Claim, settlement: Settlement) -> JobState | None:
        return self.queue.settle(claim, settlement)


async def test_a_busy_database_is_waited_for_and_a_damaged_one_ends_the_worker(desk: Desk) -> None:
    desk.leave("run-1")
    queue = Moody(desk.queue, StoreBusy(path="state.db"))
    stop = asyncio.Event()

    async def do(job: Job) -> Run:
        stop.set()
        return await corrected(job)

    worker = Worker(queue, do, clock=desk.world, beat=20.0, pause=desk.pause)
    working = asyncio.create_task(worker.run(stop=stop))
    assert await asyncio.to_thread(queue.asked.wait, 30.0)
    queue.problem = None
    desk.beats.put_nowait(None)
    assert [one.outcome for one in await working] == [Outcome.DONE]
    queue.problem = StoreBusy(path="state.db")
    for _ in range(3):
        desk.beats.put_nowait(None)
    with pytest.raises(StoreBusy):
        await worker.run(until_empty=True)
    queue.problem = StoreDamaged(path="state.db", reason="malformed")
    with pytest.raises(StoreDamaged):
        await worker.run()


async def test_a_waiting_worker_takes_what_comes(desk: Desk) -> None:
    stop = asyncio.Event()

    async def do(job: Job) -> Run:
        stop.set()
        return await corrected(job)

    working = asyncio.create_task(desk.worker(do).run(stop=stop))
    await asyncio.sleep(0.02)
    desk.leave("run-1")
    desk.beats.put_nowait(None)
    assert [one.job.subject for one in await working] == ["run-1"]
