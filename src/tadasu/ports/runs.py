"""Where runs are kept, and work that is done in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tadasu.core.documents import Reader
from tadasu.core.jobs import Claim, Job, JobState, JobStatus, Settlement
from tadasu.core.runs import Run

if TYPE_CHECKING:
    pass


class RunBook(Protocol):
    """Where runs are kept. A reader sees the runs of its tenant whose evidence it may see."""

    def save(self, run: Run) -> None:
        """Commit `run`: another connection sees it when this returns."""
        ...

    def load(self, run_id: str, *, reader: Reader) -> Run:
        """The run, ``last`` for the latest; raises RunNotFound."""
        ...

    def latest(self, *, limit: int, reader: Reader) -> Sequence[Run]:
        """The newest runs first."""
        ...


class Corrections(Protocol):
    """Which run took the place of another."""

    def correction_of(self, run_id: str) -> str:
        """The id of the run that corrected the run `run_id`; empty where none did."""
        ...


class JobIntake(Protocol):
    """Where work for later is left."""

    def put(self, job: Job) -> None:
        """Leave `job`. One that is waiting, running or done stays as it is; one that was given up begins anew."""
        ...


class JobQueue(Protocol):
    """Where workers get their work: at least once each job, one worker at a time. Any thread and process may ask.

    Blocking: callers move it off the event loop. All of it can be said in the words of a message queue with visibility
    time-outs; what must not happen twice is kept from it by whoever saves the result.
    """

    def claim(self) -> Claim | None:
        """The job that has been due longest, until its lease ends; None where nothing is due."""
        ...

    def keep(self, claim: Claim) -> Claim | None:
        """A sign of life: the same claim with a new lease; None where the job is not in these hands any more."""
        ...

    def settle(self, claim: Claim, settlement: Settlement) -> JobState | None:
        """Part from the job: how it stands then. None, and nothing is changed, where it is not in these hands."""
        ...


class JobBoard(Protocol):
    """How jobs stand. A reader sees those that were left by readers who could see no more."""

    def job(self, job_id: str, *, reader: Reader) -> JobStatus | None:
        """The job of that id, if `reader` may see it."""
        ...

    def jobs(self, *, reader: Reader, states: Sequence[JobState] = (), limit: int = 50) -> Sequence[JobStatus]:
        """The newest `limit` jobs in one of `states` (none: in any), newest first."""
        ...

    def pending(self) -> int:
        """How many jobs of all readers wait or run."""
        ...
