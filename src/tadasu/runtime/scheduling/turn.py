"""One attempt of one call: it waits for its place, holds it while the call is made, and gives it back."""

from __future__ import annotations

import asyncio
import math
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from types import TracebackType

from tadasu.core.limits import Admission
from tadasu.errors import (
    BudgetSpent,
    ProviderAnswerInvalid,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    TadasuError,
)
from tadasu.ports import Allowance, Errand, Ledger
from tadasu.runtime.scheduling.breaker import Circuit, Health
from tadasu.runtime.scheduling.happenings import Kind
from tadasu.runtime.scheduling.lane import Lane, Place, Waiter
from tadasu.runtime.scheduling.office import Office
from tadasu.runtime.scheduling.rules import asked_wait_s

_TURNS: ContextVar[tuple[Place, ...]] = ContextVar("tadasu_turns", default=())
"""The turns that the running code stands in, outermost first."""

_ALIVE = (ProviderLimited, ProviderRefused, ProviderAnswerInvalid)


class Turn(AbstractAsyncContextManager[None]):
    """See `ports.Scheduler.turn`. Entered once."""

    __slots__ = (
        "_attempt",
        "_began",
        "_errand",
        "_lane",
        "_ledger",
        "_office",
        "_outer",
        "_patience_s",
        "_place",
        "_since",
    )

    def __init__(
        self,
        lane: Lane,
        errand: Errand,
        *,
        ledger: Ledger,
        office: Office,
        since: float,
        attempt: int = 1,
        patience_s: float = 60.0,
    ) -> None:
        self._lane = lane
        self._errand = errand
        self._ledger = ledger
        self._office = office
        self._since = since
        self._attempt = attempt
        self._patience_s = patience_s
        self._outer: tuple[Place, ...] = ()
        self._place: Place | None = None
        self._began = 0.0

    async def __aenter__(self) -> None:
        self._outer = tuple(place for place in _TURNS.get() if place.open)
        came = self._office.clock.elapsed()
        for place in self._outer:
            place.lane.block(place)
        try:
            if isinstance(self._ledger, Allowance):
                self._ledger.check(self._errand.what, usd=self._errand.usd)
            self._place = await self._placed()
        except BaseException as error:
            for place in self._outer:
                place.told = error
            self._office.tell(Kind.REFUSED, self._errand, attempt=self._attempt, reason=_code(error))
            raise
        finally:
            for place in self._outer:
                place.lane.unblock(place)
        _TURNS.set((*self._outer, self._place))
        self._began = self._office.clock.elapsed()
        self._office.tell(Kind.STARTED, self._errand, attempt=self._attempt, seconds=self._began - came)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        place = self._place
        assert place is not None
        now = self._office.clock.elapsed()
        _TURNS.set(tuple(outer for outer in _TURNS.get() if outer is not place))
        self._office.under_way.remove(self._ledger, self._errand.usd)
        reason = "" if error is None else _code(error)
        self._office.tell(Kind.ENDED, self._errand, attempt=self._attempt, seconds=now - self._began, reason=reason)
        try:
            await self._learn(place, error, now)
        finally:
            await self._leave(place)

    def answers(self) -> None:
        """The provider has begun to answer: where this call tries whether its circuit may be closed, it may."""
        place = self._place
        if place is not None and place.trying:
            changed = self._lane.ended(place, Health.WELL, self._office.clock.elapsed())
            place.trying = False
            self._tell_circuit(changed)

    def _tell_circuit(self, changed: Circuit | None) -> None:
        if changed is not None:
            kind = Kind.CIRCUIT_OPENED if changed is Circuit.OPEN else Kind.CIRCUIT_CLOSED
            self._office.tell(kind, self._errand)

    async def _learn(self, place: Place, error: BaseException | None, now: float) -> None:
        """What the end of the call says about the provider, for all who call it."""
        foreign = error is not None and error is place.told
        for outer in self._outer:
            outer.told = error if outer.lane is not self._lane or foreign else outer.told
        health = Health.UNKNOWN if foreign else _health(error)
        if health is Health.FAULT and isinstance(error, TadasuError):
            with self._lane.lock:
                self._lane.last_fault = str(error.details.get("reason") or error)
        if place.mount is None:
            self._tell_circuit(self._lane.ended(place, health, now))
        asked = None if foreign else asked_wait_s(error)
        if isinstance(error, ProviderLimited) and not foreign:
            asked = self._slower(asked, now)
        elif health is Health.WELL:
            with self._lane.lock:
                self._lane.pace.faster()
        if asked:
            await self._office.store.close_for(self._lane.provider, asked)

    def _slower(self, asked: float | None, now: float) -> float | None:
        """The provider limits calls: how long nobody shall call it."""
        office = self._office
        with self._lane.lock:
            news = self._lane.pace.slower(now)
            events = self._lane.pace.events
        if news and asked is None:
            asked = office.rules.retry.backoff_s(events, 0.5 + 0.5 * office.chance.uniform())
        if news:
            office.tell(Kind.SLOWED, self._errand, attempt=self._attempt, seconds=asked or 0.0)
        return asked

    async def _leave(self, place: Place) -> None:
        lane, ticket = self._lane, place.ticket
        with lane.lock:
            lane.leave(place)
            for rider in place.riders:
                rider.wake()
            if place.mount is not None:
                ticket = _dismount(place.mount)
            elif place.ridden:
                ticket = ""  # whoever rides on it gives it back
        try:
            if ticket:
                await self._office.store.give_back(lane.provider, ticket)
        finally:
            lane.wake_first(self._office.clock.elapsed())

    # --- waiting ---------------------------------------------------------------------------------

    async def _placed(self) -> Place:
        """A place, once there is one; raises where there will be none in time."""
        mount = next((place for place in reversed(self._outer) if place.lane is self._lane), None)
        if mount is not None and await self._mounted(mount):
            try:
                return await self._riding(mount)
            except BaseException:
                with self._lane.lock:
                    ticket = _dismount(mount)
                if ticket:
                    await self._office.store.give_back(self._lane.provider, ticket)
                raise
        return await self._in_line()

    async def _in_line(self) -> Place:
        lane, clock = self._lane, self._office.clock
        waiter = self._waiter()
        queued = False
        lane.join(waiter)
        try:
            while True:
                waiter.bell.clear()
                now = clock.elapsed()
                self._refuse(now)
                wait = math.inf
                if waiter.nested and lane.stalled():
                    admission = await self._admitted(riding=True)
                    wait = admission.wait_s
                    if admission.ticket:
                        return lane.ride(admission.ticket)
                elif lane.may_ask(waiter, now):
                    admission = Admission()
                    try:
                        admission = await self._admitted(riding=False)
                    finally:
                        lane.asked(waiter, clock.elapsed(), granted=bool(admission.ticket))
                    wait = admission.wait_s
                    if admission.ticket:
                        place = lane.enter(admission.ticket, clock.elapsed())
                        if place is not None:
                            return place
                        await self._put_back(admission)
                        lane.join(waiter)
                        continue
                    self._refuse_wait(admission)
                if not queued:
                    queued = True
                    self._office.tell(Kind.QUEUED, self._errand, attempt=self._attempt)
                await waiter.pause(min(wait, self._seconds_left()))
        finally:
            lane.quit(waiter, clock.elapsed())

    async def _mounted(self, mount: Place) -> bool:
        """Wait until nobody else rides on `mount`; False where its own turn ended meanwhile."""
        lane, waiter = self._lane, self._waiter()
        with lane.lock:
            mount.riders.append(waiter)
        try:
            while True:
                waiter.bell.clear()
                self._refuse(self._office.clock.elapsed())
                with lane.lock:
                    if not mount.open:
                        return False
                    if not mount.ridden and mount.riders[0] is waiter:
                        mount.ridden = True
                        return True
                await waiter.pause(self._seconds_left())
        finally:
            with lane.lock:
                mount.riders.remove(waiter)
                if not mount.ridden and mount.riders:
                    mount.riders[0].wake()

    async def _riding(self, mount: Place) -> Place:
        """The place of another turn of the same provider, once the rates allow the call."""
        while True:
            admission = await self._admitted(riding=True)
            if admission.ticket:
                return self._lane.ride(admission.ticket, mount=mount)
            self._refuse_wait(admission)
            await asyncio.sleep(min(admission.wait_s, self._seconds_left()))
            self._refuse(self._office.clock.elapsed())

    async def _admitted(self, *, riding: bool) -> Admission:
        """The store's answer. Where it is a place, the call counts as begun in its run."""
        office, lane = self._office, self._lane
        now = office.clock.elapsed()
        with lane.lock:
            ration = lane.ration.paced(lane.pace.share(now))
        with office.counted(self._errand, self._ledger):
            admission = await office.store.admit(lane.provider, ration, tokens=self._errand.tokens, riding=riding)
        if not admission.ticket:
            office.under_way.remove(self._ledger, self._errand.usd)
        return admission

    async def _put_back(self, admission: Admission) -> None:
        """A place that came too late: the circuit opened while the store was asked."""
        self._office.under_way.remove(self._ledger, self._errand.usd)
        await self._office.store.give_back(self._lane.provider, admission.ticket)

    def _waiter(self) -> Waiter:
        errand = self._errand
        return Waiter(errand.priority, errand.tenant, self._since, nested=bool(self._outer))

    # --- refusing --------------------------------------------------------------------------------

    def _seconds_left(self) -> float:
        left = self._ledger.seconds_left if isinstance(self._ledger, Allowance) else None
        return math.inf if left is None else left

    def _refuse(self, now: float) -> None:
        """Raise where waiting makes no sense any more."""
        with self._lane.lock:
            closed_s, fault = self._lane.breaker.closed_for(now), self._lane.last_fault
        if closed_s is not None:
            when = f"it is tried again in {closed_s:.1f} s" if closed_s else "it is being tried again now"
            raise ProviderUnreachable(
                provider=self._lane.provider,
                reason=f"{fault}; it failed too often, so it is not called for now; {when}",
                retry_after_s=closed_s,
                circuit_open=True,
            )
        if self._seconds_left() <= 0.0:
            raise BudgetSpent(what=f"the time was over while {self._errand.what} waited for its turn")

    def _refuse_wait(self, admission: Admission) -> None:
        """Raise where the wait is known to be too long."""
        wait = admission.wait_s
        if admission.closed and wait > self._patience_s:
            raise ProviderLimited(
                provider=self._lane.provider,
                reason=f"it asked for no calls; the next may go in {wait:.0f} s",
                retry_after_s=wait,
            )
        if not math.isinf(wait) and wait > self._seconds_left():
            raise BudgetSpent(what=f"{self._errand.what} has to wait {wait:.1f} s, which is longer than the time left")


def _dismount(mount: Place) -> str:
    """Whoever rides on `mount` gets off; the ticket to give back where the turn it belonged to has ended already."""
    mount.ridden = False
    if mount.open:
        if mount.riders:
            mount.riders[0].wake()
        return ""
    return mount.ticket


def _code(error: BaseException) -> str:
    return error.code if isinstance(error, TadasuError) else type(error).__name__


def _health(error: BaseException | None) -> Health:
    if error is None or isinstance(error, _ALIVE):
        return Health.WELL
    return Health.FAULT if isinstance(error, ProviderUnreachable) else Health.UNKNOWN
