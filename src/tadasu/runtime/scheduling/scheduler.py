"""The one way out: every outside call waits for its turn here, is tried again here, and stops here (DESIGN §3.4)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeVar

from tadasu.errors import BudgetSpent, ProviderLimited, ProviderUnreachable
from tadasu.ports import Allowance, Chance, Clock, Errand, Ledger, LimitStore
from tadasu.runtime.scheduling.breaker import Circuit
from tadasu.runtime.scheduling.happenings import Kind, Listener, ignore
from tadasu.runtime.scheduling.lane import Lane
from tadasu.runtime.scheduling.office import Office
from tadasu.runtime.scheduling.rules import Rations, RetryRules, Rules, asked_wait_s, worth_another_attempt
from tadasu.runtime.scheduling.store import MANY
from tadasu.runtime.scheduling.turn import Turn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sight:
    """A provider as it is now: calls that wait and calls in flight in this process, its circuit, its pace in (0, 1]."""

    provider: str
    waiting: int
    in_flight: int
    circuit: Circuit
    pace: float


class CallScheduler:
    """ports.Scheduler. One object serves all threads and event loops of a process.

    - A call waits in its provider's line (`line.WaitingLine`) until the store of limits has a place for it. A store
      that is shared between processes makes the limits hold over all of them; lines are each process's own.
    - A provider that says "too many" closes its line for as long as it asked (or a jittered while), and all who call it
      go slower (`pace.Pace`), not only the one that was refused.
    - A provider that fails again and again is left alone (`breaker.Breaker`): calls fail at once.
    - A call that is made within a turn of the same provider rides on that turn's place: one at a time, and the rates
      count it. Where turns of two providers wait for each other, one of them is let through.
    - However a turn ends, cancelled at any point too, its place is given back.

    Args:
        rations: whose limits are which.
        store: counts what is under way.
        clock: measures waits; it must run as fast as the event loops' own clock.
        chance: draws jitter.
        rules: retries, circuit breakers, ageing.
        listen: told of every event, for telemetry; see `happenings`.
    """

    def __init__(
        self,
        *,
        rations: Rations,
        store: LimitStore,
        clock: Clock,
        chance: Chance,
        rules: Rules | None = None,
        listen: Listener = ignore,
    ) -> None:
        self._rations = rations
        self._office = Office(store, clock, chance, rules or Rules(), listen)
        self._lanes: dict[str, Lane] = {}
        self._lock = threading.Lock()

    def turn(self, errand: Errand, *, ledger: Ledger) -> AbstractAsyncContextManager[None]:
        """One attempt: waits until `errand` may run, and gives its place back however the block ends.

        Raises:
            BudgetSpent: the run's limits do not allow it, or its deadline would pass while it waits.
            ProviderUnreachable: the provider's circuit is open; ``details["retry_after_s"]`` says for how long.
            ProviderLimited: the provider asked for no calls for longer than is waited for.
        """
        return self.attempt(errand, 1, ledger=ledger, since=self._office.clock.elapsed())

    async def call(
        self,
        errand: Errand,
        work: Callable[[int], Awaitable[T]],
        *,
        ledger: Ledger,
        retry: RetryRules | None = None,
    ) -> T:
        """What ``work(attempt)`` gives; see `ports.Scheduler`. Work that outlasts the run's deadline is broken off.

        `retry` takes the place of the scheduler's own rules.
        """
        since = self._office.clock.elapsed()
        attempt = 1
        while True:
            try:
                async with self.attempt(errand, attempt, ledger=ledger, since=since, retry=retry):
                    return await _in_time(errand, work, attempt, ledger)
            except (ProviderUnreachable, ProviderLimited) as error:
                await self.recover(errand, error, attempt=attempt, ledger=ledger, retry=retry)
            attempt += 1

    def attempt(
        self, errand: Errand, attempt: int, *, ledger: Ledger, since: float, retry: RetryRules | None = None
    ) -> Turn:
        """As `turn`, for callers that make their own attempts; `since` is when the first one asked (see `now`)."""
        office, lane = self._office, self._lane(errand.provider)
        patience_s = (retry or office.rules.retry).longest_wait_s
        return Turn(lane, errand, ledger=ledger, office=office, since=since, attempt=attempt, patience_s=patience_s)

    async def recover(
        self,
        errand: Errand,
        error: ProviderUnreachable | ProviderLimited,
        *,
        attempt: int,
        ledger: Ledger,
        retry: RetryRules | None = None,
    ) -> None:
        """Wait before the attempt that follows `attempt`; raises `error` where none follows."""
        office, rules = self._office, retry or self._office.rules.retry
        if attempt >= rules.attempts or not worth_another_attempt(error):
            raise error
        asked = asked_wait_s(error) or 0.0
        wait = asked + rules.backoff_s(attempt, office.chance.uniform())
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        if asked > rules.longest_wait_s or (left is not None and wait >= left):
            raise error
        office.tell(Kind.RETRIED, errand, attempt=attempt + 1, seconds=wait, reason=error.code)
        await asyncio.sleep(wait)

    async def close(self) -> None:
        """Give back what the store of limits holds open for this event loop."""
        close = getattr(self._office.store, "close", None)
        if close is not None:
            await close()

    def now(self) -> float:
        """Seconds on the scheduler's clock."""
        return self._office.clock.elapsed()

    def look(self) -> tuple[Sight, ...]:
        """Every provider that was called so far, by name."""
        with self._lock:
            lanes = sorted(self._lanes.items())
        return tuple(self._sight(lane) for _, lane in lanes)

    def _sight(self, lane: Lane) -> Sight:
        with lane.lock:
            inside = sum(place.mount is None for place in lane.places)
            return Sight(
                lane.provider,
                len(lane.line),
                inside,
                lane.breaker.circuit,
                lane.pace.share(self._office.clock.elapsed()),
            )

    def _lane(self, provider: str) -> Lane:
        with self._lock:
            lane = self._lanes.get(provider)
            if lane is None:
                if len(self._lanes) >= MANY:
                    # Hosts of web pages are providers too, and there is no end of them.
                    now = self._office.clock.elapsed()
                    self._lanes = {name: one for name, one in self._lanes.items() if not one.idle(now)}
                lane = self._lanes[provider] = Lane(provider, self._rations.of(provider), self._office.rules)
            return lane


async def _in_time(errand: Errand, work: Callable[[int], Awaitable[T]], attempt: int, ledger: Ledger) -> T:
    limit = asyncio.timeout(ledger.seconds_left if isinstance(ledger, Allowance) else None)
    try:
        async with limit:
            return await work(attempt)
    except TimeoutError as error:
        if limit.expired():
            raise BudgetSpent(what=f"the time was over before {errand.what} had ended") from error
        raise
