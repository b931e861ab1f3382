from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.ports import CacheSettings
from tadasu.runtime.cache import CountedCache, FrontedCache, MemoryCache, Room, fronted, open_cache
from tadasu.runtime.world import FixedWorld
from tadasu.testing.conformance.cache import CacheConformance, OpenCache

WIDE = Room(entries=1000, bytes=10_000_000, seconds=1e9)


class TestMemoryCache(CacheConformance):
    @pytest.fixture
    def open_cache(self) -> OpenCache:
        kept: list[MemoryCache] = []

        def open_one(settings: CacheSettings) -> CountedCache:
            kept.append(open_cache(settings))
            return kept[0]

        return open_one


class TestFrontedCache(CacheConformance):
    @pytest.fixture
    def open_cache(self) -> OpenCache:
        back = open_cache(CacheSettings())
        return lambda settings: fronted(back, settings)


def at_once(work: Coroutine[None, None, None]) -> None:
    """Run what never waits without an event loop: a cache in memory makes nobody wait."""
    with pytest.raises(StopIteration):
        work.send(None)


_actions = st.lists(
    st.one_of(
        st.tuples(st.just("get"), st.lists(st.sampled_from("abcdefgh"), max_size=4)),
        st.tuples(st.just("put"), st.lists(st.sampled_from("abcdefgh"), max_size=4)),
    ),
    max_size=15,
)


@settings(max_examples=40)
@given(_actions, st.integers(1, 6))
def test_the_least_recently_used_go_first(actions: list[tuple[str, list[str]]], room: int) -> None:
    async def scene() -> None:
        cache = MemoryCache(Room(entries=room, bytes=10_000_000, seconds=1e9))
        model: dict[str, bytes] = {}  # in order of use
        for step, (kind, keys) in enumerate(actions):
            if kind == "get":
                found = await cache.get(keys)
                assert found == {key: model[key] for key in keys if key in model}
                for key in dict.fromkeys(keys):
                    if key in model:
                        model[key] = model.pop(key)
            else:
                entries = {key: f"{key}{step}".encode() for key in keys}
                await cache.put(entries)
                for key, value in entries.items():
                    model.pop(key, None)
                    model[key] = value
                while len(model) > room:
                    del model[next(iter(model))]
        assert (await cache.statistics()).entries == len(model)
        assert await cache.get(list("abcdefgh")) == model

    at_once(scene())


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2000)), max_size=20), st.integers(100, 5000))
def test_bytes_stay_within_the_room_and_are_counted_right(puts: list[tuple[str, int]], room: int) -> None:
    async def scene() -> None:
        cache = MemoryCache(Room(entries=1000, bytes=room, seconds=1e9))
        for key, length in puts:
            await cache.put({key: bytes(length)})
            counts = await cache.statistics()
            assert counts.bytes <= room
            held = await cache.get(list("abcdef"))
            assert counts.entries == len(held)
            assert counts.bytes == sum(len(name) + len(value) + 240 for name, value in held.items())
            assert (key in held) is (length + 241 <= room)

    at_once(scene())


async def test_what_is_not_used_for_long_goes_and_use_lengthens_a_life() -> None:
    world = FixedWorld()
    cache = MemoryCache(Room(entries=10, bytes=100_000, seconds=100.0), clock=world)
    await cache.put({"used": b"1", "idle": b"2"})
    world.advance(80)
    assert await cache.get(["used"]) == {"used": b"1"}
    world.advance(80)
    assert await cache.get(["used", "idle"]) == {"used": b"1"}
    world.advance(101)
    assert await cache.get(["used"]) == {}
    assert (await cache.statistics()).entries == 0


async def test_threads_may_share_it() -> None:
    cache = MemoryCache(Room(entries=50, bytes=1_000_000, seconds=1e9))

    def work(name: int) -> None:
        async def scene() -> None:
            for step in range(300):
                await cache.put({f"{name}-{step % 20}": b"x" * (step % 7)})
                await cache.get([f"{name}-{place}" for place in range(20)])

        asyncio.run(scene())

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = await cache.statistics()
    assert counts.entries <= 50
    assert counts.hits + counts.misses == 4 * 300 * 20


def test_a_room_without_room_is_refused() -> None:
    for room in ({"entries": 0}, {"bytes": 0}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match="room"):
            Room(**{"entries": 1, "bytes": 1, "seconds": 1.0, **room})  # type: ignore[arg-type]


class Back(MemoryCache):
    """A lasting cache that remembers what it was asked and told."""

    def __init__(self) -> None:
        super().__init__(WIDE)
        self.asked: list[list[str]] = []
        self.told = 0
        self.closed = False

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        self.asked.append(list(keys))
        return await super().get(keys)

    def count_hits(self, number: int) -> None:
        self.told += number

    async def close(self) -> None:
        self.closed = True


async def test_memory_is_asked_first_and_hits_there_are_told() -> None:
    back = Back()
    cache = FrontedCache(MemoryCache(WIDE), back)
    await back.put({"a": b"1"})
    assert await cache.get(["a", "b"]) == {"a": b"1"}
    assert await cache.get(["a", "b"]) == {"a": b"1"}
    assert back.asked == [["a", "b"], ["b"]]
    assert back.told == 1
    await cache.put({"b": b"2"})
    assert await cache.get(["b", "a"]) == {"b": b"2", "a": b"1"}
    assert len(back.asked) == 2
    assert await back.get(["b"]) == {"b": b"2"}
    await cache.close()
    assert back.closed


async def test_what_stays_in_front_is_used_behind_too_now_and_then() -> None:
    world, back = FixedWorld(), Back()
    cache = FrontedCache(MemoryCache(Room(entries=10, bytes=100_000, seconds=100.0), clock=world, renewed=False), back)
    await cache.put({"a": b"1"})
    for _ in range(10):
        world.advance(30)
        assert await cache.get(["a"]) == {"a": b"1"}
    assert 2 <= len(back.asked) <= 3


async def test_clearing_clears_both() -> None:
    back = Back()
    cache = FrontedCache(MemoryCache(WIDE), back)
    await cache.put({"a": b"1"})
    assert await cache.clear() == 1
    assert await cache.get(["a"]) == {}
    assert (await cache.statistics()).entries == 0


async def test_a_plain_cache_behind_is_enough() -> None:
    class Plain:
        def __init__(self) -> None:
            self.held: dict[str, bytes] = {}

        async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
            return {key: self.held[key] for key in keys if key in self.held}

        async def put(self, entries: Mapping[str, bytes]) -> None:
            self.held.update(entries)

        async def close(self) -> None:
            self.held.clear()

    cache = fronted(Plain(), CacheSettings())
    await cache.put({"a": b"1"})
    assert await cache.get(["a"]) == {"a": b"1"}
    assert (await cache.statistics()).hits == 1
    assert await cache.clear() == 1
