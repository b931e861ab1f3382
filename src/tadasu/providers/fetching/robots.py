"""What sites ask of robots (RFC 9309): kept for a day, read by Protego."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from protego import Protego

from tadasu.ports import Clock
from tadasu.providers.fetching.addresses import Address
from tadasu.providers.fetching.refusals import Refused, Why
from tadasu.providers.fetching.transport import USER_AGENT
from tadasu.runtime.single_flight import SingleFlight

MOST_BYTES = 512 * 1024
"""RFC 9309 asks for at least 500 KiB; what stands beyond is not read."""
_SECONDS = 86_400.0
_SECONDS_AFTER_FAILURE = 600.0
_SITES = 512
_NO_RULES = frozenset({Why.REDIRECT, Why.TOO_LARGE, Why.BOMB, Why.ENCODING})
"""Nothing that could be read as rules."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of a site; `parsed` is None where there are none, or where the file cannot be had (`reachable` False)."""

    parsed: Protego | None
    reachable: bool
    until: float


class Robots:
    """Which addresses may be fetched as far as their sites are concerned."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sites: OrderedDict[str, _Rules] = OrderedDict()
        self._flights: SingleFlight[str, _Rules] = SingleFlight()

    async def check(self, address: Address, fetch: Callable[[Address], Awaitable[bytes]]) -> None:
        """Raise Refused (ROBOTS) where the site of `address` does not want it fetched.

        `fetch` gets ``/robots.txt`` where it is not known, and nothing where there is none, which allows everything. A
        site whose file cannot be had at the moment allows nothing (RFC 9309, 2.3.1.4).
        """
        rules = self._sites.get(address.origin)
        if rules is None or self._clock.elapsed() >= rules.until:
            rules = await self._found(address, fetch)
        if not rules.reachable:
            raise Refused(Why.ROBOTS, "its robots.txt cannot be had at the moment")
        if rules.parsed is not None and not rules.parsed.can_fetch(str(address), USER_AGENT):
            raise Refused(Why.ROBOTS, "its robots.txt does not allow it")

    async def _found(self, address: Address, fetch: Callable[[Address], Awaitable[bytes]]) -> _Rules:
        async def compute(origins: Sequence[str]) -> Mapping[str, _Rules]:
            return {origin: await self._fetched(address, fetch) for origin in origins}

        rules = (await self._flights.fetch([address.origin], compute))[address.origin]
        self._sites[address.origin] = rules
        while len(self._sites) > _SITES:
            self._sites.popitem(last=False)
        return rules

    async def _fetched(self, address: Address, fetch: Callable[[Address], Awaitable[bytes]]) -> _Rules:
        now = self._clock.elapsed()
        try:
            data = await fetch(Address(address.scheme, address.host, address.port, "/robots.txt"))
        except Refused as refused:
            if refused.why is Why.ADDRESS:
                raise  # the page itself is as little to be fetched
            if refused.why in _NO_RULES:
                return _Rules(None, reachable=True, until=now + _SECONDS)
            return _Rules(None, reachable=False, until=now + _SECONDS_AFTER_FAILURE)
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        return _Rules(Protego.parse(text), reachable=True, until=now + _SECONDS)
