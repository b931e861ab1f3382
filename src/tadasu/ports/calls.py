"""Calls of outside services: what they may take, when it is their turn, and where they are written down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from tadasu.core.limits import Admission, Ration
from tadasu.core.usage import Call, Charge, Day, Priority, Stage, Used

if TYPE_CHECKING:
    pass


class Ledger(Protocol):
    """Where every call of a run is written down, failed ones too."""

    def record(self, call: Call) -> None:
        """Add one call."""
        ...

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began."""
        ...


@runtime_checkable
class Allowance(Protocol):
    """What a ledger may offer besides: the limits of its run, for parts that make several calls."""

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, not below 0; None without one."""
        ...

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        """Raise BudgetSpent where `what` does not fit any more; `under_way` calls have begun and are in no ledger."""
        ...


@runtime_checkable
class Standing(Protocol):
    """What a ledger may say of whose run it is: how urgent its calls are, and for which tenant."""

    @property
    def priority(self) -> Priority: ...  # noqa: D102 - said above
    @property
    def tenant(self) -> str: ...  # noqa: D102


@runtime_checkable
class Purse(Protocol):
    """What a ledger may offer besides: room for a call that is about to be made, held until its true cost is known."""

    def hold(self, charge: Charge) -> AbstractAsyncContextManager[Ledger]:
        """A ledger for the one call in the block. Its first line there takes the place of the estimate.

        Raises BudgetSpent where `charge` does not fit beside what is used and held, PriceUnknown where a limit of money
        needs a price and there is none.
        """
        ...


class DayBook(Protocol):
    """What a day's work takes, over all processes that share it. Blocking: callers move it off the event loop."""

    def enter(
        self, key: str, *, tenant: str, moment: datetime, day: Day, used: Used, allow: Callable[[Used, Used], None]
    ) -> None:
        """Write that the work `key`, begun at `moment`, takes `used`, what it holds included; replaces its last entry.

        Before that, ``allow(of all, of the tenant)`` is told what else was used on `day`; what it raises leaves the
        book as it was. The whole is one step: no other process can come in between.
        """
        ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Errand:
    """A call of an outside service that wants its turn.

    `provider` is whose limits count (``openai``, ``tavily``, a host), `what` names the call in errors. `tokens` and
    `usd` are estimates of what it will take. `tenant` shares fairly among those who wait.
    """

    provider: str
    stage: Stage
    what: str
    tokens: int = 0
    usd: float = 0.0
    priority: Priority = Priority.NORMAL
    tenant: str = ""


class Scheduler(Protocol):
    """The one way out: limits, order, retries and circuit breakers of every outside call (DESIGN §3.4)."""

    def turn(self, errand: Errand, *, ledger: Ledger) -> AbstractAsyncContextManager[None]:
        """One attempt: waits until `errand` may run, and gives its place back however the block ends.

        Raises BudgetSpent where the run's budget or deadline does not allow it, ProviderUnreachable while the
        provider's circuit is open.
        """
        ...

    async def call(self, errand: Errand, work: Callable[[int], Awaitable[T]], *, ledger: Ledger) -> T:
        """What ``work(attempt)`` gives (attempts count from 1), each attempt in a turn of its own.

        Tried again on ProviderUnreachable and ProviderLimited, after the wait that was asked for or a jittered one,
        while the deadline and the number of attempts allow; then the last error is raised.
        """
        ...


class LimitStore(Protocol):
    """Counts what is under way at each provider, for all who share it. Any thread and event loop may ask."""

    async def admit(self, provider: str, ration: Ration, *, tokens: int = 0, riding: bool = False) -> Admission:
        """A place within `ration`, or a wait; a call that is `riding` on another's place counts in the rates only."""
        ...

    async def give_back(self, provider: str, ticket: str) -> None:
        """The call of `ticket` has ended. Never raises; unknown tickets are ignored."""
        ...

    async def close_for(self, provider: str, seconds: float) -> None:
        """Admit nobody at `provider` for `seconds`; what was asked for longer stays."""
        ...
