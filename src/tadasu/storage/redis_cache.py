"""Scores on a Redis or Valkey server, shared by all replicas that are given its address.

A server that is down or slow is an empty cache: each look-up waits for it a quarter of a second at the most, and after
a failure nobody asks it for a while. Size is the server's business: give it ``maxmemory`` and a policy such as
``volatile-lru``; every entry has a time to live, lengthened by every use.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import RedisError

from tadasu.errors import SettingsInvalid
from tadasu.ports import CacheSettings, CacheStatistics

T = TypeVar("T")

_log = logging.getLogger(__name__)
_SECONDS_A_DAY: Final = 86_400.0
_PREFIX: Final = "tadasu:score:"
_COUNTS: Final = "tadasu:scores"
_CHUNK: Final = 1000
_SAMPLE: Final = 50
_PAUSE_S: Final = 5.0


class RedisCache:
    """ports.ScoreCache and ports.CacheCounters on a server.

    Args:
        url: ``redis://[user:password@]host[:port][/database]``, ``rediss://`` with TLS, or ``unix://``.
        seconds: an entry lives so long after its last use.
        timeout_s: for connecting and for each answer. A look-up makes one round trip.
        pause_s: how long nobody asks the server after it failed.
    """

    def __init__(self, url: str, *, seconds: float, timeout_s: float = 0.25, pause_s: float = _PAUSE_S) -> None:
        self._url = url
        self._milliseconds = max(1, int(seconds * 1000.0))
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._client: Redis | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._again_at = 0.0
        self._well = False
        self._lock = threading.Lock()
        self._hits = 0
        self._misses = 0
        self.trouble = ""
        """What keeps the cache from its server; empty where nothing does."""

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """What is known of `keys`; nothing where the server does not answer in time."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            values = await self._attempt(partial(self._read, chunk), _nothing(len(chunk)))
            found.update((key, value) for key, value in zip(chunk, values, strict=True) if value is not None)
        with self._lock:
            self._hits += len(found)
            self._misses += len(wanted) - len(found)
        return found

    async def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep `entries`, where the server takes them."""
        items = list(entries.items())
        for start in range(0, len(items), _CHUNK):
            chunk = items[start : start + _CHUNK]
            await self._attempt(partial(self._store, chunk), None)

    def count_hits(self, number: int) -> None:
        """Count look-ups that found something before they came here."""
        with self._lock:
            self._hits += number

    async def clear(self) -> int:
        """Forget every score on the server, and the counts; how many entries that were."""
        self._noted()
        return await self._attempt(self._remove_all, 0, timeout_s=60.0)

    async def statistics(self) -> CacheStatistics:
        """Counts of all who use the server. Entries are counted there, their size is estimated from a few of them."""
        return await self._attempt(self._measure, CacheStatistics(0, 0, 0, 0), timeout_s=10.0)

    async def close(self) -> None:
        """Write down the counts and close the connections."""
        if self._client is None or self._loop is not asyncio.get_running_loop():
            return
        if self._hits or self._misses:
            await self._attempt(self._count, None)
        client, self._client = self._client, None
        await client.aclose()

    async def _read(self, keys: Sequence[str], client: Redis) -> list[bytes | None]:
        async with client.pipeline(transaction=False) as pipe:
            pipe.mget([_PREFIX + key for key in keys])
            for key in keys:
                pipe.pexpire(_PREFIX + key, self._milliseconds)  # a use lengthens the life; no entry, no effect
            results: list[list[bytes | None]] = await pipe.execute()
        return results[0]

    async def _store(self, items: Sequence[tuple[str, bytes]], client: Redis) -> None:
        hits, misses = self._noted()
        async with client.pipeline(transaction=False) as pipe:
            for key, value in items:
                pipe.set(_PREFIX + key, value, px=self._milliseconds)
            _add_counts(pipe, hits, misses)
            await pipe.execute()

    async def _count(self, client: Redis) -> None:
        hits, misses = self._noted()
        async with client.pipeline(transaction=False) as pipe:
            _add_counts(pipe, hits, misses)
            await pipe.execute()

    async def _measure(self, client: Redis) -> CacheStatistics:
        await self._count(client)
        entries, sample = 0, list[bytes]()
        async for key in client.scan_iter(match=_PREFIX + "*", count=_CHUNK):
            entries += 1
            if len(sample) < _SAMPLE:
                sample.append(key)
        sizes = [size for key in sample if (size := await client.memory_usage(key)) is not None]
        counts = await _awaited(client.hmget(_COUNTS, ["hits", "misses"]))
        hits, misses = (int(count or 0) for count in counts)
        each = sum(sizes) / len(sizes) if sizes else 0.0
        return CacheStatistics(hits=hits, misses=misses, entries=entries, bytes=round(each * entries))

    async def _remove_all(self, client: Redis) -> int:
        removed = 0
        keys: list[bytes] = []
        async for key in client.scan_iter(match=_PREFIX + "*", count=_CHUNK):
            keys.append(key)
            if len(keys) == _CHUNK:
                removed += await client.unlink(*keys)
                keys = []
        if keys:
            removed += await client.unlink(*keys)
        await client.delete(_COUNTS)
        return removed

    def _noted(self) -> tuple[int, int]:
        with self._lock:
            noted = self._hits, self._misses
            self._hits = self._misses = 0
        return noted

    async def _attempt(
        self, work: Callable[[Redis], Awaitable[T]], otherwise: T, *, timeout_s: float | None = None
    ) -> T:
        if time.monotonic() < self._again_at:
            return otherwise
        try:
            # The client's own time-outs are for each step; this one is for finding the host and all steps together.
            async with asyncio.timeout(timeout_s or 4.0 * self._timeout_s):
                result = await self._answered(work)
        except (RedisError, OSError, TimeoutError) as error:
            self._pause(error)
            return otherwise
        self.trouble = ""
        self._well = True
        return result

    async def _answered(self, work: Callable[[Redis], Awaitable[T]]) -> T:
        client = self._connected()
        if not self._well:
            return await work(client)
        try:
            return await work(client)
        except Unreachable:
            # The server was well a moment ago: most likely it was restarted, and our open connections are of before.
            self._well = False
            await client.connection_pool.disconnect(inuse_connections=False)
            return await work(client)

    def _connected(self) -> Redis:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # Connections belong to the loop that made them; those of a loop that has ended are closed already.
            self._loop = loop
            self._client = Redis.from_url(
                self._url,
                socket_timeout=self._timeout_s,
                socket_connect_timeout=self._timeout_s,
                retry=Retry(NoBackoff(), 0),
            )
        return self._client

    def _pause(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if not self.trouble:
            _log.warning("The score cache on the server cannot be used (%s); done without it for now.", reason)
        self.trouble = reason
        self._well = False
        self._again_at = time.monotonic() + self._pause_s


def _nothing(length: int) -> list[bytes | None]:
    return [None] * length


def _add_counts(pipe: Any, hits: int, misses: int) -> None:
    if hits:
        pipe.hincrby(_COUNTS, "hits", hits)
    if misses:
        pipe.hincrby(_COUNTS, "misses", misses)


async def _awaited(reply: Any) -> Any:
    return await reply


def open_cache(settings: CacheSettings) -> RedisCache:
    """The plugin behind ``tadasu.caches: redis``.

    Raises SettingsInvalid where the environment variable that the settings name holds no address.
    """
    variable = settings.url_variable
    url = os.environ.get(variable, "").strip() if variable else ""
    where = f"environment variable {variable}" if variable else "tadasu.toml"
    if not url:
        reason = "names the variable that holds the server's address, and that is not set"
        raise SettingsInvalid(where=where, key="cache.url_variable", reason=reason)
    try:
        Redis.from_url(url)
    except ValueError as error:  # its text may repeat a part of the address, but never where a password stands
        reason = "holds no address such as redis://host:6379/0"
        raise SettingsInvalid(where=where, key="cache.url_variable", reason=reason) from error
    return RedisCache(url, seconds=settings.days * _SECONDS_A_DAY)
