"""Work that goes on in the background: what is to be done, who does it for how long, and how it ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from tadasu.core.documents import Reader


class JobKind(enum.Enum):
    """What a job does."""

    CORRECTION = "correction"
    """The correction of an answer that was given at once; `Job.subject` is its run."""


class JobState(enum.Enum):
    """How a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    """A worker has it until its lease ends; without a word by then, the next worker may have it."""
    DONE = "done"
    DEAD = "dead"
    """Given up, with the reason."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done for `reader`, with that reader's rights and no others. `created_at` is ISO 8601, UTC."""

    id: str
    kind: JobKind
    subject: str
    reader: Reader
    created_at: str


def correction_job(run_id: str, *, reader: Reader, created_at: str) -> Job:
    """The job that corrects the run of that id. A run has one such job: it is named after the run.

    >>> correction_job("run-1", reader=Reader(), created_at="2026-01-01T00:00:00.000+00:00").id
    'correct-run-1'
    """
    return Job(f"correct-{run_id}", JobKind.CORRECTION, run_id, reader, created_at)


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in a worker's hands until `until`: `token` tells this claim from others, `attempt` counts from 1."""

    job: Job
    token: str
    attempt: int
    until: datetime


class Ending(enum.Enum):
    """How a worker parts from a job."""

    DONE = "done"
    FAILED = "failed"
    """To be tried again, unless it was tried often enough."""
    HOPELESS = "hopeless"
    """Not to be tried again."""
    GIVEN_BACK = "given_back"
    """Not begun in earnest: the worker stops. Counts as no attempt."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is said of a job at its end. `not_before` puts the next attempt off beyond the usual wait."""

    ending: Ending
    reason: str = ""
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as lists show it: `reason` is what its last attempt failed of.

    `due` is when it may be tried (again), or until when a worker has it.
    """

    job: Job
    state: JobState
    attempts: int
    due: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QueueRules:
    """How long a claim lasts without a sign of life, how often a job is tried, and the waits in between, in seconds.

    The wait after the first failure is `first_wait`, four times as long after each further one, `longest_wait` at most.
    """

    lease: float = 60.0
    attempts: int = 6
    first_wait: float = 30.0
    longest_wait: float = 3600.0

    def wait_after(self, attempt: int) -> float:
        """Seconds until the next attempt after number `attempt` failed.

        >>> [QueueRules().wait_after(attempt) for attempt in (1, 2, 3, 9)]
        [30.0, 120.0, 480.0, 3600.0]
        """
        return float(min(self.longest_wait, self.first_wait * 4.0 ** min(attempt - 1, 20)))
