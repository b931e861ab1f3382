"""What a period cost: its calls by day, model, stage, provider or tenant, and what was broken off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

from tadasu.app.prices import money_of
from tadasu.app.time_zones import zone_of
from tadasu.core.usage import Money
from tadasu.storage.spending import BrokenOff, By, SqlSpending, Sums

if TYPE_CHECKING:
    from tadasu.app.container import Container

__all__ = ["DAYS", "BrokenOff", "By", "Period", "Spending", "Sums", "period_of", "spending"]

DAYS = 30
"""Days that figures cover where nothing is said."""


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of a time zone, both named days included; `begins` and `ends` are UTC times, the end not included."""

    since: str
    until: str
    zone: str
    begins: datetime
    ends: datetime

    @property
    def days(self) -> int:
        """How many days it is long."""
        return (date.fromisoformat(self.until) - date.fromisoformat(self.since)).days + 1


@dataclass(frozen=True, slots=True)
class Spending:
    """The sums of a period by `by`, all of them together, and what is in no run. Amounts in US dollars; see `money`."""

    period: Period
    by: By
    rows: Sequence[Sums]
    total: Sums
    broken_off: BrokenOff
    money: Money


def period_of(now: datetime, zone: tzinfo, *, since: str = "", until: str = "", days: int = DAYS) -> Period:
    """The days from `since` to `until` (ISO dates, which must be ones); else the last `days`, today included.

    >>> period = period_of(datetime(2026, 3, 10, 12, tzinfo=UTC), UTC, until="2026-03-09", days=7)
    >>> period.since, period.until, period.days
    ('2026-03-03', '2026-03-09', 7)
    """
    last = date.fromisoformat(until) if until else now.astimezone(zone).date()
    first = date.fromisoformat(since) if since else last - timedelta(days=days - 1)
    first = min(first, last)
    return Period(
        since=first.isoformat(),
        until=last.isoformat(),
        zone=str(zone),
        begins=datetime.combine(first, time(), zone).astimezone(UTC),
        ends=datetime.combine(last + timedelta(days=1), time(), zone).astimezone(UTC),
    )


def spending(container: Container, *, by: By = By.DAY, since: str = "", until: str = "") -> Spending:
    """What the runs of the configured tenant took; of all tenants where they are what is asked for.

    Amounts only: groups do not narrow them, because the tenant pays for all of them.
    """
    zone = zone_of(container.settings.budget.time_zone)
    period = period_of(container.clock.now(), zone, since=since, until=until)
    book = SqlSpending(container.state)
    tenant = None if by is By.TENANT else container.reader.tenant
    begins, ends = period.begins, period.ends
    return Spending(
        period=period,
        by=by,
        rows=book.sums(by, tenant=tenant, begins=begins, ends=ends, zone=zone),
        total=book.total(tenant=tenant, begins=begins, ends=ends),
        broken_off=book.broken_off(tenant=tenant, begins=begins, ends=ends),
        money=money_of(container.settings),
    )
