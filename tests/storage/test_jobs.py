"""Jobs outlive their workers, are in one pair of hands at a time, and end once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy.engine import make_url

from tadasu.core.documents import Reader
from tadasu.core.jobs import Claim, Ending, Job, JobKind, JobState, QueueRules, Settlement, correction_job
from tadasu.core.runs import Deferral
from tadasu.errors import RunCorrected, StoreBusy
from tadasu.runtime.world import FixedWorld, SystemClock, SystemIds
from tadasu.storage.database import alone, open_database
from tadasu.storage.jobs import SqlJobQueue, burial, claiming
from tadasu.storage.runs import SqlRunBook
from tests.storage.some_runs import everyday_run

RULES = QueueRules(lease=60.0, attempts=3, first_wait=30.0)
DONE = Settlement(Ending.DONE)
FAILED = Settlement(Ending.FAILED, "the web cannot be reached")


class Place:
    """A database, a world whose time moves when told, and a queue."""

    def __init__(self, file: Path, rules: QueueRules = RULES) -> None:
        self.file = file
        self.world = FixedWorld()
        self.queue = SqlJobQueue.open(file, clock=self.world, ids=self.world, rules=rules)

    def job(self, name: str = "run-1", *, reader: Reader | None = None) -> Job:
        now = self.world.now().isoformat(timespec="milliseconds")
        return correction_job(name, reader=reader or Reader(), created_at=now)

    def take(self) -> Claim:
        claim = self.queue.claim()
        assert claim is not None
        return claim

    def state(self, job: Job) -> tuple[JobState, int, str]:
        status = self.queue.job(job.id, reader=job.reader)
        assert status is not None
        return status.state, status.attempts, status.reason


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "state.db")
    yield made
    made.queue.close()


def test_a_job_is_taken_once_and_ends_once(place: Place) -> None:
    job = place.job(reader=Reader(tenant="会社", groups=frozenset({"役員", "board"})))
    place.queue.put(job)
    claim = place.take()
    assert (claim.job, claim.attempt) == (job, 1)
    assert claim.until == place.world.now() + timedelta(seconds=60)
    assert place.queue.claim() is None
    assert place.queue.settle(claim, DONE) is JobState.DONE
    assert place.queue.settle(claim, DONE) is None
    assert place.queue.settle(claim, FAILED) is None
    assert place.queue.keep(claim) is None
    assert place.state(job) == (JobState.DONE, 1, "")
    assert place.queue.claim() is None
    assert place.queue.pending() == 0


def test_leaving_a_job_twice_is_leaving_it_once(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    place.queue.put(job)
    claim = place.take()
    place.queue.put(job)
    assert place.queue.claim() is None
    place.queue.settle(claim, DONE)
    place.queue.put(job)
    assert place.queue.claim() is None


def test_a_lease_that_ends_without_a_word_frees_the_job_and_the_late_worker_changes_nothing(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    first = place.take()
    place.world.advance(59.9)
    assert place.queue.claim() is None
    place.world.advance(0.1)
    second = place.take()
    assert (second.job, second.attempt) == (job, 2)
    assert place.queue.keep(first) is None
    assert place.queue.settle(first, DONE) is None
    assert place.state(job)[0] is JobState.RUNNING
    assert place.queue.settle(second, DONE) is JobState.DONE


def test_signs_of_life_keep_a_job(place: Place) -> None:
    place.queue.put(place.job())
    claim = place.take()
    for _ in range(5):
        place.world.advance(50.0)
        kept = place.queue.keep(claim)
        assert kept is not None
        assert kept.until == place.world.now() + timedelta(seconds=60)
        assert place.queue.claim() is None
    assert place.queue.settle(claim, DONE) is JobState.DONE


def test_what_failed_is_tried_again_after_longer_and_longer_waits_and_then_given_up(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    for attempt, wait in ((1, 30.0), (2, 120.0)):
        assert place.queue.settle(place.take(), FAILED) is JobState.WAITING
        assert place.state(job) == (JobState.WAITING, attempt, "the web cannot be reached")
        place.world.advance(wait - 0.1)
        assert place.queue.claim() is None
        place.world.advance(0.1)
    assert place.queue.settle(place.take(), FAILED) is JobState.DEAD
    assert place.state(job) == (JobState.DEAD, 3, "the web cannot be reached")
    place.world.advance(1e6)
    assert place.queue.claim() is None
    place.queue.put(job)
    assert place.take().attempt == 1


def test_a_failure_may_say_when_to_try_again(place: Place) -> None:
    place.queue.put(place.job())
    tomorrow = place.world.now() + timedelta(hours=9)
    place.queue.settle(place.take(), Settlement(Ending.FAILED, "the day's budget is spent", not_before=tomorrow))
    place.world.advance(9 * 3600 - 1)
    assert place.queue.claim() is None
    place.world.advance(1)
    assert place.take().attempt == 2


def test_a_worker_that_keeps_dying_does_not_get_a_job_for_ever(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    for attempt in (1, 2, 3):
        assert place.take().attempt == attempt
        place.world.advance(60.0)
    assert place.queue.claim() is None
    state, attempts, reason = place.state(job)
    assert (state, attempts) == (JobState.DEAD, 3)
    assert "without a word" in reason


def test_what_is_given_back_is_free_at_once_and_was_no_attempt(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    assert place.queue.settle(place.take(), Settlement(Ending.GIVEN_BACK)) is JobState.WAITING
    assert place.take().attempt == 1


def test_what_is_hopeless_is_not_tried_again(place: Place) -> None:
    job = place.job()
    place.queue.put(job)
    assert place.queue.settle(place.take(), Settlement(Ending.HOPELESS, "the run is gone")) is JobState.DEAD
    assert place.state(job) == (JobState.DEAD, 1, "the run is gone")


def test_the_job_that_is_due_longest_goes_first(place: Place) -> None:
    for name in ("run-b", "run-a", "run-c"):
        place.queue.put(place.job(name))
        place.world.advance(1.0)
    assert [place.take().job.subject for _ in range(3)] == ["run-b", "run-a", "run-c"]


def test_lists_show_the_jobs_of_those_who_could_see_no_more(place: Place) -> None:
    board = Reader(groups=frozenset({"board"}))
    for name, reader in (("open", Reader()), ("secret", board), ("foreign", Reader(tenant="other"))):
        place.queue.put(place.job(name, reader=reader))
        place.world.advance(1.0)
    both = Reader(groups=frozenset({"board", "audit"}))
    assert [one.job.subject for one in place.queue.jobs(reader=Reader())] == ["open"]
    assert [one.job.subject for one in place.queue.jobs(reader=both)] == ["secret", "open"]
    assert [one.job.subject for one in place.queue.jobs(reader=both, limit=1)] == ["secret"]
    assert place.queue.job("correct-secret", reader=Reader()) is None
    place.queue.settle(place.take(), DONE)
    waiting = place.queue.jobs(reader=both, states=(JobState.WAITING, JobState.DEAD))
    assert [one.job.subject for one in waiting] == ["secret"]
    assert place.queue.pending() == 2


def test_a_run_whose_correction_was_put_off_and_its_job_are_there_together(place: Place) -> None:
    book = SqlRunBook.open(place.file)
    reader = Reader(groups=frozenset({"board"}))
    created = place.world.now().isoformat(timespec="milliseconds")
    run = replace(everyday_run("run-7", reader=reader, created_at=created), deferred=Deferral.PENDING)
    book.save(run)
    claim = place.take()
    assert (claim.job.kind, claim.job.subject, claim.job.reader) == (JobKind.CORRECTION, "run-7", reader)
    with pytest.raises(ValueError, match="run-7"):
        book.save(run)
    book.save(everyday_run("run-8", created_at=created))
    assert place.queue.pending() == 1
    book.close()


def test_a_run_is_corrected_once_and_the_second_correction_leaves_nothing(place: Place) -> None:
    book = SqlRunBook.open(place.file)
    book.save(everyday_run("run-1"))
    assert book.correction_of("run-1") == ""
    book.save(replace(everyday_run("run-2"), deferred=Deferral.DONE, corrects="run-1"))
    assert book.correction_of("run-1") == "run-2"
    with pytest.raises(RunCorrected) as caught:
        book.save(replace(everyday_run("run-3"), deferred=Deferral.DONE, corrects="run-1"))
    assert "run-2" in str(caught.value)
    assert [run.id for run in book.latest(limit=9, reader=Reader())] == ["run-2", "run-1"]
    book.close()


def test_a_writer_that_holds_the_database_for_long_is_named(place: Place) -> None:
    place.queue.put(place.job())
    impatient = SqlJobQueue.open(place.file, clock=place.world, ids=place.world, busy_seconds=0.05)
    other = open_database(place.file)
    with alone(other), pytest.raises(StoreBusy):
        impatient.claim()
    assert impatient.claim() is not None
    impatient.close()
    other.dispose()


def test_threads_never_share_a_job(tmp_path: Path) -> None:
    queue = SqlJobQueue.open(tmp_path / "state.db", clock=SystemClock(), ids=SystemIds(), busy_seconds=30.0)
    made = FixedWorld().now().isoformat(timespec="milliseconds")
    for number in range(40):
        queue.put(correction_job(f"run-{number}", reader=Reader(), created_at=made))
    start = threading.Barrier(4)

    def work(_: int) -> list[str]:
        start.wait()
        taken = []
        while (claim := queue.claim()) is not None:
            taken.append(claim.job.subject)
            assert queue.settle(claim, DONE) is JobState.DONE
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [name for names in pool.map(work, range(4)) for name in names]
    assert sorted(taken) == sorted(f"run-{number}" for number in range(40))
    queue.close()


def claimer(file: Path, mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.storage.claimer", str(file), mode]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_never_share_a_job(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    queue = SqlJobQueue.open(file, clock=SystemClock(), ids=SystemIds())
    made = FixedWorld().now().isoformat(timespec="milliseconds")
    for number in range(60):
        queue.put(correction_job(f"run-{number}", reader=Reader(), created_at=made))
    processes = [claimer(file, "all") for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(name for names in told for name in names) == sorted(f"correct-run-{number}" for number in range(60))
    assert queue.pending() == 0
    queue.close()


def test_a_job_outlives_the_worker_that_is_killed_with_it(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    world = FixedWorld(start=SystemClock().now())
    queue = SqlJobQueue.open(file, clock=world, ids=world, rules=QueueRules(lease=600.0))
    job = correction_job("run-1", reader=Reader(), created_at=world.now().isoformat(timespec="milliseconds"))
    queue.put(job)
    process = claimer(file, "die")
    out, _ = process.communicate("\n", timeout=60)
    assert (process.returncode, out) == (-9, "correct-run-1\n")
    assert queue.claim() is None
    world.advance(700.0)
    again = queue.claim()
    assert again is not None
    assert (again.job, again.attempt) == (job, 2)
    queue.close()


def test_postgresql_takes_a_job_in_one_statement_and_passes_over_those_being_taken() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    now = FixedWorld().now()
    told = " ".join(str(claiming(now, until=now, token="t").compile(dialect=dialect)).split())
    assert told.startswith("UPDATE jobs SET state=")
    assert "FOR UPDATE SKIP LOCKED)" in told
    assert "RETURNING jobs.id" in told
    assert str(burial(now, RULES).compile(dialect=dialect)).startswith("UPDATE jobs SET state=")


class Queues(RuleBasedStateMachine):
    """Whatever workers do, in whatever order: a job is in one pair of hands, and what has ended stays ended."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Place(Path(":memory:"))
        self.claims: list[Claim] = []
        self.held: dict[str, Claim] = {}
        self.ended: set[str] = set()
        self.names = 0

    @rule()
    def leave(self) -> None:
        self.names += 1
        self.place.queue.put(self.place.job(f"run-{self.names}"))

    @rule()
    def take(self) -> None:
        claim = self.place.queue.claim()
        if claim is None:
            return
        before = self.held.get(claim.job.id)
        assert before is None or before.until <= self.place.world.now()
        assert claim.job.id not in self.ended
        assert 1 <= claim.attempt <= RULES.attempts
        self.claims.append(claim)
        self.held[claim.job.id] = claim

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0, 500.0]))
    def wait(self, seconds: float) -> None:
        self.place.world.advance(seconds)

    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        if self.claims:
            claim = data.draw(st.sampled_from(self.claims))
            kept = self.place.queue.keep(claim)
            if kept is not None:
                assert self.held[claim.job.id].token == claim.token
                self.held[claim.job.id] = kept

    @rule(data=st.data(), ending=st.sampled_from(list(Ending)))
    def settle(self, data: st.DataObject, ending: Ending) -> None:
        if not self.claims:
            return
        claim = data.draw(st.sampled_from(self.claims))
        state = self.place.queue.settle(claim, Settlement(ending, "why"))
        if state is None:
            return
        assert self.held.pop(claim.job.id).token == claim.token
        if state in {JobState.DONE, JobState.DEAD}:
            self.ended.add(claim.job.id)

    @invariant()
    def ended_jobs_stay_ended(self) -> None:
        for status in self.place.queue.jobs(reader=Reader()):
            if status.job.id in self.ended:
                assert status.state in {JobState.DONE, JobState.DEAD}

    def teardown(self) -> None:
        self.place.queue.close()


Queues.TestCase.settings = settings(
    max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestQueues = Queues.TestCase
