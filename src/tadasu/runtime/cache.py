"""Bytes by key in memory, least recently used out; alone, or in front of a cache that lasts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, runtime_checkable

from tadasu.ports import CacheCounters, CacheSettings, CacheStatistics, Clock, ScoreCache
from tadasu.runtime.world import SystemClock

_OVERHEAD: Final = 240
"""Bytes of an entry beside key and value: heads of objects, its place in the table (tracemalloc: 225 to 237)."""
_SECONDS_A_DAY: Final = 86_400.0
_FRONT_BYTES: Final = 32_000_000
_FRONT_LIFE: Final = (0.1, _SECONDS_A_DAY)


@dataclass(frozen=True, slots=True)
class Room:
    """What a cache in memory may take: entries, bytes with all that belongs to them, seconds in it."""

    entries: int
    bytes: int
    seconds: float

    def __post_init__(self) -> None:
        if self.entries < 1 or self.bytes < 1 or self.seconds <= 0:
            raise ValueError(f"a cache has room for something, not {self}")


class MemoryCache:
    """ports.ScoreCache and ports.CacheCounters in this process; any thread may use it.

    Beyond `room` the least recently used entries go. `renewed` says whether using an entry lengthens its life (which
    then counts from the last use) or not (from when it was put).
    """

    def __init__(self, room: Room, *, clock: Clock | None = None, renewed: bool = True) -> None:
        self._room = room
        self._clock = clock or SystemClock()
        self._renewed = renewed
        # In order of use. Each entry is its value and the time that its life counts from.
        self._entries: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0
        self._hits = 0
        self._misses = 0
        self._lock = threading.Lock()

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """What is known of `keys`; this counts as a use."""
        now = self._clock.elapsed()
        oldest = now - self._room.seconds
        found: dict[str, bytes] = {}
        with self._lock:
            for key in dict.fromkeys(keys):
                entry = self._entries.get(key)
                if entry is None:
                    continue
                value, since = entry
                if since < oldest:
                    self._drop(key)
                    continue
                if self._renewed:
                    self._entries[key] = (value, now)
                self._entries.move_to_end(key)
                found[key] = value
            self._hits += len(found)
            self._misses += len(set(keys)) - len(found)
        return found

    async def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep `entries`; one that alone is larger than the room is not kept."""
        now = self._clock.elapsed()
        with self._lock:
            for key, value in entries.items():
                if key in self._entries:
                    self._drop(key)
                if _size(key, value) <= self._room.bytes:
                    self._entries[key] = (value, now)
                    self._bytes += _size(key, value)
            while len(self._entries) > self._room.entries or self._bytes > self._room.bytes:
                self._drop(next(iter(self._entries)))

    async def clear(self) -> int:
        """Forget everything; how many entries that were. The counts of hits and misses begin anew."""
        with self._lock:
            count = len(self._entries)
            self._entries.clear()
            self._bytes = self._hits = self._misses = 0
        return count

    async def statistics(self) -> CacheStatistics:
        """Counts of this object, since it was made or cleared."""
        with self._lock:
            return CacheStatistics(hits=self._hits, misses=self._misses, entries=len(self._entries), bytes=self._bytes)

    async def close(self) -> None:
        """Nothing is held open."""

    def _drop(self, key: str) -> None:
        value, _ = self._entries.pop(key)
        self._bytes -= _size(key, value)


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value) + _OVERHEAD


@runtime_checkable
class CountedCache(ScoreCache, CacheCounters, Protocol):
    """A cache that can say how it does, and be emptied, as the built-in ones can."""

    async def clear(self) -> int:
        """Forget everything, counts of hits and misses too; how many entries that were, as far as it knows."""
        ...


@runtime_checkable
class LastingCache(CountedCache, Protocol):
    """One that outlives its process, and so wants to hear what was answered in front of it."""

    def count_hits(self, number: int) -> None:
        """Count look-ups that found something before they came here; written down when it is convenient."""
        ...


class FrontedCache:
    """A small cache in memory in front of one that lasts.

    What the front answers is told to the lasting cache in two ways: hits are counted there, and an entry stays in
    front for a tenth of its lasting life at the most (and no longer than a day), so that what is used keeps being used
    behind too and does not grow old there.
    """

    def __init__(self, front: MemoryCache, back: ScoreCache) -> None:
        self._front = front
        self._back = back
        self._counted = back if isinstance(back, CountedCache) else None
        self._lasting = back if isinstance(back, LastingCache) else None

    @property
    def trouble(self) -> str:
        """What keeps the cache behind from its file or server; empty where nothing does, or where it does not say."""
        return str(getattr(self._back, "trouble", ""))

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """What either knows; what only the lasting one knew is in front from now on."""
        found = await self._front.get(keys)
        if found and self._lasting is not None:
            self._lasting.count_hits(len(found))
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            behind = await self._back.get(missing)
            await self._front.put(behind)
            found.update(behind)
        return found

    async def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep `entries` in both."""
        await self._front.put(entries)
        await self._back.put(entries)

    async def clear(self) -> int:
        """Forget everything, in both; how many entries the cache behind held."""
        in_front = await self._front.clear()
        return in_front if self._counted is None else await self._counted.clear()

    async def statistics(self) -> CacheStatistics:
        """The counts of the cache behind, with what was answered in front; the front's own where that one has none."""
        in_front = await self._front.statistics()
        if self._counted is None:
            return in_front
        counts = await self._counted.statistics()
        return counts if self._lasting is not None else replace(counts, hits=counts.hits + in_front.hits)

    async def close(self) -> None:
        """Close the cache behind."""
        await self._back.close()


def open_cache(settings: CacheSettings) -> MemoryCache:
    """The plugin behind ``tadasu.caches: memory``: it ends with the process."""
    return MemoryCache(
        Room(
            entries=settings.memory_entries,
            bytes=settings.max_mb * 1_000_000,
            seconds=settings.days * _SECONDS_A_DAY,
        )
    )


def fronted(back: ScoreCache, settings: CacheSettings) -> FrontedCache:
    """`back` with a cache in memory in front of it, of at most 32 MB."""
    share, longest = _FRONT_LIFE
    room = Room(
        entries=settings.memory_entries,
        bytes=min(settings.max_mb * 1_000_000, _FRONT_BYTES),
        seconds=min(settings.days * _SECONDS_A_DAY * share, longest),
    )
    return FrontedCache(MemoryCache(room, renewed=False), back)
