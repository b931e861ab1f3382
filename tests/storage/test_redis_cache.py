from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from tadasu.errors import SettingsInvalid
from tadasu.ports import CacheSettings
from tadasu.providers.registry import load_plugin
from tadasu.storage.redis_cache import RedisCache, open_cache
from tadasu.testing.conformance.cache import LastingCacheConformance, OpenCache
from tests.storage.valkey import Server

URL = "TADASU_TEST_REDIS_URL"
DAY = 86_400.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    shared.command("FLUSHALL")
    return shared


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that a test may stop."""
    with Server() as server:
        yield server


class TestRedisCache(LastingCacheConformance):
    @pytest.fixture
    def open_cache(self, server: Server) -> OpenCache:
        return lambda settings: RedisCache(server.url, seconds=DAY, timeout_s=5.0)


def _settings(monkeypatch: pytest.MonkeyPatch, url: str) -> CacheSettings:
    monkeypatch.setenv(URL, url)
    return CacheSettings(url_variable=URL)


async def test_it_is_the_plugin_redis_and_reads_its_address_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_plugin("tadasu.caches", "redis") is open_cache
    cache = open_cache(_settings(monkeypatch, server.url))
    await cache.put({"a": b"1"})
    assert server.command("GET", "tadasu:score:a") == b"$1\r\n1\r\n"
    await cache.close()


def test_an_address_that_is_missing_or_none_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL, raising=False)
    with pytest.raises(SettingsInvalid, match="not set") as missing:
        open_cache(CacheSettings(url_variable=URL))
    assert URL in str(missing.value)
    with pytest.raises(SettingsInvalid):
        open_cache(CacheSettings())
    with pytest.raises(SettingsInvalid) as wrong:
        open_cache(_settings(monkeypatch, "http://user:s3cret@host:1/"))
    assert "s3cret" not in str(wrong.value) + wrong.value.hint


async def test_an_entry_lives_for_its_days_after_its_last_use(server: Server) -> None:
    cache = RedisCache(server.url, seconds=100.0, timeout_s=5.0)
    await cache.put({"a": b"1"})
    server.command("PEXPIRE", "tadasu:score:a", "5000")
    await cache.get(["a"])
    left = int(server.command("PTTL", "tadasu:score:a").strip(b":\r\n"))
    assert 90_000 < left <= 100_000
    await cache.close()
    short = RedisCache(server.url, seconds=0.05, timeout_s=5.0)
    await short.put({"b": b"2"})
    await asyncio.sleep(0.1)
    assert await short.get(["b"]) == {}
    await short.close()


async def test_other_keys_of_the_server_are_left_alone(server: Server) -> None:
    server.command("SET", "a", "theirs")
    cache = RedisCache(server.url, seconds=DAY, timeout_s=5.0)
    assert await cache.get(["a"]) == {}
    await cache.put({"a": b"ours"})
    assert (await cache.statistics()).entries == 1
    assert await cache.clear() == 1
    assert server.command("GET", "a") == b"$6\r\ntheirs\r\n"
    await cache.close()


async def test_the_size_is_estimated_from_the_entries(server: Server) -> None:
    cache = RedisCache(server.url, seconds=DAY, timeout_s=5.0)
    await cache.put({f"key-{number}": bytes(1000) for number in range(200)})
    size = (await cache.statistics()).bytes
    assert 200 * 1000 < size < 200 * 2000
    await cache.close()


async def test_a_server_that_is_not_there_is_an_empty_cache_and_soon_not_even_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it, and it refuses
        cache = RedisCache(f"redis://user:s3cret@127.0.0.1:{taken.getsockname()[1]}/0", seconds=DAY)
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                await cache.put({"a": b"1"})
                assert await cache.get(["a"]) == {}
        assert len(caplog.records) == 1
        assert "cannot be used" in caplog.text
        assert "s3cret" not in caplog.text + cache.trouble
        assert cache.trouble
        began = time.perf_counter()
        for _ in range(100):
            assert await cache.get(["a"]) == {}
        assert time.perf_counter() - began < 0.2
        assert (await cache.statistics()).entries == 0
        assert await cache.clear() == 0
        await cache.close()


async def test_a_frozen_server_costs_a_short_wait_once(own: Server) -> None:
    cache = RedisCache(own.url, seconds=DAY, timeout_s=0.25)
    await cache.put({"a": b"1"})
    os.kill(own.pid, signal.SIGSTOP)
    try:
        began = time.perf_counter()
        assert await cache.get(["a"]) == {}
        assert time.perf_counter() - began < 2.0
        began = time.perf_counter()
        assert await cache.get(["a"]) == {}
        assert time.perf_counter() - began < 0.1
    finally:
        os.kill(own.pid, signal.SIGCONT)
    await cache.close()


async def test_a_server_that_comes_back_is_used_again(own: Server) -> None:
    cache = RedisCache(own.url, seconds=DAY, timeout_s=5.0, pause_s=0.05)
    await cache.put({"a": b"1"})
    own.stop()
    assert await cache.get(["a"]) == {}
    own.start()
    await asyncio.sleep(0.1)
    await cache.put({"a": b"2"})
    assert await cache.get(["a"]) == {"a": b"2"}
    assert cache.trouble == ""
    await cache.close()


async def test_a_restart_in_between_goes_unnoticed(own: Server) -> None:
    cache = RedisCache(own.url, seconds=DAY, timeout_s=5.0)
    await cache.put({"a": b"1"})
    own.stop()
    own.start()
    await cache.put({"a": b"2"})
    assert await cache.get(["a"]) == {"a": b"2"}
    await cache.close()


async def test_a_full_server_takes_nothing_and_fails_nobody(own: Server) -> None:
    cache = RedisCache(own.url, seconds=DAY, timeout_s=5.0, pause_s=0.0)
    await cache.put({"a": b"1"})
    own.command("CONFIG", "SET", "maxmemory", "1")
    await cache.put({"b": b"2"})
    own.command("CONFIG", "SET", "maxmemory", "0")
    assert await cache.get(["a", "b"]) == {"a": b"1"}
    await cache.close()


async def test_a_key_of_another_kind_is_an_empty_place(server: Server) -> None:
    server.command("LPUSH", "tadasu:score:a", "x")
    cache = RedisCache(server.url, seconds=DAY, timeout_s=5.0)
    assert await cache.get(["a"]) == {}
    await cache.close()


def test_every_event_loop_gets_connections_of_its_own(server: Server) -> None:
    cache = RedisCache(server.url, seconds=DAY, timeout_s=5.0)

    async def put_and_close() -> None:
        await cache.put({"a": b"1"})
        await cache.close()

    async def read() -> dict[str, bytes]:
        found = await cache.get(["a"])
        await cache.close()
        return found

    runs: list[Callable[[], object]] = [lambda: asyncio.run(put_and_close()), lambda: asyncio.run(read())]
    assert [run() for run in runs] == [None, {"a": b"1"}]
