"""Work that may cost something and leaves no run: a search, a calibration, labelling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from tadasu.app.budgets import day_rules_of, limits_of
from tadasu.core.usage import Day, Pricing, Used
from tadasu.runtime.budget import Budget
from tadasu.runtime.ledger import RunLedger

if TYPE_CHECKING:
    from tadasu.app.container import Container


@asynccontextmanager
async def unrecorded(container: Container, kind: str) -> AsyncIterator[Budget]:
    """The budget of such a piece of work, called `kind`: the money and tokens of a run, and what is left of the day.

    What it cost is kept in the day's book, so that the day's limits and `tadasu cost` know of it. Work that cost
    nothing leaves no trace.
    """
    moment, tenant = container.clock.now(), container.reader.tenant
    rules = day_rules_of(container.settings, _DayBook(container))
    day = rules.of_run(container.ids.new(kind), tenant=tenant, moment=moment)
    ledger = RunLedger(container.clock)
    limits = replace(limits_of(container.settings), seconds=None, calls=None)
    budget = Budget(limits, ledger, day=day, tenant=tenant)
    try:
        yield budget
    finally:
        if any(call.pricing is not Pricing.LOCAL for call in ledger.calls):
            budget.break_off()


class _DayBook:
    """The book in the state database, which is opened only where something is to be written."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def enter(
        self, key: str, *, tenant: str, moment: datetime, day: Day, used: Used, allow: Callable[[Used, Used], None]
    ) -> None:
        """See `ports.DayBook`."""
        from tadasu.storage.spending import SqlDayBook

        book = SqlDayBook(self._container.state)
        book.enter(key, tenant=tenant, moment=moment, day=day, used=used, allow=allow)
