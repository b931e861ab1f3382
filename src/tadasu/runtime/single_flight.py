"""Many askers of one thing at the same time, one computation (DESIGN §3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

PATIENCE = 2
"""Failures of others that an asker sits through before it computes on its own, beside whoever else does."""


@dataclass(frozen=True, slots=True)
class _Landing(Generic[K, V]):
    """How a flight ended: what it found, and whether it failed (a cancelled one only stopped)."""

    values: Mapping[K, V] = field(default_factory=dict)
    failed: bool = False


@dataclass(slots=True)
class _Slot(Generic[K, V]):
    """A key that somebody asks for now, and the latest flight for it. It lives as long as it has askers."""

    askers: int = 0
    flight: asyncio.Future[_Landing[K, V]] | None = None

    @property
    def vacant(self) -> bool:
        """Whether nobody computes it now."""
        return self.flight is None or self.flight.done()


_Slots: TypeAlias = dict[K, _Slot[K, V]]


class SingleFlight(Generic[K, V]):
    """Shares computations by key between the tasks of an event loop.

    Whoever asks first for a key computes it, together with all its other keys that nobody computes yet; whoever asks
    meanwhile waits for the result. Only results are shared. Where a computation fails, its own asker hears of it, and
    those who waited try again: one computes, the others wait for that one. The same where it is cancelled. After
    `PATIENCE` failures an asker waits no longer, so that a broken service costs nobody more than three attempts.

    Nothing is kept once the last asker has gone: that is a cache's work. A computation should therefore look into the
    cache first and fill it before it returns; then no key is computed twice, by whomever and whenever.

    Loops do not share: the same instance may be used from several of them.
    """

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots[K, V]] = WeakKeyDictionary()

    async def fetch(
        self, keys: Sequence[K], compute_missing: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]
    ) -> dict[K, V]:
        """What is found for `keys`, each computed by one asker at a time.

        Args:
            keys: what is asked for; the same key twice is one.
            compute_missing: gets those keys that nobody else computes now, in the order of `keys`, and gives what it
                found for them. A key that it leaves out is missing from the result, and others who wait for it try
                themselves. It may be called again, for keys that another asker failed to compute.

        Returns:
            The value by key.

        Raises:
            Whatever `compute_missing` of this asker raises; never what another's raised.
        """
        table = self._loops.setdefault(asyncio.get_running_loop(), {})
        slots = {key: table.setdefault(key, _Slot()) for key in keys}
        for slot in slots.values():
            slot.askers += 1
        try:
            return await _collect(slots, compute_missing)
        finally:
            for key, slot in slots.items():
                slot.askers -= 1
                if not slot.askers:
                    del table[key]


async def _collect(slots: _Slots[K, V], compute: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> dict[K, V]:
    found: dict[K, V] = {}
    wanted = dict(slots)
    failures = 0
    while True:
        for key, slot in slots.items():
            if key in wanted and slot.flight is not None and slot.flight.done():
                values = slot.flight.result().values
                if key in values:
                    found[key] = values[key]
                    del wanted[key]
        own = [key for key, slot in wanted.items() if slot.vacant or failures >= PATIENCE]
        if own:
            # What we took upon us lands before we wait for others: two askers can never wait for each other.
            values = await _fly({key: slots[key] for key in own}, compute)
            for key in own:
                del wanted[key]
                if key in values:
                    found[key] = values[key]
        elif wanted:
            flights = {slot.flight for slot in wanted.values() if slot.flight is not None}
            # asyncio.wait leaves the futures alone when we are cancelled; others wait for them too.
            done, _ = await asyncio.wait(flights, return_when=asyncio.FIRST_COMPLETED)
            failures += sum(flight.result().failed for flight in done)
        else:
            return found


async def _fly(slots: _Slots[K, V], compute: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> Mapping[K, V]:
    """Compute the keys of `slots` and tell those who wait, however it ends."""
    flight: asyncio.Future[_Landing[K, V]] = asyncio.get_running_loop().create_future()
    for slot in slots.values():
        if slot.vacant:
            slot.flight = flight
    landing: _Landing[K, V] = _Landing(failed=True)
    try:
        values = await compute(list(slots))
        landing = _Landing(values, failed=any(key not in values for key in slots))
    except asyncio.CancelledError:
        landing = _Landing()
        raise
    finally:
        flight.set_result(landing)
    return values
