"""Limits of one run and of its day, checked before the spend (DESIGN §3.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tadasu.core.usage import DOLLARS, Call, Charge, Money, Priority, Used, used_by
from tadasu.errors import BudgetSpent, PriceUnknown, RunBudgetSpent, TadasuError
from tadasu.ports import Ledger, Purse
from tadasu.runtime.day_budget import DayBudget
from tadasu.runtime.ledger import RunLedger


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use: seconds, ledger lines, US dollars, tokens in and out. None means no limit.

    `prices_needed`: where money is limited, here or for the day, a call without a known price is refused; otherwise it
    goes on, is said to be unpriced, and no limit of money counts it.
    """

    seconds: float | None = 60.0
    calls: int | None = 100
    usd: float | None = None
    tokens: int | None = None
    prices_needed: bool = False
    money: Money = DOLLARS


class Budget:
    """Says no before a call that would go over. It can be handed on as the run's ledger, which writes into that.

    A call that costs something is made within `hold`: its estimate counts as used until its line is written. Where
    several calls are made at once, no more of them begin than fit together. Without `hold`, `check` only looks.
    """

    def __init__(
        self,
        limits: Limits,
        ledger: RunLedger,
        *,
        day: DayBudget | None = None,
        priority: Priority = Priority.NORMAL,
        tenant: str = "",
    ) -> None:
        """`priority` and `tenant` are those of the run: its calls wait in line accordingly, see `ports.Standing`."""
        self._limits = limits
        self._priority = priority
        self._tenant = tenant
        self._ledger = ledger
        self._day = day
        self._held: dict[int, Charge] = {}
        self._holds = 0
        self._unknown = Used()
        self._closed: BudgetSpent | None = None
        self.refusals: list[TadasuError] = []
        """What was refused, the first of each kind and limit, for the run's warnings."""

    @property
    def priority(self) -> Priority:
        """How urgent the run's calls are."""
        return self._priority

    @property
    def tenant(self) -> str:
        """Whom the run is for."""
        return self._tenant

    def record(self, call: Call) -> None:
        """Add one call to the run's ledger."""
        self._ledger.record(call)

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began."""
        return self._ledger.elapsed_ms()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, not below 0; None without one."""
        if self._limits.seconds is None:
            return None
        return max(0.0, self._limits.seconds - self._ledger.elapsed_ms() / 1000.0)

    @property
    def used(self) -> Used:
        """What the run has taken so far; what is held is not in it.

        A call whose price is known and whose tokens are not, because its reply was cut off, counts with its estimate.
        """
        return self._unknown + used_by(self._ledger.calls, seconds=self._ledger.elapsed_ms() / 1000.0)

    @property
    def held(self) -> Used:
        """The estimates of the calls that are under way."""
        charges = self._held.values()
        return Used(len(charges), sum(one.tokens for one in charges), sum(one.usd or 0.0 for one in charges))

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        """Raise BudgetSpent where `what`, at an estimated cost of `usd`, does not fit any more.

        `under_way` is how many calls have begun and are not in the ledger yet; those that are held are counted anyway.
        """
        try:
            self._check(Charge(what, usd=usd), under_way=under_way)
        except BudgetSpent as refusal:
            self._remember(refusal)
            raise

    def _check(self, charge: Charge, *, under_way: int = 0) -> None:
        if self._closed is not None:
            raise self._closed
        limits, used, held = self._limits, self.used, self.held
        if limits.seconds is not None and used.seconds >= limits.seconds:
            raise self._spent(charge, "seconds", f"{limits.seconds:g} s", f"{used.seconds:.1f} s", "0 s")
        begun = used.calls + max(under_way, held.calls)
        if limits.calls is not None and begun + 1 > limits.calls:
            raise self._spent(charge, "calls", str(limits.calls), str(begun), "1")
        tokens = used.tokens + held.tokens
        if limits.tokens is not None and charge.tokens and tokens + charge.tokens > limits.tokens:
            raise self._spent(charge, "tokens", f"{limits.tokens:,}", f"{tokens:,}", f"{charge.tokens:,}")
        usd = used.usd + held.usd
        if limits.usd is not None and usd + (charge.usd or 0.0) > limits.usd:
            shown = limits.money.shown
            raise self._spent(charge, "money", shown(limits.usd), shown(usd), shown(charge.usd or 0.0))

    def _spent(self, charge: Charge, name: str, limit: str, used: str, needed: str) -> BudgetSpent:
        return RunBudgetSpent(what=charge.what, setting=f"budget.{name}", limit=limit, used=used, needed=needed)

    @asynccontextmanager
    async def hold(self, charge: Charge) -> AsyncIterator[Ledger]:
        """See `ports.Purse`."""
        self._holds += 1
        number = self._holds
        try:
            if charge.usd is None and self._limits.prices_needed:
                raise PriceUnknown(provider=charge.provider, model=charge.model or charge.what)
            self._check(charge)
            self._held[number] = charge
            if self._day is not None:
                await self._day.take(charge, used=self.used + self.held)
        except TadasuError as refusal:
            self._held.pop(number, None)
            self._remember(refusal)
            raise
        try:
            yield _Held(self, number)
        finally:
            self._held.pop(number, None)

    async def begin(self) -> None:
        """Look whether the day's limits allow another run at all: where not, every `check` and `hold` says so."""
        if self._day is None:
            return
        try:
            await self._day.take(Charge("another question"), used=self.used + Used(calls=1))
        except BudgetSpent as refusal:
            self._closed = refusal

    def break_off(self) -> None:
        """The run ends without a record: let the day's book keep what it took. Blocking, a few milliseconds."""
        if self._day is not None and self._ledger.calls:
            self._day.keep(self.used + self.held)

    def settle(self, number: int, call: Call) -> None:
        """Write `call` in place of what is held under that number."""
        held = self._held.pop(number, None)
        if held is not None and held.usd and call.cost_usd is None:
            self._unknown += Used(0, held.tokens, held.usd)
        self.record(call)

    def _remember(self, refusal: TadasuError) -> None:
        def kind(one: TadasuError) -> tuple[str, object]:
            return one.code, one.details.get("setting", one.details.get("model"))

        if kind(refusal) not in map(kind, self.refusals):
            self.refusals.append(refusal)


class _Held:
    """The ledger of one call that is held: its first line takes the place of the estimate."""

    def __init__(self, budget: Budget, number: int) -> None:
        self._budget = budget
        self._number = number
        self.priority = budget.priority
        self.tenant = budget.tenant

    def record(self, call: Call) -> None:
        self._budget.settle(self._number, call)

    def elapsed_ms(self) -> float:
        return self._budget.elapsed_ms()

    @property
    def seconds_left(self) -> float | None:
        return self._budget.seconds_left

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        self._budget.check(what, usd=usd, under_way=under_way)


@asynccontextmanager
async def spending(ledger: Ledger, charge: Charge) -> AsyncIterator[Ledger]:
    """The ledger for one call that costs something, made in the block; see `ports.Purse` for what it raises.

    A ledger without limits is given as it is.
    """
    if isinstance(ledger, Purse):
        async with ledger.hold(charge) as held:
            yield held
    else:
        yield ledger
