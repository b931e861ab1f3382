"""Limits of providers that hold over all processes which share a Redis or Valkey server.

A place in flight is a lease: whoever holds it renews it, and the places of a process that was killed are free again
when their leases end. Windows are counted by the server's clock. A server that is down or slow stops nobody: until it
is back, each process counts for itself.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from tadasu.core.limits import Admission, Ration
from tadasu.errors import SettingsInvalid
from tadasu.ports import Clock
from tadasu.runtime.scheduling.store import LocalLimits

T = TypeVar("T")

_log = logging.getLogger(__name__)
_PREFIX: Final = "tadasu:limits:"
_MINUTE_S: Final = 60
_PAUSE_S: Final = 5.0
_POLL_S: Final = 0.03
"""How soon to ask again for a place in flight: who gives one back in another process tells nobody here."""

# Keys: places (by the end of their lease), starts (by time), tokens (a hash by second), closed (until when).
# All share the provider's name in braces, so that a cluster keeps them together.
_NOW: Final = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
"""
_ADMIT: Final = (
    _NOW
    + """
local ticket, places, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local most, window = tonumber(ARGV[4]), tonumber(ARGV[5])
local limit, asked = tonumber(ARGV[6]), tonumber(ARGV[7])
local closed = tonumber(redis.call('GET', KEYS[4]) or '0')
if closed > now then return {'closed', closed - now} end
if places > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if redis.call('ZCARD', KEYS[1]) >= places then return {'full', 0} end
end
local wait = 0
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - window)
  local count = redis.call('ZCARD', KEYS[2])
  if count >= most then
    local oldest = redis.call('ZRANGE', KEYS[2], count - most, count - most, 'WITHSCORES')
    wait = oldest[2] + window - now
  end
end
if limit > 0 then
  local second = math.floor(now / 1000)
  local rows, spent, times, used = redis.call('HGETALL', KEYS[3]), 0, {}, {}
  for i = 1, #rows, 2 do
    local at = tonumber(rows[i])
    if at <= second - 60 then
      redis.call('HDEL', KEYS[3], rows[i])
    else
      spent = spent + rows[i + 1]
      used[at] = tonumber(rows[i + 1])
      times[#times + 1] = at
    end
  end
  local excess = spent + asked - limit
  table.sort(times)
  for _, at in ipairs(times) do
    if excess <= 0 then break end
    excess = excess - used[at]
    if excess <= 0 then wait = math.max(wait, (at + 60) * 1000 - now) end
  end
end
if wait > 0 then return {'wait', math.ceil(wait)} end
if places > 0 then
  redis.call('ZADD', KEYS[1], now + lease, ticket)
  redis.call('PEXPIRE', KEYS[1], lease + 1000)
end
if most > 0 then
  redis.call('ZADD', KEYS[2], now, ticket)
  redis.call('PEXPIRE', KEYS[2], window + 1000)
end
if limit > 0 and asked > 0 then
  redis.call('HINCRBY', KEYS[3], math.floor(now / 1000), asked)
  redis.call('EXPIRE', KEYS[3], 61)
end
return {'ticket', 0}
"""
)
_RENEW: Final = (
    _NOW
    + """
local lease = tonumber(ARGV[1])
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + lease, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], lease + 1000)
"""
)
_CLOSE: Final = (
    _NOW
    + """
local till = now + ARGV[1]
if tonumber(redis.call('GET', KEYS[1]) or '0') < till then redis.call('SET', KEYS[1], till, 'PX', ARGV[1]) end
"""
)


