"""Scores that outlive the process: one SQLite file of its own, which may be deleted at any time.

Nothing here ever fails its caller. A file that is damaged is thrown away and made anew; where the disk is full, the
folder read-only or the file held by another process for too long, the cache does without and tries again later.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from tadasu.errors import SettingsInvalid
from tadasu.ports import CacheSettings, CacheStatistics, Clock
from tadasu.runtime.world import SystemClock
from tadasu.storage.score_file import Batch, ScoreFile

T = TypeVar("T")

_SECONDS_A_DAY: Final = 86_400.0
_PAUSE_S: Final = 30.0
_NOTED_KEYS: Final = 500
_NOTED_LOOKUPS: Final = 10_000
_NOTED_S: Final = 60.0
"""Notes are written down beyond so many keys or look-ups, or seconds; before, they ride along with entries."""
_STEPS: Final = 50.0
"""A use is worth writing down once in so many parts of a life: it decides what goes only after all of them."""


class SqliteCache:
    """ports.ScoreCache and ports.CacheCounters in one file, for any number of processes, threads and event loops.

    Reading and writing have a thread and a connection each, so that a look-up never waits for another process that
    writes. Look-ups do not write: what was used is noted, and written down with the next entries. A process that is
    killed loses these notes and its last counts, nothing else.

    Args:
        path: the file; it and its folder are made when they are first needed.
        max_bytes: about what the file takes on the disk at the most; what was unused longest goes first.
        seconds: what was not used for so long is not found any more, and goes.
        clock: tells the time of a use.
        busy_seconds: how long a writing waits for another process before it is given up.
        pause_s: how long the cache does without the file after trouble with it.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int,
        seconds: float,
        clock: Clock | None = None,
        busy_seconds: float = 1.0,
        pause_s: float = _PAUSE_S,
    ) -> None:
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._clock = clock or SystemClock()
        self._reading = _Worker("tadasu-scores-read", ScoreFile(path, busy_seconds=busy_seconds, pause_s=pause_s))
        self._writing = _Worker("tadasu-scores-write", ScoreFile(path, busy_seconds=busy_seconds, pause_s=pause_s))
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self._hits = 0
        self._misses = 0
        self._written = 0.0

    @property
    def trouble(self) -> str:
        """What keeps the cache from its file; empty where nothing does."""
        return self._reading.file.trouble or self._writing.file.trouble

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """What is known of `keys` and was used within the last days; damaged and unreachable files know nothing."""
        wanted = list(dict.fromkeys(keys))
        if not wanted or self._writing.closed:
            return {}
        now = self._clock.now().timestamp()
        rows = await self._reading.run(lambda file: file.read(wanted))
        found = {key: value for key, (value, used) in rows.items() if used >= int(now - self._seconds)}
        stale = now - self._seconds / _STEPS
        with self._lock:
            self._used.update(key for key in found if rows[key][1] < stale)
            self._hits += len(found)
            self._misses += len(wanted) - len(found)
            much = len(self._used) >= _NOTED_KEYS or self._hits + self._misses >= _NOTED_LOOKUPS
            late = bool(self._used) and abs(now - self._written) >= _NOTED_S
        if much or late:
            await self._write({})
        return found

    async def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep `entries`; one that alone would take a tenth of the room is not kept."""
        fitting = {key: value for key, value in entries.items() if len(key) + len(value) <= self._max_bytes // 10}
        if fitting and not self._writing.closed:
            await self._write(fitting)

    def count_hits(self, number: int) -> None:
        """Count look-ups that found something before they came here."""
        with self._lock:
            self._hits += number

    async def clear(self) -> int:
        """Forget everything, for all who have the file open; how many entries that were."""
        self._noted()
        return await self._writing.run(lambda file: file.clear())

    async def statistics(self) -> CacheStatistics:
        """Counts of everybody who uses the file; those of other processes up to their last writing."""
        await self._write({})
        return await self._writing.run(lambda file: file.statistics())

    async def close(self) -> None:
        """Write down what was noted, and give back the file."""
        if not self._writing.closed:
            await self._write({})
            await self._reading.close()
            await self._writing.close()

    def _noted(self) -> tuple[set[str], int, int]:
        with self._lock:
            noted = self._used, self._hits, self._misses
            self._used, self._hits, self._misses = set(), 0, 0
        return noted

    async def _write(self, entries: Mapping[str, bytes]) -> None:
        used, hits, misses = self._noted()
        if not (entries or used or hits or misses):
            return
        self._written = self._clock.now().timestamp()
        batch = Batch(entries, used, hits, misses, now=self._written)
        await self._writing.run(lambda file: file.write(batch, max_bytes=self._max_bytes, seconds=self._seconds))


class _Worker:
    """A thread with the file, so that nothing that waits for a disk or a lock is on the event loop."""

    def __init__(self, name: str, file: ScoreFile) -> None:
        self.file = file
        self.closed = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, work: Callable[[ScoreFile], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, self.file)

    async def close(self) -> None:
        self.closed = True
        await self.run(ScoreFile.close)
        self._executor.shutdown(wait=False)


def open_cache(settings: CacheSettings) -> SqliteCache:
    """The plugin behind ``tadasu.caches: sqlite``; raises SettingsInvalid where no file is named."""
    if settings.file is None:
        raise SettingsInvalid(where="cache", key="cache.engine", reason="sqlite needs a file, and none is named")
    return SqliteCache(settings.file, max_bytes=settings.max_mb * 1_000_000, seconds=settings.days * _SECONDS_A_DAY)
