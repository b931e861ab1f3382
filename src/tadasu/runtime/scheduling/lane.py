"""One provider as the scheduler sees it: who waits, who is inside, whether its circuit is closed."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from dataclasses import dataclass, field

from tadasu.core.limits import Ration
from tadasu.core.usage import Priority
from tadasu.runtime.scheduling.breaker import Breaker, Circuit, Health
from tadasu.runtime.scheduling.line import WaitingLine
from tadasu.runtime.scheduling.pace import Pace
from tadasu.runtime.scheduling.rules import Rules

_SHORTEST_S = 0.001


@dataclass(eq=False, slots=True)
class Waiter:
    """A coroutine that waits, on whatever event loop it runs."""

    priority: Priority
    tenant: str
    since: float
    nested: bool = False
    """It stands in a turn at another provider."""
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def wake(self) -> bool:
        """Let it look again; False where its event loop is gone, and it with it."""
        if asyncio._get_running_loop() is self._loop:
            self.bell.set()
            return True
        try:
            self._loop.call_soon_threadsafe(self.bell.set)
        except RuntimeError:
            return False
        return True

    async def pause(self, seconds: float) -> None:
        """Wait to be woken, for `seconds` at the most."""
        if math.isinf(seconds):
            await self.bell.wait()
            return
        alarm = self._loop.call_later(max(_SHORTEST_S, seconds), self.bell.set)
        try:
            await self.bell.wait()
        finally:
            alarm.cancel()


@dataclass(eq=False, slots=True)
class Place:
    """A turn that is going on. Its lane's lock guards it."""

    lane: Lane
    ticket: str
    trying: bool = False
    """It is the one call that tries whether the circuit may be closed."""
    mount: Place | None = None
    """The place of the same provider that it rides on."""
    open: bool = True
    blocked: int = 0
    """How many calls made within it wait for a turn of their own: meanwhile it calls nobody."""
    riders: deque[Waiter] = field(default_factory=deque)
    """Calls of the same provider within it; the first one rides, the others wait for that."""
    ridden: bool = False
    told: BaseException | None = None
    """The latest error of a turn within this one: what it says was noted there."""


class Lane:
    """State of one provider. `lock` is held for microseconds, never while waiting."""

    def __init__(self, provider: str, ration: Ration, rules: Rules) -> None:
        self.provider = provider
        self.ration = ration
        self.lock = threading.RLock()
        self.line: WaitingLine[Waiter] = WaitingLine(ageing_s=rules.ageing_s)
        self.breaker = Breaker(rules.breaker)
        self.pace = Pace()
        self.places: set[Place] = set()
        self.last_fault = ""
        """What the latest fault was, for those who find the circuit open."""
        self._asking: Waiter | None = None

    def idle(self, now: float) -> bool:
        """Whether nothing would be lost if this lane were made anew: nobody is here, and nothing was learnt."""
        with self.lock:
            calm = self.breaker.circuit is Circuit.CLOSED and self.pace.share(now) == 1.0
            return calm and not self.line and not self.places

    def join(self, waiter: Waiter) -> None:
        """`waiter` comes to the line."""
        with self.lock:
            self.line.add(waiter)

    def quit(self, waiter: Waiter, now: float) -> None:
        """`waiter` leaves the line, served or not."""
        with self.lock:
            self.line.remove(waiter)
            self.wake_first(now)

    def may_ask(self, waiter: Waiter, now: float) -> bool:
        """Whether `waiter` is next and nobody else is asking for a place just now; then it is the one who asks."""
        with self.lock:
            first = self.line.first(now)
            if first is not waiter:
                self.wake_first(now)
                return False
            if self._asking is not None:
                return False
            self._asking = waiter
            return True

    def asked(self, waiter: Waiter, now: float, *, granted: bool) -> None:
        """The answer for `waiter` has come."""
        with self.lock:
            self._asking = None
            if granted:
                self.line.served(waiter, now)
            elif self.line.first(now) is not waiter:
                self.wake_first(now)

    def wake_first(self, now: float) -> None:
        """Let the next in line look whether it may go. Those whose event loop has gone leave the line."""
        with self.lock:
            while (first := self.line.first(now)) is not None and not first.wake():
                self.line.remove(first)

    def stalled(self) -> bool:
        """Whether all turns here wait for turns elsewhere, so that none of them can end before another one goes on."""
        with self.lock:
            return bool(self.places) and all(place.blocked for place in self.places)

    def block(self, place: Place) -> None:
        """A call within `place` begins to wait."""
        with self.lock:
            place.blocked += 1
            self._wake_where_stalled()

    def leave(self, place: Place) -> None:
        """A turn ends. Its place in flight is given back apart."""
        with self.lock:
            place.open = False
            self.places.discard(place)
            self._wake_where_stalled()

    def _wake_where_stalled(self) -> None:
        if self.stalled():
            for waiter in self.line.everybody():
                if waiter.nested:
                    waiter.wake()

    def unblock(self, place: Place) -> None:
        """A call within `place` waits no longer."""
        with self.lock:
            place.blocked -= 1

    def enter(self, ticket: str, now: float) -> Place | None:
        """A turn begins; None where the circuit opened meanwhile."""
        with self.lock:
            if self.breaker.closed_for(now) is not None:
                return None
            return self.ride(ticket, trying=self.breaker.begin())

    def ride(self, ticket: str, *, mount: Place | None = None, trying: bool = False) -> Place:
        """A turn begins, whatever the circuit's state is."""
        with self.lock:
            place = Place(self, ticket, trying=trying, mount=mount)
            self.places.add(place)
            return place

    def ended(self, place: Place, health: Health, now: float) -> Circuit | None:
        """What the end of a turn says about the provider; the circuit's state where it changed."""
        with self.lock:
            return self.breaker.ended(health, now, trying=place.trying)
