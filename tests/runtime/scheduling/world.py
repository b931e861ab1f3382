"""Schedulers, ledgers and providers for the tests of scheduling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tadasu.core.limits import Ration
from tadasu.core.usage import Priority, Stage
from tadasu.errors import BudgetSpent, ProviderLimited
from tadasu.ports import Clock, Errand
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.happenings import Happening, Kind, ignore
from tadasu.runtime.scheduling.rules import Rations, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.world import FixedWorld
from tests.runtime.scheduling.virtual_time import LoopClock


class Heard(list[Happening]):
    """A listener that keeps what it heard."""

    def __call__(self, happening: Happening) -> None:
        self.append(happening)

    def of(self, kind: Kind) -> list[Happening]:
        return [one for one in self if one.kind is kind]


def scheduler(
    ration: Ration | None = None,
    rules: Rules | None = None,
    *,
    listen: Callable[[Happening], None] | None = None,
    seed: int = 1,
    clock: Clock | None = None,
    named: dict[str, Ration] | None = None,
) -> CallScheduler:
    clock = clock or LoopClock()
    return CallScheduler(
        rations=Rations(ration or Ration(), named or {}),
        store=LocalLimits(clock),
        clock=clock,
        chance=FixedWorld(seed=seed),
        rules=rules,
        listen=ignore if listen is None else listen,
    )


def errand(
    provider: str = "p", *, priority: Priority = Priority.NORMAL, tenant: str = "", tokens: int = 0, usd: float = 0.0
) -> Errand:
    return Errand(provider, Stage.GRADE, "a call", tokens=tokens, usd=usd, priority=priority, tenant=tenant)


def ledger() -> RunLedger:
    return RunLedger(LoopClock())


class Deadline(RunLedger):
    """A ledger with an allowance: so many seconds, so many calls."""

    def __init__(self, seconds: float | None = None, *, calls: int | None = None, usd: float | None = None) -> None:
        super().__init__(LoopClock())
        self._seconds = seconds
        self._most = calls
        self._dollars = usd
        self.asked: list[tuple[float, int]] = []

    @property
    def seconds_left(self) -> float | None:
        return None if self._seconds is None else max(0.0, self._seconds - self.elapsed_ms() / 1000.0)

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        self.asked.append((usd, under_way))
        if self.seconds_left == 0.0:
            raise BudgetSpent(what=f"no time for {what}")
        if self._most is not None and len(self.calls) + under_way >= self._most:
            raise BudgetSpent(what=f"no calls for {what}")
        if self._dollars is not None and usd > self._dollars:
            raise BudgetSpent(what=f"no money for {what}")


@dataclass
class Merciless:
    """A provider that serves `rate` calls in any second and refuses the others; what it refuses counts against you too."""

    rate: int = 10
    takes_s: float = 0.05
    retry_after_s: float | None = None
    served: int = 0
    refused: int = 0
    at: list[float] = field(default_factory=list)

    async def __call__(self, attempt: int) -> int:
        now = asyncio.get_running_loop().time()
        recent = sum(now - 1.0 < at for at in self.at)
        self.at.append(now)
        if recent >= self.rate:
            self.refused += 1
            raise ProviderLimited(provider="p", reason="HTTP 429", retry_after_s=self.retry_after_s)
        await asyncio.sleep(self.takes_s)
        self.served += 1
        return attempt


class InFlight:
    """Counts how many are inside at the same time."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.starts: list[float] = []

    async def work(self, seconds: float) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        self.starts.append(asyncio.get_running_loop().time())
        try:
            await asyncio.sleep(seconds)
        finally:
            self.now -= 1
