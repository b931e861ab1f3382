"""One page by one address: redirects followed hop by hop, each checked anew, the body within its limits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from tadasu.core.usage import Stage
from tadasu.ports import Ledger
from tadasu.providers.fetching.addresses import Address, AddressPolicy, joined
from tadasu.providers.fetching.bodies import read_body
from tadasu.providers.fetching.contents import ACCEPT, Declared, check_kind, readable, wall_behind
from tadasu.providers.fetching.page_cache import KeptPage
from tadasu.providers.fetching.refusals import Refused, Why
from tadasu.providers.fetching.robots import MOST_BYTES, Robots
from tadasu.providers.fetching.settings import FetchSettings
from tadasu.providers.fetching.transport import Reply, Transport
from tadasu.providers.http import retry_after
from tadasu.runtime.ledger import timed

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ERROR_PAGE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Got:
    """A page, where it really came from, and whether its server lets it be kept."""

    page: KeptPage
    address: Address
    keep: bool


class PageClient:
    """GETs pages. It has no time limit over all of one page: whoever calls it has."""

    def __init__(self, settings: FetchSettings, policy: AddressPolicy, transport: Transport, robots: Robots) -> None:
        self._settings = settings
        self._policy = policy
        self._transport = transport
        self._robots = robots

    async def page(self, address: Address, *, ledger: Ledger) -> Got:
        """The page at `address`, wherever redirects lead; raises Refused. A look at robots.txt is a call of its own."""
        for hop in range(self._settings.redirects + 1):
            if self._settings.robots:
                await self._robots.check(address, partial(self._robots_file, ledger=ledger))
            async with self._transport.get(address, first_byte_s=self._settings.first_byte_s, accept=ACCEPT) as reply:
                if reply.status not in _REDIRECTS:
                    return await self._got(address, reply)
                address = self._next(address, reply, hop)
        raise Refused(Why.REDIRECT, f"more than {self._settings.redirects} redirects")

    async def _got(self, address: Address, reply: Reply) -> Got:
        declared = Declared.read(reply.headers.get("content-type", ""))
        if reply.status != 200:
            raise await _refusal(reply, declared)
        check_kind(declared)
        body = await read_body(reply, most_bytes=int(self._settings.max_mb * 2**20))
        page = await asyncio.to_thread(readable, body.data, declared, pdf=self._settings.pdf)
        kept = {word.strip().lower() for word in reply.headers.get("cache-control", "").split(",")}
        return Got(page, address, keep=not kept & {"no-store", "private"})

    async def _robots_file(self, address: Address, *, ledger: Ledger) -> bytes:
        """``/robots.txt`` of a site, empty where it has none; under the same rules as a page, but those of robots."""
        with timed(ledger, Stage.FETCH, provider=address.host, model="robots.txt"):
            for hop in range(self._settings.redirects + 1):
                async with self._transport.get(
                    address, first_byte_s=self._settings.first_byte_s, accept="text/plain"
                ) as reply:
                    if reply.status == 200:
                        return (await read_body(reply, most_bytes=MOST_BYTES)).data
                    if reply.status not in _REDIRECTS:
                        if 400 <= reply.status < 500 and reply.status != 429:
                            return b""
                        raise Refused(Why.STATUS, f"HTTP {reply.status}")
                    address = self._next(address, reply, hop)
            raise Refused(Why.REDIRECT, "its robots.txt redirects without end")

    def _next(self, address: Address, reply: Reply, hop: int) -> Address:
        location = reply.headers.get("location", "")
        if not location:
            raise Refused(Why.REDIRECT, "a redirect to nowhere")
        if hop >= self._settings.redirects:
            raise Refused(Why.REDIRECT, f"more than {self._settings.redirects} redirects")
        following = self._policy.read(joined(address, location))
        if address.scheme == "https" and following.scheme == "http":
            raise Refused(Why.REDIRECT, "from https back to http")
        return following


async def _refusal(reply: Reply, declared: Declared) -> Refused:
    """What an error status says; a wall that is sent with one is called by its name."""
    status = reply.status
    if status in (404, 410):
        return Refused(Why.GONE, f"HTTP {status}")
    if status == 429:
        return Refused(Why.LIMITED, "HTTP 429", retry_after_s=retry_after(reply.headers.get("retry-after")))
    if declared.media_type in ("", "text/html", "application/xhtml+xml"):
        try:
            body = await read_body(reply, most_bytes=_ERROR_PAGE_BYTES)
        except Refused:
            return Refused(Why.STATUS, f"HTTP {status}")
        wall = await asyncio.to_thread(wall_behind, body.data, declared)
        if wall and wall not in {Why.EMPTY.value, Why.SOFT_404.value}:
            return Refused(Why(wall), f"HTTP {status}")
    if status == 401:
        return Refused(Why.LOGIN_WALL, "HTTP 401")
    return Refused(Why.STATUS, f"HTTP {status}")