class RedisLimits:
    """ports.LimitStore on a server.

    Args:
        url: ``redis://[user:password@]host[:port][/database]``, ``rediss://`` with TLS, or ``unix://``.
        clock: for the counts that are kept here while the server is away.
        lease_s: a place that is not renewed for so long is free again; it is renewed each third of it.
        timeout_s: for connecting and for each answer.
        pause_s: how long nobody asks the server after it failed.
    """

    def __init__(
        self, url: str, *, clock: Clock, lease_s: float = 15.0, timeout_s: float = 0.5, pause_s: float = _PAUSE_S
    ) -> None:
        self._url = url
        self._lease_ms = max(1, int(lease_s * 1000.0))
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._local = LocalLimits(clock)
        self._process = uuid.uuid4().hex[:12]
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()
        self._again_at = 0.0
        self.trouble = ""
        """What keeps us from the server; empty where nothing does."""

    async def admit(self, provider: str, ration: Ration, *, tokens: int = 0, riding: bool = False) -> Admission:
        """See `ports.LimitStore`. Cancelled while the server is asked, it gives back what the server granted."""
        if time.monotonic() < self._again_at:
            return await self._by_ourselves(provider, ration, tokens=tokens, riding=riding)
        loop = self._here()
        ticket = f"{'ride' if riding else self._process}-{next(self._numbers)}"
        asking = asyncio.ensure_future(self._asked(loop, provider, ticket, ration, tokens=tokens, riding=riding))
        try:
            admission = await asyncio.shield(asking)
        except asyncio.CancelledError:
            loop.see_off(asking, then=lambda: self.give_back(provider, ticket))
            raise
        if admission is None:
            return await self._by_ourselves(provider, ration, tokens=tokens, riding=riding)
        if admission.ticket and not riding:
            loop.hold(provider, ticket, renewing=self._renewing)
        return admission

    async def give_back(self, provider: str, ticket: str) -> None:
        """The call of `ticket` has ended. Goes on where it is cancelled itself."""
        if not ticket.startswith(self._process):
            await self._local.give_back(provider, ticket)
            return
        loop = self._here()
        with self._lock:
            for other in self._loops.values():
                other.held.get(provider, set()).discard(ticket)
        work = asyncio.ensure_future(self._attempt(loop, lambda client: client.zrem(_key(provider, "places"), ticket)))
        loop.keep(work)
        await asyncio.shield(work)

    async def close_for(self, provider: str, seconds: float) -> None:
        """Admit nobody at `provider` for `seconds`, in any process."""
        await self._local.close_for(provider, seconds)
        wait = max(1, int(seconds * 1000.0))
        await self._attempt(self._here(), lambda client: client.eval(_CLOSE, 1, _key(provider, "closed"), wait))

    async def close(self) -> None:
        """Give back the connections of this event loop."""
        loop = self._loops.pop(asyncio.get_running_loop(), None)
        if loop is not None:
            await loop.close()

    async def _asked(
        self, loop: _Loop, provider: str, ticket: str, ration: Ration, *, tokens: int, riding: bool
    ) -> Admission | None:
        """The server's answer; None where it gives none."""
        starts, seconds = ration.window or (0, 0.0)
        limit = ration.tokens_per_minute or 0
        places = 0 if riding else ration.in_flight
        arguments: tuple[str | int, ...] = (
            ticket, places, self._lease_ms, starts, round(seconds * 1000.0), limit, min(tokens, limit)
        )  # fmt: skip
        keys = [_key(provider, name) for name in ("places", "starts", "tokens", "closed")]
        answer = await self._attempt(loop, lambda _: loop.admit(keys=keys, args=arguments))
        if answer is None:
            return None
        word, wait_ms = answer[0].decode(), int(answer[1])
        match word:
            case "ticket":
                return Admission(ticket=ticket)
            case "full":
                return Admission(wait_s=_POLL_S)
            case _:
                return Admission(wait_s=wait_ms / 1000.0, closed=word == "closed")

    async def _by_ourselves(self, provider: str, ration: Ration, *, tokens: int, riding: bool) -> Admission:
        admission = await self._local.admit(provider, ration, tokens=tokens, riding=riding)
        # Whoever waits for a place looks again, too, when the server is back.
        return admission if admission.ticket else Admission("", min(admission.wait_s, self._pause_s), admission.closed)

    async def _renewing(self, loop: _Loop) -> None:
        """Renew the leases of one event loop for as long as there are any."""
        while True:
            await asyncio.sleep(self._lease_ms / 3000.0)
            held = loop.tickets()
            if not held:
                return
            for provider, tickets in held.items():
                await self._attempt(loop, _renewal(_key(provider, "places"), self._lease_ms, tickets))

    async def _attempt(self, loop: _Loop, work: Callable[[Any], Awaitable[T]]) -> T | None:
        """What `work` gives; None where the server cannot be asked."""
        if time.monotonic() < self._again_at:
            return None
        try:
            async with asyncio.timeout(4.0 * self._timeout_s):
                result = await work(loop.client)
        except (RedisError, OSError, TimeoutError) as error:
            self._pause(error)
            return None
        self.trouble = ""
        return result

    def _pause(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if not self.trouble:
            _log.warning("Limits cannot be shared through the server (%s); each process counts for itself.", reason)
        self.trouble = reason
        self._again_at = time.monotonic() + self._pause_s

    def _here(self) -> _Loop:
        running = asyncio.get_running_loop()
        with self._lock:
            loop = self._loops.get(running)
            if loop is None:
                loop = self._loops[running] = _Loop(self._connect())
            return loop

    def _connect(self) -> Any:
        return Redis.from_url(
            self._url,
            socket_timeout=self._timeout_s,
            socket_connect_timeout=self._timeout_s,
            # Connections that a restart of the server has cut are made anew, once.
            retry=Retry(NoBackoff(), 1),
        )


class _Loop:
    """What belongs to one event loop: connections, tickets that were given there, tasks that must come to an end."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.admit: Callable[..., Awaitable[Any]] = client.register_script(_ADMIT)
        self.held: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._renewal: asyncio.Task[None] | None = None

    def hold(self, provider: str, ticket: str, *, renewing: Callable[[_Loop], Awaitable[None]]) -> None:
        """A place was given; its lease is renewed from now on."""
        self.held.setdefault(provider, set()).add(ticket)
        if self._renewal is None or self._renewal.done():

            async def renew() -> None:
                await renewing(self)

            self._renewal = asyncio.create_task(renew())

    def tickets(self) -> dict[str, list[str]]:
        """The tickets that are out, by provider."""
        return {provider: list(tickets) for provider, tickets in self.held.items() if tickets}

    def keep(self, task: asyncio.Future[Any]) -> None:
        """Let `task` come to its end, whoever waits for it or not."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def see_off(self, asking: asyncio.Future[Admission | None], *, then: Callable[[], Awaitable[None]]) -> None:
        """Once `asking` has ended, do `then`."""

        async def wait() -> None:
            await asyncio.wait([asking])
            await then()

        self.keep(asyncio.ensure_future(wait()))

    async def close(self) -> None:
        """Wait for what must come to an end, then give back the connections."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait([self._renewal])
        await self.client.aclose()


def _key(provider: str, name: str) -> str:
    return f"{_PREFIX}{{{provider}}}:{name}"


def _renewal(key: str, lease_ms: int, tickets: list[str]) -> Callable[[Any], Awaitable[Any]]:
    return lambda client: client.eval(_RENEW, 1, key, lease_ms, *tickets)


def open_limits(url: str, *, variable: str, clock: Clock) -> RedisLimits:
    """Limits on the server at `url`, the value of the variable `variable`; raises SettingsInvalid where it is none."""
    where = f"environment variable {variable}"
    if not url.strip():
        reason = "names the variable that holds the server's address, and that is not set"
        raise SettingsInvalid(where=where, key="limits.url_variable", reason=reason)
    try:
        Redis.from_url(url.strip())
    except ValueError as error:  # its text may repeat a part of the address, but never where a password stands
        reason = "holds no address such as redis://host:6379/0"
        raise SettingsInvalid(where=where, key="limits.url_variable", reason=reason) from error
    return RedisLimits(url.strip(), clock=clock)
