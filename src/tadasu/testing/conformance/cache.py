"""What every score cache does alike, as a suite of tests.

::

    class TestMyCache(CacheConformance):
        @pytest.fixture
        def open_cache(self, tmp_path):
            return lambda settings: MyCache(replace(settings, file=tmp_path / "scores.db"))
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import pytest

from tadasu.ports import CacheSettings
from tadasu.runtime.cache import CountedCache, LastingCache

OpenCache: TypeAlias = Callable[[CacheSettings], CountedCache]
"""Opens the cache: the same one for every call within a test, an empty one in every test."""


class CacheConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `open_cache`."""

    @pytest.fixture
    def open_cache(self) -> OpenCache:
        """Override this."""
        raise NotImplementedError("give the suite an open_cache fixture")

    @pytest.fixture
    async def cache(self, open_cache: OpenCache) -> AsyncIterator[CountedCache]:
        """One that is open for the whole test."""
        cache = open_cache(CacheSettings())
        yield cache
        await cache.close()

    async def test_a_new_cache_knows_nothing(self, cache: CountedCache) -> None:
        assert await cache.get(["a", "b"]) == {}
        assert await cache.get([]) == {}
        await cache.put({})
        assert await cache.get(["a"]) == {}

    async def test_what_was_put_is_found_and_nothing_else(self, cache: CountedCache) -> None:
        await cache.put({"a": b"1", "b": b"", "c": bytes(range(256))})
        assert await cache.get(["c", "x", "a"]) == {"a": b"1", "c": bytes(range(256))}
        assert await cache.get(["b", "b"]) == {"b": b""}

    async def test_the_last_value_counts(self, cache: CountedCache) -> None:
        await cache.put({"a": b"old", "b": b"kept"})
        await cache.put({"a": b"a much longer new value"})
        assert await cache.get(["a", "b"]) == {"a": b"a much longer new value", "b": b"kept"}

    async def test_any_text_is_a_key(self, cache: CountedCache) -> None:
        keys = ["", " ", "保証期間", "a" * 5000, "x'; --", "%_*?[a]", "\x00", "A", "a", "é", "e\u0301"]
        entries = {key: str(position).encode() for position, key in enumerate(keys)}
        await cache.put(entries)
        assert await cache.get(keys) == entries

    async def test_many_at_once(self, cache: CountedCache) -> None:
        entries = {f"key-{number}": number.to_bytes(4, "big") * 10 for number in range(3000)}
        await cache.put(entries)
        assert await cache.get([*entries, "missing"]) == entries

    async def test_many_tasks_at_once(self, cache: CountedCache) -> None:
        async def work(number: int) -> bool:
            entries = {f"{number}-{place}": f"{number}.{place}".encode() for place in range(20)}
            await cache.put(entries)
            return await cache.get(list(entries)) == entries

        assert all(await asyncio.gather(*[work(number) for number in range(20)]))

    @pytest.mark.parametrize("seed", range(3))
    async def test_it_is_a_dictionary_while_there_is_room(self, cache: CountedCache, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - the same tests again
        names = ["a", "A", "b", "保証", "ほしょう", "ｶﾀｶﾅ", "カタカナ", "long " * 50]
        model: dict[str, bytes] = {}
        for _ in range(30):
            if chance.random() < 0.5:
                batch = {name: chance.randbytes(chance.randrange(60)) for name in chance.sample(names, 3)}
                await cache.put(batch)
                model.update(batch)
            else:
                asked = chance.choices(names, k=4)
                assert await cache.get(asked) == {name: model[name] for name in asked if name in model}
        assert (await cache.statistics()).entries == len(model)

    async def test_hits_and_misses_are_counted_once_a_key(self, cache: CountedCache) -> None:
        before = await cache.statistics()
        await cache.put({"a": b"1", "b": b"2"})
        await cache.get(["a", "b", "c", "a"])
        await cache.get(["d"])
        after = await cache.statistics()
        assert (after.hits - before.hits, after.misses - before.misses) == (2, 2)
        assert after.entries == before.entries + 2
        assert after.bytes > before.bytes

    async def test_a_cleared_cache_is_as_new(self, cache: CountedCache) -> None:
        await cache.put({"a": b"1", "b": b"2"})
        await cache.get(["a", "x"])
        assert await cache.clear() == 2
        assert await cache.get(["a", "b"]) == {}
        counts = await cache.statistics()
        assert (counts.hits, counts.misses, counts.entries) == (0, 2, 0)
        await cache.put({"a": b"3"})
        assert await cache.get(["a"]) == {"a": b"3"}
        assert await cache.clear() == 1
        assert await cache.clear() == 0

    async def test_closing_twice_is_no_mistake(self, open_cache: OpenCache) -> None:
        cache = open_cache(CacheSettings())
        await cache.put({"a": b"1"})
        await cache.close()
        await cache.close()

    async def test_a_late_asker_finds_it_closed_and_comes_to_no_harm(self, open_cache: OpenCache) -> None:
        cache = open_cache(CacheSettings())
        await cache.close()
        assert await cache.get(["a"]) == {}
        await cache.put({"a": b"1"})
        await cache.close()


class LastingCacheConformance(CacheConformance):
    """The same for a cache that outlives its process."""

    async def test_entries_and_counts_outlive_the_one_who_opened_it(self, open_cache: OpenCache) -> None:
        first = open_cache(CacheSettings())
        assert isinstance(first, LastingCache)
        await first.put({"a": b"1", "b": b"2"})
        await first.get(["a", "c"])
        first.count_hits(5)
        await first.close()
        second = open_cache(CacheSettings())
        assert isinstance(second, LastingCache)
        assert await second.get(["a", "b"]) == {"a": b"1", "b": b"2"}
        counts = await second.statistics()
        assert (counts.hits, counts.misses, counts.entries) == (8, 1, 2)
        await second.close()

    async def test_two_who_have_it_open_see_what_the_other_puts(self, open_cache: OpenCache) -> None:
        one, other = open_cache(CacheSettings()), open_cache(CacheSettings())
        await one.put({"a": b"1"})
        assert await other.get(["a"]) == {"a": b"1"}
        await other.put({"a": b"2", "b": b"3"})
        assert await one.get(["a", "b"]) == {"a": b"2", "b": b"3"}
        await one.close()
        await other.close()
