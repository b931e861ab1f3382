"""Where runs are kept, and who may read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy import ColumnElement, Engine, and_, delete, exists, func, insert, not_, select
from sqlalchemy.exc import IntegrityError

from tadasu.core.documents import Reader
from tadasu.core.jobs import correction_job
from tadasu.core.runs import Deferral, Run, SearchMode
from tadasu.core.usage import used_by
from tadasu.errors import InputInvalid, RunCorrected, RunNotFound
from tadasu.storage.database import open_database, translated
from tadasu.storage.jobs import leave
from tadasu.storage.tables import open_work, run_access, run_calls, run_corrections, run_facts, runs

LAST = "last"


class SqlRunBook:
    """ports.RunBook over the state database.

    Who may read a run: members of its tenant who are in every group that the asker was in. Whatever the asker could
    see, such a reader can see too, because groups only ever add documents; so no candidate, strip or count of the run
    is news to the reader. It may hide a run whose documents a smaller circle could have seen, never the other way.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, place: Path | str, *, busy_seconds: float = 5.0) -> SqlRunBook:
        """The run book in the database at `place`; see `open_database` for what it raises."""
        return cls(open_database(place, busy_seconds=busy_seconds))

    def close(self) -> None:
        """Give back the connections."""
        self._engine.dispose()

    def save(self, run: Run) -> None:
        """Commit `run`, together with the job that goes on with it, and with its taking the place of another run.

        Raises ValueError where a run of that id is there already (a run never changes), RunCorrected where the run that
        it corrects is corrected.
        """
        calls = _call_rows(run)
        access = [{"run_id": run.id, "group_name": name} for name in sorted(run.reader.groups)]
        row = _run_row(run)
        with translated(self._engine):
            try:
                with self._engine.begin() as connection:
                    connection.execute(_INSERT_RUN, row)
                    if calls:
                        connection.execute(_INSERT_CALLS, calls)
                    if access:
                        connection.execute(_INSERT_ACCESS, access)
                    connection.execute(_INSERT_FACTS, facts_row(run))
                    # From here on the run itself tells what it took.
                    connection.execute(delete(open_work).where(open_work.c.id == run.id))
                    if run.deferred is Deferral.PENDING:
                        leave(connection, correction_job(run.id, reader=run.reader, created_at=run.created_at))
                    if run.corrects:
                        pair = {"run_id": run.corrects, "corrected_by": run.id}
                        connection.execute(insert(run_corrections), pair)
            except IntegrityError as error:
                if run.corrects and (by := self.correction_of(run.corrects)) not in {"", run.id}:
                    raise RunCorrected(run=run.corrects, by=by) from error
                raise ValueError(f"there is a run {run.id} already") from error

    def load(self, run_id: str, *, reader: Reader) -> Run:
        """The run of that id, of the only id that starts so, or with ``last`` the latest.

        Raises RunNotFound, and InputInvalid where several ids start so.
        """
        visible = select(runs.c.record).where(may_read(reader))
        with translated(self._engine), self._engine.connect() as connection:
            if run_id == LAST:
                records = connection.scalars(_newest_first(visible).limit(1)).all()
            else:
                records = connection.scalars(visible.where(runs.c.id == run_id)).all()
                if not records and run_id:
                    start = func.substr(runs.c.id, 1, len(run_id))
                    records = connection.scalars(visible.where(start == run_id).limit(2)).all()
        if not records:
            raise RunNotFound(run=run_id)
        if len(records) > 1:
            raise InputInvalid(
                where=f"run {run_id}", reason="several runs start so", fix="Write more of the id, or all of it."
            )
        return read_run(records[0])

    def correction_of(self, run_id: str) -> str:
        """See `ports.Corrections`."""
        query = select(run_corrections.c.corrected_by).where(run_corrections.c.run_id == run_id)
        with translated(self._engine), self._engine.connect() as connection:
            return connection.scalar(query) or ""

    def latest(self, *, limit: int, reader: Reader) -> Sequence[Run]:
        """The newest `limit` runs that `reader` may read, newest first."""
        if limit <= 0:
            return []
        visible = select(runs.c.record).where(may_read(reader))
        with translated(self._engine), self._engine.connect() as connection:
            records = connection.scalars(_newest_first(visible).limit(limit)).all()
        return [read_run(record) for record in records]


_INSERT_RUN = insert(runs)
_INSERT_CALLS = insert(run_calls)
_INSERT_ACCESS = insert(run_access)
_INSERT_FACTS = insert(run_facts)


def _newest_first(query: Any) -> Any:
    return query.order_by(runs.c.created_at.desc(), runs.c.sequence.desc())


def may_read(reader: Reader) -> ColumnElement[bool]:
    """The condition on `runs` that a reader's queries carry; see `SqlRunBook` for why it is safe."""
    beyond = exists().where(
        and_(run_access.c.run_id == runs.c.id, run_access.c.group_name.not_in(sorted(reader.groups)))
    )
    return and_(runs.c.tenant == reader.tenant, not_(beyond))


@cache
def _adapter() -> TypeAdapter[Run]:
    return TypeAdapter(Run)


def write_run(run: Run) -> str:
    """`run` as JSON, whole: infinite numbers too, which a type adapter would write as null."""
    return to_json(run, inf_nan_mode="constants", fallback=dict).decode("utf-8")


def read_run(record: str) -> Run:
    """The run that `write_run` wrote, equal to it."""
    return _adapter().validate_json(record)


def _run_row(run: Run) -> dict[str, object]:
    cost = run.cost
    return {
        "id": run.id,
        "created_at": run.created_at,
        "tenant": run.reader.tenant,
        "session": run.session,
        "status": run.answer.status.value,
        "reason": "" if run.answer.reason is None else run.answer.reason.value,
        "verdict": run.verdict.value,
        "language": run.language,
        "duration_ms": run.duration_ms,
        "cost_usd": cost.usd,
        "unpriced_calls": cost.unpriced_calls,
        "record": write_run(run),
    }


def facts_row(run: Run) -> dict[str, object]:
    """What `run` is counted and grouped by, for `run_facts`."""
    used = used_by(run.calls)
    return {
        "run_id": run.id,
        "created_at": run.created_at,
        "tenant": run.reader.tenant,
        "query": run.query,
        "language": run.language,
        "status": run.answer.status.value,
        "reason": "" if run.answer.reason is None else run.answer.reason.value,
        "rounds": len(run.rounds),
        "web": any(one.mode is SearchMode.WEB for one in run.rounds),
        "stop_reason": run.stop.value,
        "calls": used.calls,
        "tokens": used.tokens,
        "cost_usd": used.usd,
        "duration_ms": run.duration_ms,
    }


def _call_rows(run: Run) -> list[dict[str, object]]:
    return [
        {
            "run_id": run.id,
            "position": position,
            "stage": call.stage.value,
            "provider": call.provider,
            "model": call.model,
            "started_ms": call.started_ms,
            "duration_ms": call.duration_ms,
            "input_tokens": call.tokens.input,
            "output_tokens": call.tokens.output,
            "pricing": call.pricing.value,
            "cost_usd": call.cost_usd,
            "outcome": call.outcome.value,
            "attempt": call.attempt,
            "items": call.items,
            "error": call.error,
            "cached": call.cached,
        }
        for position, call in enumerate(run.calls)
    ]
