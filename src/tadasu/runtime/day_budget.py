"""Limits of a day, for one tenant and for all, over every process that shares the book."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from tadasu.core.usage import DOLLARS, Charge, Day, Money, Used, day_of
from tadasu.errors import BudgetSpent, DayBudgetSpent, StoreError
from tadasu.ports import DayBook

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DayLimits:
    """What all work of a day may use together; None means no limit. As `Limits`, seconds are those that runs took."""

    seconds: float | None = None
    calls: int | None = None
    usd: float | None = None
    tokens: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in (self.seconds, self.calls, self.usd, self.tokens))


@dataclass(frozen=True, slots=True)
class DayRules:
    """The limits of every day: for all tenants together, and for each. Days are those of `zone`."""

    book: DayBook
    overall: DayLimits = DayLimits()
    per_tenant: DayLimits = DayLimits()
    zone: tzinfo = UTC
    money: Money = DOLLARS

    def of_run(self, key: str, *, tenant: str, moment: datetime) -> DayBudget:
        """The share of the run that will be saved as `key`, and was begun at `moment`."""
        return DayBudget(
            self.book,
            key=key,
            tenant=tenant,
            moment=moment,
            day=day_of(moment, self.zone),
            overall=self.overall,
            per_tenant=self.per_tenant,
            money=self.money,
        )


class DayBudget:
    """One run's share in the limits of its day: all that it takes is in the book before it is spent.

    Money and tokens are exact over all processes: every call that costs some is entered with its estimate, in one step
    with the look at the limit, so the day goes over by no more than estimates are wrong. Lines and seconds of work on
    this machine are entered with the next such call and at the end of the run: there, the runs that are under way may
    each go over by what one run may use.
    """

    def __init__(
        self,
        book: DayBook,
        *,
        key: str,
        tenant: str,
        moment: datetime,
        day: Day,
        overall: DayLimits,
        per_tenant: DayLimits,
        money: Money = DOLLARS,
    ) -> None:
        self._book = book
        self._key = key
        self._tenant = tenant
        self._moment = moment
        self._day = day
        self._limits = {"budget.day_": overall, "budget.tenant_day_": per_tenant}
        self._money = money

    async def take(self, charge: Charge, *, used: Used) -> None:
        """Enter `used`, what the run takes and holds, `charge` included; raises DayBudgetSpent if it does not fit.

        Where the book cannot be written, nobody knows what is left of the day: BudgetSpent says so.
        """
        if not any(limits.any for limits in self._limits.values()):
            return
        try:
            await asyncio.to_thread(self._enter, charge, used)
        except StoreError as problem:
            raise BudgetSpent(what=f"what is left of the day cannot be looked up: {problem}") from problem

    def keep(self, used: Used) -> None:
        """Enter `used` whatever the limits are: it was spent. Never raises for a book that cannot be written."""
        try:
            self._book.enter(
                self._key, tenant=self._tenant, moment=self._moment, day=self._day, used=used, allow=_whatever
            )
        except StoreError as problem:
            _log.warning("What %s took cannot be kept in the book of the day: %s", self._key, problem)

    def _enter(self, charge: Charge, used: Used) -> None:
        def allow(of_all: Used, of_tenant: Used) -> None:
            for (prefix, limits), others in zip(self._limits.items(), (of_all, of_tenant), strict=True):
                self._judge(prefix, limits, charge, others + used)

        self._book.enter(self._key, tenant=self._tenant, moment=self._moment, day=self._day, used=used, allow=allow)

    def _judge(self, prefix: str, limits: DayLimits, charge: Charge, used: Used) -> None:
        """`used` is all of the day, this run and what it holds included."""
        if limits.seconds is not None and used.seconds >= limits.seconds:
            self._refuse(charge, f"{prefix}seconds", f"{limits.seconds:g} s", f"{used.seconds:.1f} s", "0 s")
        if limits.calls is not None and used.calls > limits.calls:
            self._refuse(charge, f"{prefix}calls", f"{limits.calls:,}", f"{used.calls - 1:,}", "1")
        # Work that costs nothing goes on when the money is gone.
        if limits.tokens is not None and charge.tokens and used.tokens > limits.tokens:
            before = f"{used.tokens - charge.tokens:,}"
            self._refuse(charge, f"{prefix}tokens", f"{limits.tokens:,}", before, f"{charge.tokens:,}")
        if limits.usd is not None and charge.usd and used.usd > limits.usd:
            shown = self._money.shown
            spent, needed = shown(max(0.0, used.usd - charge.usd)), shown(charge.usd)
            self._refuse(charge, f"{prefix}money", shown(limits.usd), spent, needed)

    def _refuse(self, charge: Charge, setting: str, limit: str, used: str, needed: str) -> None:
        raise DayBudgetSpent(
            what=charge.what, setting=setting, limit=limit, used=used, needed=needed, ends=self._day.ends_here
        )


def _whatever(_all: Used, _own: Used) -> None:
    """Allows everything."""
