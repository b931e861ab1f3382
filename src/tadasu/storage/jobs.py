"""Jobs as rows: they outlive the process that left them and the one that works on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Update, and_, func, insert, or_, select, update

from tadasu.core.documents import Reader
from tadasu.core.jobs import Claim, Ending, Job, JobKind, JobState, JobStatus, QueueRules, Settlement
from tadasu.ports import Clock, Ids
from tadasu.storage.database import alone, open_database, translated
from tadasu.storage.tables import jobs

_WAITING, _RUNNING, _DONE, _DEAD = (state.value for state in JobState)
_OPEN = (_WAITING, _RUNNING)


class SqlJobQueue:
    """ports.JobIntake, JobQueue and JobBoard in the state database.

    A job is in one pair of hands while its lease lasts. Leases are wall-clock times: machines that share a database
    have to agree on the time to within a fraction of the lease.
    """

    def __init__(self, engine: Engine, *, clock: Clock, ids: Ids, rules: QueueRules | None = None) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids
        self._rules = rules or QueueRules()

    @classmethod
    def open(
        cls,
        place: Path | str,
        *,
        clock: Clock,
        ids: Ids,
        rules: QueueRules | None = None,
        busy_seconds: float = 5.0,
    ) -> SqlJobQueue:
        """The queue in the database at `place`; see `open_database` for what it raises."""
        return cls(open_database(place, busy_seconds=busy_seconds), clock=clock, ids=ids, rules=rules)

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()

    def put(self, job: Job) -> None:
        """See `ports.JobIntake`."""
        anew = {"state": _WAITING, "attempts": 0, "due_at": _text(self._clock.now()), "holder": "", "reason": ""}
        with translated(self._engine), alone(self._engine) as connection:
            state = connection.scalar(select(jobs.c.state).where(jobs.c.id == job.id))
            if state is None:
                leave(connection, job)
            elif state == _DEAD:
                connection.execute(update(jobs).where(jobs.c.id == job.id).values(anew))

    def claim(self) -> Claim | None:
        """See `ports.JobQueue`. A job whose last allowed attempt ended without a word is given up here."""
        now = self._clock.now()
        with translated(self._engine):
            # A look without the lock of writers: most of the time there is nothing to do.
            with self._engine.connect() as connection:
                if connection.scalar(select(jobs.c.id).where(_due(now)).limit(1)) is None:
                    return None
            with self._engine.begin() as connection:
                connection.execute(burial(now, self._rules))
                until = now + timedelta(seconds=self._rules.lease)
                token = self._ids.new("claim")
                row = connection.execute(claiming(now, until=until, token=token)).mappings().first()
        return None if row is None else Claim(_job(row), token, row["attempts"], until)

    def keep(self, claim: Claim) -> Claim | None:
        """See `ports.JobQueue`."""
        until = self._clock.now() + timedelta(seconds=self._rules.lease)
        held = update(jobs).where(_held(claim)).values(due_at=_text(until))
        with translated(self._engine), self._engine.begin() as connection:
            if connection.execute(held).rowcount == 0:
                return None
        return Claim(claim.job, claim.token, claim.attempt, until)

    def settle(self, claim: Claim, settlement: Settlement) -> JobState | None:
        """See `ports.JobQueue`."""
        state, values = self._settled(claim, settlement)
        parting = update(jobs).where(_held(claim)).values(state=state.value, holder="", **values)
        with translated(self._engine), self._engine.begin() as connection:
            return state if connection.execute(parting).rowcount else None

    def _settled(self, claim: Claim, settlement: Settlement) -> tuple[JobState, dict[str, Any]]:
        now = self._clock.now()
        reason = settlement.reason
        match settlement.ending:
            case Ending.DONE:
                return JobState.DONE, {"due_at": _text(now), "reason": ""}
            case Ending.HOPELESS:
                return JobState.DEAD, {"due_at": _text(now), "reason": reason}
            case Ending.GIVEN_BACK:
                return JobState.WAITING, {"due_at": _text(now), "attempts": jobs.c.attempts - 1}
            case Ending.FAILED:
                if claim.attempt >= self._rules.attempts:
                    return JobState.DEAD, {"due_at": _text(now), "reason": reason}
                due = now + timedelta(seconds=self._rules.wait_after(claim.attempt))
                return JobState.WAITING, {"due_at": _text(max(due, settlement.not_before or due)), "reason": reason}

    def job(self, job_id: str, *, reader: Reader) -> JobStatus | None:
        """See `ports.JobBoard`."""
        query = select(jobs).where(jobs.c.id == job_id, jobs.c.tenant == reader.tenant)
        return next(iter(self._seen(query, reader, limit=1)), None)

    def jobs(self, *, reader: Reader, states: Sequence[JobState] = (), limit: int = 50) -> Sequence[JobStatus]:
        """See `ports.JobBoard`."""
        query = select(jobs).where(jobs.c.tenant == reader.tenant)
        if states:
            query = query.where(jobs.c.state.in_([state.value for state in states]))
        return self._seen(query.order_by(jobs.c.created_at.desc(), jobs.c.id.desc()), reader, limit=limit)

    def pending(self) -> int:
        """See `ports.JobBoard`."""
        query = select(func.count()).select_from(jobs).where(jobs.c.state.in_(_OPEN))
        with translated(self._engine), self._engine.connect() as connection:
            return connection.scalar(query) or 0

    def _seen(self, query: Any, reader: Reader, *, limit: int) -> list[JobStatus]:
        found: list[JobStatus] = []
        with translated(self._engine), self._engine.connect() as connection:
            for row in connection.execute(query).mappings():
                if len(found) >= limit:
                    break
                if frozenset(json.loads(row["reader_groups"])) <= reader.groups:
                    found.append(_status(row))
        return found


def leave(connection: Connection, job: Job) -> None:
    """Write a new job within the transaction of `connection`, so that it is there exactly if the rest of it is."""
    row = {
        "id": job.id,
        "kind": job.kind.value,
        "subject": job.subject,
        "tenant": job.reader.tenant,
        "reader_groups": json.dumps(sorted(job.reader.groups), ensure_ascii=False),
        "created_at": job.created_at,
        "state": _WAITING,
        "attempts": 0,
        "due_at": _text(datetime.fromisoformat(job.created_at)),
        "holder": "",
        "reason": "",
    }
    connection.execute(insert(jobs), row)


def claiming(now: datetime, *, until: datetime, token: str) -> Update:
    """One statement that finds the job which has been due longest and takes it."""
    first = select(jobs.c.id).where(_due(now)).order_by(jobs.c.due_at, jobs.c.id).limit(1)
    chosen = first.with_for_update(skip_locked=True).scalar_subquery()  # PostgreSQL; SQLite has one writer anyway
    taken = {"state": _RUNNING, "attempts": jobs.c.attempts + 1, "due_at": _text(until), "holder": token}
    return update(jobs).where(jobs.c.id == chosen, _due(now)).values(taken).returning(*jobs.c)


def burial(now: datetime, rules: QueueRules) -> Update:
    """Gives up what was tried often enough and whose worker has said nothing until the end of its lease."""
    silent = and_(jobs.c.state == _RUNNING, jobs.c.due_at <= _text(now), jobs.c.attempts >= rules.attempts)
    reason = "the worker stopped without a word, and it was the last attempt"
    return update(jobs).where(silent).values(state=_DEAD, holder="", reason=reason)


def _due(now: datetime) -> ColumnElement[bool]:
    return and_(or_(jobs.c.state == _WAITING, jobs.c.state == _RUNNING), jobs.c.due_at <= _text(now))


def _held(claim: Claim) -> ColumnElement[bool]:
    return and_(jobs.c.id == claim.job.id, jobs.c.holder == claim.token, jobs.c.state == _RUNNING)


def _job(row: Any) -> Job:
    reader = Reader(tenant=row["tenant"], groups=frozenset(json.loads(row["reader_groups"])))
    return Job(row["id"], JobKind(row["kind"]), row["subject"], reader, row["created_at"])


def _status(row: Any) -> JobStatus:
    due = datetime.fromisoformat(row["due_at"])
    return JobStatus(_job(row), JobState(row["state"]), row["attempts"], due, row["reason"])


def _text(moment: datetime) -> str:
    # UTC texts of one form sort as the times do.
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
