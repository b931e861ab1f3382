"""What was spent: the day's book that budgets look into, and sums over the ledgers of runs."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from sqlalchemy import ColumnElement, Engine, Table, and_, case, delete, func, insert, literal_column, select, true

from tadasu.core.usage import Day, Outcome, Used, day_of
from tadasu.storage.database import alone, translated
from tadasu.storage.tables import open_work, run_calls, run_facts


class SqlDayBook:
    """ports.DayBook in the state database: finished runs, and a row for each one that is under way.

    A row goes when its run is saved, in the same transaction. One that stays is of work that was broken off, by a
    kill or by the one who asked: what it took and held counts for its day, because it may have been billed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def enter(
        self, key: str, *, tenant: str, moment: datetime, day: Day, used: Used, allow: Callable[[Used, Used], None]
    ) -> None:
        """See `ports.DayBook`; raises StoreBusy where another process writes for longer than the engine waits."""
        row = {
            "id": key,
            "created_at": _text(moment),
            "tenant": tenant,
            "calls": used.calls,
            "tokens": used.tokens,
            "cost_usd": used.usd,
            "seconds": used.seconds,
        }
        with translated(self._engine), alone(self._engine) as connection:
            connection.execute(delete(open_work).where(open_work.c.id == key))
            finished = _sums(connection, run_facts, run_facts.c.duration_ms / 1000.0, day)
            under_way = _sums(connection, open_work, open_work.c.seconds, day)
            every = {name: finished.get(name, Used()) + under_way.get(name, Used()) for name in {*finished, *under_way}}
            allow(sum(every.values(), Used()), every.get(tenant, Used()))
            connection.execute(insert(open_work), row)


def _sums(connection: Any, table: Table, seconds: ColumnElement[Any], day: Day) -> Mapping[str, Used]:
    """What `table` says of `day`, by tenant."""
    sums = (func.sum(table.c.calls), func.sum(table.c.tokens), func.sum(table.c.cost_usd), func.sum(seconds))
    of_day = within(table.c.created_at, day.begins, day.ends)
    rows = connection.execute(select(table.c.tenant, *sums).where(of_day).group_by(table.c.tenant))
    return {tenant: Used(int(calls), int(tokens), float(usd), float(took)) for tenant, calls, tokens, usd, took in rows}


class By(enum.Enum):
    """What sums are taken over."""

    DAY = "day"
    MODEL = "model"
    STAGE = "stage"
    PROVIDER = "provider"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over calls: `name` is what they have in common, `runs` how many runs they belong to.

    `failed` and `retried` count calls, cancelled ones among the failed; `items` what was asked about, `cached` what of
    it a cache served. `usd` adds up the priced calls, `unpriced` counts those without a price.
    """

    name: str
    runs: int
    calls: int
    failed: int
    retried: int
    input_tokens: int
    output_tokens: int
    items: int
    cached: int
    duration_ms: float
    usd: float
    unpriced: int


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """Work of a period that ended without a run, its last estimates included."""

    count: int
    calls: int
    usd: float


class SqlSpending:
    """Sums over the ledgers of a period: of one tenant, or of all where `tenant` is None.

    Amounts and names of models only, nothing that anybody asked: groups do not narrow them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sums(
        self, by: By, *, tenant: str | None, begins: datetime | None, ends: datetime | None, zone: tzinfo = UTC
    ) -> Sequence[Sums]:
        """One row per `by` from `begins` up to `ends` (None: without end), days in order, others dearest first."""
        key = {
            By.DAY: func.substr(run_facts.c.created_at, literal_column("1"), _MINUTE),
            By.MODEL: run_calls.c.model,
            By.STAGE: run_calls.c.stage,
            By.PROVIDER: run_calls.c.provider,
            By.TENANT: run_facts.c.tenant,
        }[by]
        rows = self._rows(key, self._chosen(run_facts, tenant, begins, ends))
        if by is By.DAY:
            days = defaultdict(list)
            for row in rows:
                days[_date(row.name, zone)].append(row)
            return [_added(name, parts) for name, parts in sorted(days.items())]
        return sorted(rows, key=lambda row: (-row.usd, -row.unpriced, -row.calls, row.name))

    def total(self, *, tenant: str | None, begins: datetime | None, ends: datetime | None) -> Sums:
        """All calls of the period together; `name` is empty, and `runs` counts those without a call too."""
        chosen = self._chosen(run_facts, tenant, begins, ends)
        rows = self._rows(run_facts.c.tenant, chosen)
        with translated(self._engine), self._engine.connect() as connection:
            runs = connection.scalar(select(func.count()).select_from(run_facts).where(*chosen))
        return replace(_added("", rows), runs=runs or 0)

    def broken_off(self, *, tenant: str | None, begins: datetime | None, ends: datetime | None) -> BrokenOff:
        """What is in the day's book and in no run; runs that are under way at this moment are among it."""
        sums = (func.count(), func.sum(open_work.c.calls), func.sum(open_work.c.cost_usd))
        chosen = self._chosen(open_work, tenant, begins, ends)
        with translated(self._engine), self._engine.connect() as connection:
            count, calls, usd = connection.execute(select(*sums).where(*chosen)).one()
        return BrokenOff(count, calls or 0, usd or 0.0)

    def _rows(self, key: ColumnElement[Any], chosen: Sequence[ColumnElement[bool]]) -> list[Sums]:
        calls = run_calls.c
        query = (
            select(
                key,
                func.count(func.distinct(calls.run_id)),
                func.count(),
                _counted(calls.outcome != Outcome.OK.value),
                _counted(calls.attempt > 1),
                *(func.sum(calls[name]) for name in ("input_tokens", "output_tokens", "items", "cached")),
                func.sum(calls.duration_ms),
                func.coalesce(func.sum(calls.cost_usd), 0.0),
                _counted(calls.cost_usd.is_(None)),
            )
            .join(run_facts, run_facts.c.run_id == calls.run_id)
            .where(*chosen)
            .group_by(key)
        )
        with translated(self._engine), self._engine.connect() as connection:
            return [Sums(*row) for row in connection.execute(query)]

    @staticmethod
    def _chosen(
        table: Table, tenant: str | None, begins: datetime | None, ends: datetime | None
    ) -> list[ColumnElement[bool]]:
        of_tenant = [] if tenant is None else [table.c.tenant == tenant]
        return [*of_tenant, within(table.c.created_at, begins, ends)]


# Literals, because PostgreSQL does not see that two parameters of a grouping are the same.
_MINUTE: Final[ColumnElement[int]] = literal_column(str(len("2026-01-01T00:00")))


def _counted(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def within(column: ColumnElement[str], begins: datetime | None, ends: datetime | None) -> ColumnElement[bool]:
    """Whether the times in `column` lie from `begins` on and before `ends`; None: without end."""
    # Times are kept as UTC texts of one form, which sort as the times do.
    after = [] if begins is None else [column >= _text(begins)]
    before = [] if ends is None else [column < _text(ends)]
    return and_(true(), *after, *before)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _date(minute: str, zone: tzinfo) -> str:
    moment = datetime.fromisoformat(minute)
    return day_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC), zone).date


def _added(name: str, parts: Sequence[Sums]) -> Sums:
    fields = [field for field in Sums.__slots__ if field != "name"]
    return Sums(name, **{field: sum(getattr(part, field) for part in parts) for field in fields})
