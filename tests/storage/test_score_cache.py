from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tadasu.errors import SettingsInvalid
from tadasu.ports import CacheSettings
from tadasu.providers.registry import load_plugin
from tadasu.runtime.world import FixedWorld
from tadasu.storage.score_cache import SqliteCache, open_cache
from tadasu.testing.conformance.cache import LastingCacheConformance, OpenCache

DAY = 86_400.0


class TestSqliteCache(LastingCacheConformance):
    @pytest.fixture
    def open_cache(self, tmp_path: Path) -> OpenCache:
        return lambda settings: open_cache(replace(settings, file=tmp_path / "deep" / "scores.db"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scores.db"


def cache_at(path: Path, *, max_bytes: int = 100_000_000, world: FixedWorld | None = None) -> SqliteCache:
    return SqliteCache(path, max_bytes=max_bytes, seconds=100 * DAY, clock=world, pause_s=0.0)


def sizes_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def test_it_is_the_plugin_sqlite_and_needs_a_file() -> None:
    assert load_plugin("tadasu.caches", "sqlite") is open_cache
    with pytest.raises(SettingsInvalid):
        open_cache(CacheSettings())


async def test_opening_makes_no_file_until_something_is_asked(path: Path) -> None:
    cache = cache_at(path)
    await cache.close()
    assert sizes_of(path) == 0


# --- age and size --------------------------------------------------------------------------------


async def test_what_is_not_used_for_its_days_is_gone(path: Path) -> None:
    world = FixedWorld()
    cache = cache_at(path, world=world)
    await cache.put({"used": b"1", "idle": b"2"})
    for _ in range(3):
        world.advance(50 * DAY)
        assert await cache.get(["used"]) == {"used": b"1"}
    assert await cache.get(["idle"]) == {}
    await cache.put({"new": b"3"})
    assert (await cache.statistics()).entries == 2
    await cache.close()


async def test_a_use_is_written_down_over_processes(path: Path) -> None:
    world = FixedWorld()
    for _ in range(4):  # each one opens it, looks something up, and closes it
        cache = cache_at(path, world=world)
        if not await cache.get(["a"]):
            await cache.put({"a": b"1"})
        await cache.close()
        world.advance(60 * DAY)
    cache = cache_at(path, world=world)
    assert (await cache.get(["a"]), (await cache.statistics()).misses) == ({"a": b"1"}, 1)
    await cache.close()


async def test_the_longest_unused_go_first_and_the_file_stays_within_its_size(path: Path) -> None:
    world = FixedWorld()
    limit = 1_000_000
    cache = cache_at(path, max_bytes=limit, world=world)
    chance = random.Random(1)
    favourites = {f"favourite-{number}": chance.randbytes(60) for number in range(50)}
    await cache.put(favourites)
    for batch in range(60):
        world.advance(3 * DAY)
        await cache.get(list(favourites))
        await cache.put({f"{batch}-{number:036}": chance.randbytes(60) for number in range(200)})
        assert (await cache.statistics()).bytes <= limit
    assert await cache.get(list(favourites)) == favourites
    latest = await cache.get([f"59-{number:036}" for number in range(200)])
    assert len(latest) == 200
    assert await cache.get([f"0-{number:036}" for number in range(200)]) == {}
    counts = await cache.statistics()
    assert counts.bytes > 0.85 * limit
    await cache.close()
    assert sizes_of(path) < 1.15 * limit


async def test_an_entry_that_is_a_large_part_of_the_room_is_not_kept(path: Path) -> None:
    cache = cache_at(path, max_bytes=10_000)
    await cache.put({"large": bytes(2000), "small": b"1"})
    assert await cache.get(["large", "small"]) == {"small": b"1"}
    await cache.close()


async def test_clearing_gives_back_the_room_on_the_disk(path: Path) -> None:
    cache = cache_at(path)
    await cache.put({f"{number}": bytes(1000) for number in range(2000)})
    assert sizes_of(path) > 2_000_000
    assert await cache.clear() == 2000
    assert sizes_of(path) < 100_000
    await cache.close()


async def test_two_keys_in_one_place_are_never_taken_for_each_other(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tadasu.storage.score_file._place", lambda key: 7)
    cache = cache_at(path)
    await cache.put({"a": b"1"})
    assert await cache.get(["b"]) == {}
    await cache.put({"b": b"2"})
    assert await cache.get(["a"]) == {}
    assert await cache.get(["b"]) == {"b": b"2"}
    assert (await cache.statistics()).entries == 1
    await cache.close()


# --- damage and trouble --------------------------------------------------------------------------


STATEMENTS = {
    "no tables": "DROP TABLE scores; DROP TABLE totals;",
    "no totals": "DELETE FROM totals;",
    "totals without numbers": "UPDATE totals SET bytes = NULL;",
    "totals that do not fit": "DELETE FROM scores; UPDATE totals SET entries = 5, bytes = 999999999999;",
}


def spoil(path: Path, damage: str) -> None:
    whole = path.read_bytes()
    if damage in STATEMENTS:
        connection = sqlite3.connect(path)
        connection.executescript(STATEMENTS[damage])
        connection.close()
    else:
        pages = whole[:100] + os.urandom(len(whole) - 100)
        path.write_bytes({"garbage": os.urandom(8192), "empty": b"", "cut short": whole[:20_000]}.get(damage, pages))


def overwrite(path: Path) -> None:
    """Random bytes in the place of what others have open, without changing which file it is."""
    for file in path.parent.glob(f"{path.name}*"):
        length = file.stat().st_size
        with file.open("r+b") as opened:
            opened.write(os.urandom(length))


def content(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    ["garbage", "empty", "cut short", "pages overwritten", *STATEMENTS],
)
async def test_a_damaged_file_is_thrown_away_and_made_anew(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache = cache_at(path)
    await cache.put({f"key-{number}": bytes(100) for number in range(2000)})
    await cache.close()
    spoil(path, damage)
    with caplog.at_level(logging.WARNING):
        again = cache_at(path)
        await again.get([f"key-{number}" for number in range(2000)])
        await again.put({"new": b"1"})
        await again.put({"new": b"1"})
        assert await again.get(["new"]) == {"new": b"1"}
        assert again.trouble == ""
        await again.close()
    assert ("damaged" in caplog.text) is (damage != "empty")


async def test_damage_while_it_is_open_is_survived(path: Path) -> None:
    cache = cache_at(path)
    entries = {f"key-{number}": bytes(100) for number in range(5000)}
    await cache.put(entries)
    overwrite(path)
    for _ in range(3):
        await cache.get(list(entries))
        await cache.put({"new": b"1"})
    assert await cache.get(["new"]) == {"new": b"1"}
    await cache.close()


async def test_a_file_that_is_deleted_meanwhile_is_made_anew(path: Path) -> None:
    cache, other = cache_at(path), cache_at(path)
    await cache.put({"a": b"1"})
    assert await other.get(["a"]) == {"a": b"1"}
    for file in path.parent.glob("scores.db*"):
        file.unlink()
    assert await other.get(["a"]) == {}
    await cache.put({"b": b"2"})
    assert await other.get(["b"]) == {"b": b"2"}
    await cache.close()
    await other.close()
    third = cache_at(path)
    assert await third.get(["a", "b"]) == {"b": b"2"}
    await third.close()


async def test_a_file_of_another_version_is_made_anew(path: Path) -> None:
    cache = cache_at(path)
    await cache.put({"a": b"1"})
    await cache.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    again = cache_at(path)
    assert await again.get(["a"]) == {}
    await again.put({"a": b"2"})
    assert await again.get(["a"]) == {"a": b"2"}
    await again.close()


async def test_somebody_elses_database_is_left_alone(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE runs (id); INSERT INTO runs VALUES (1);")
    connection.close()
    before = content(path)
    cache = cache_at(path)
    await cache.put({"a": b"1"})
    assert await cache.get(["a"]) == {}
    assert "no score cache" in cache.trouble
    await cache.close()
    assert content(path) == before
    assert "cannot be used" in caplog.text


async def test_a_place_where_no_file_can_be_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    cache = cache_at(tmp_path / "file" / "scores.db")
    await cache.put({"a": b"1"})
    assert await cache.get(["a"]) == {}
    assert await cache.clear() == 0
    assert (await cache.statistics()).entries == 0
    assert cache.trouble
    await cache.close()


async def test_after_trouble_it_is_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "later"
    blocked.write_text("in the way", encoding="utf-8")
    cache = cache_at(blocked / "scores.db")
    await cache.put({"a": b"1"})
    assert cache.trouble
    blocked.unlink()
    await cache.put({"a": b"1"})
    assert await cache.get(["a"]) == {"a": b"1"}
    assert cache.trouble == ""
    await cache.close()


async def test_one_who_holds_the_file_costs_a_short_wait_and_no_look_up(path: Path) -> None:
    cache = SqliteCache(path, max_bytes=1_000_000, seconds=DAY, busy_seconds=0.1)
    await cache.put({"a": b"1"})
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.perf_counter()
    put = asyncio.create_task(cache.put({"b": b"2"}))
    assert await cache.get(["a"]) == {"a": b"1"}
    await put
    assert time.perf_counter() - began < 3.0
    assert "locked" in cache.trouble
    holder.execute("ROLLBACK")
    holder.close()
    await cache.put({"b": b"3"})
    assert cache.trouble == ""
    assert await cache.get(["b"]) == {"b": b"3"}
    await cache.close()


# --- other processes -----------------------------------------------------------------------------

PROGRAM = """
import asyncio, os, resource, sys
from pathlib import Path
from tadasu.storage.score_cache import SqliteCache
path = Path(sys.argv[1])
cache = SqliteCache(path, max_bytes=50_000_000, seconds=8_640_000.0, busy_seconds=20.0, pause_s=0.0)
def value(name, number):
    return f"{name}-{number}-".encode() * 20
"""


def program(text: str, path: Path, *arguments: str) -> subprocess.Popen[str]:
    source = PROGRAM + textwrap.dedent(text)
    return subprocess.Popen(
        [sys.executable, "-c", source, str(path), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def value(name: str, number: int) -> bytes:
    return f"{name}-{number}-".encode() * 20


async def test_two_processes_write_at_once_and_lose_nothing(path: Path) -> None:
    text = """
    async def main():
        for start in range(0, 300, 10):
            await cache.put({f"{sys.argv[2]}-{n}": value(sys.argv[2], n) for n in range(start, start + 10)})
            await cache.get([f"{sys.argv[2]}-{n}" for n in range(start, start + 10)])
        await cache.close()
    asyncio.run(main())
    """
    writers = [program(text, path, name) for name in ("one", "two")]
    for writer in writers:
        _, trouble = writer.communicate(timeout=60)
        assert (writer.returncode, trouble) == (0, "")
    cache = cache_at(path)
    expected = {f"{name}-{number}": value(name, number) for name in ("one", "two") for number in range(300)}
    assert await cache.get(list(expected)) == expected
    counts = await cache.statistics()
    assert (counts.entries, counts.hits, counts.misses) == (600, 1200, 0)
    await cache.close()


async def test_a_process_killed_while_it_writes_leaves_a_sound_file(path: Path) -> None:
    text = """
    async def main():
        number = 0
        while True:
            await cache.put({f"key-{n}": value("key", n) for n in range(number, number + 50)})
            number += 50
            print(number, flush=True)
    asyncio.run(main())
    """
    written = 0
    for rounds in range(3):
        writer = program(text, path)
        assert writer.stdout is not None
        for _ in range(3 + rounds):
            written = max(written, int(writer.stdout.readline()))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert writer.returncode == -signal.SIGKILL
    cache = cache_at(path)
    expected = {f"key-{number}": value("key", number) for number in range(written)}
    assert await cache.get(list(expected)) == expected
    counts = await cache.statistics()
    await cache.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert connection.execute("SELECT count(*) FROM scores").fetchone()[0] == counts.entries >= written
    connection.close()


async def test_a_full_disk_is_done_without(path: Path) -> None:
    text = """
    async def main():
        await cache.put({"a": b"1"})
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 60_000, -1))
        for start in range(0, 3000, 100):
            await cache.put({f"key-{n}": value("key", n) for n in range(start, start + 100)})
        print(bool(cache.trouble), await cache.get(["a"]))
        await cache.close()
    asyncio.run(main())
    """
    writer = program(text, path)
    said, trouble = writer.communicate(timeout=60)
    assert said.strip() == "True {'a': b'1'}"
    assert "Traceback" not in trouble
    cache = cache_at(path)
    assert await cache.get(["a"]) == {"a": b"1"}
    await cache.put({"b": b"2"})
    assert await cache.get(["b"]) == {"b": b"2"}
    await cache.close()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs to become somebody without rights")
async def test_a_folder_without_rights_is_done_without(path: Path, tmp_path: Path) -> None:
    cache = cache_at(path)
    await cache.put({"a": b"1"})
    await cache.close()
    for folder in tmp_path.parents[:3]:
        if folder != Path("/"):
            folder.chmod(0o755)
    text = """
    os.setuid(65534)
    async def main():
        await cache.put({"b": b"2"})
        await cache.get(["a", "b"])
        print(await cache.get(["b"]), bool(cache.trouble))
        await cache.close()
    asyncio.run(main())
    """
    said, trouble = program(text, path).communicate(timeout=60)
    assert said.strip() == "{} True", trouble
    assert "Traceback" not in trouble
    again = cache_at(path)
    assert await again.get(["a", "b"]) == {"a": b"1"}
    await again.close()


async def test_a_clock_that_is_wrong_loses_nothing_else(path: Path) -> None:
    future = FixedWorld(start=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=40_000))
    cache = cache_at(path, world=future)
    await cache.put({"a": b"1"})
    await cache.close()
    now = cache_at(path, world=FixedWorld())
    assert await now.get(["a"]) == {"a": b"1"}
    await now.close()


async def test_rows_of_another_kind_are_unknown(path: Path) -> None:
    cache = cache_at(path)
    await cache.put({"a": b"1", "b": b"2", "c": b"3"})
    connection = sqlite3.connect(path)
    connection.execute("UPDATE scores SET value = 'text' WHERE key = x'61'")
    connection.execute("UPDATE scores SET used = 'never' WHERE key = x'62'")
    connection.commit()
    connection.close()
    assert await cache.get(["a", "b", "c"]) == {"c": b"3"}
    await cache.close()
