"""What only the SQLite store has to prove: other processes, sudden ends, and files that are not what they should be."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.retrieval.stores import matrix, matrix_file
from tadasu.answering.retrieval.stores.sqlite import SqliteStore, open_store
from tadasu.core.documents import Reader, Scope
from tadasu.errors import StoreBusy, StoreDamaged, StoreIncompatible, StoreUnwritable
from tadasu.ports import IndexedPassage
from tadasu.testing.conformance.corpus import SampleDocument, unit_vectors

DIMENSIONS = 16
QUERY = unit_vectors(1, dimensions=DIMENSIONS, seed="query")[0]


def opened(path: Path, *, encoder: str = "e/1", analyzer: str = "a/1", busy_seconds: float = 5.0) -> SqliteStore:
    return open_store(path, encoder_id=encoder, dimensions=DIMENSIONS, analyzer_id=analyzer, busy_seconds=busy_seconds)


def sample(number: int, *, passages: int = 3, seed: int = 0) -> SampleDocument:
    return SampleDocument(f"{number}.md", (("common", f"word{number}", f"seed{seed}"),) * passages, seed=seed)


async def put(store: SqliteStore, *samples: SampleDocument) -> None:
    for each in samples:
        await store.put(*each.built(dimensions=DIMENSIONS))


async def found(store: SqliteStore, k: int = 1000) -> list[tuple[str, float | None]]:
    return [(hit.passage_id, hit.score) for hit in await store.dense(QUERY, k=k, scope=Scope())]


# --- other processes -----------------------------------------------------------------------------

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.answering.retrieval.test_sqlite_store import opened, put, sample

async def main(path, job):
    store = opened(Path(path))
    if job == "replace":
        for seed in range(1, 40):
            await put(store, sample(0, passages=25, seed=seed))
    elif job == "grow":
        for number in range(200):
            await put(store, sample(number))
            print(number, flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def writer(path: Path, job: str) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[3]
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), job], cwd=root, stdout=subprocess.PIPE)


async def test_a_reader_sees_all_of_a_document_or_nothing_while_another_process_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    store = opened(path)
    await put(store, sample(0, passages=25))
    versions = {
        frozenset(item.passage.id for item in sample(0, passages=25, seed=seed).built(dimensions=DIMENSIONS)[1])
        for seed in range(40)
    }
    seen: set[frozenset[str]] = set()
    with writer(path, "replace") as process:
        while process.poll() is None:
            for hits in (
                await store.dense(QUERY, k=99, scope=Scope()),
                await store.lexical(["common"], k=99, scope=Scope()),
            ):
                ids = frozenset(hit.passage_id for hit in hits)
                assert ids in versions
                seen.add(ids)
            await asyncio.sleep(0)
        assert process.returncode == 0
    last = sample(0, passages=25, seed=39).built(dimensions=DIMENSIONS)[1]
    assert {id_ for id_, _ in await found(store)} == {item.passage.id for item in last}
    assert len(seen) > 1
    await store.close()


async def test_an_open_store_sees_what_another_wrote_at_its_next_question(tmp_path: Path) -> None:
    reader, writing = opened(tmp_path / "index.db"), opened(tmp_path / "index.db")
    for number in range(3):
        await put(writing, sample(number))
        assert len(await found(reader)) == 3 * (number + 1)
        assert len(await reader.lexical([f"word{number}"], k=9, scope=Scope())) == 3
        assert (await reader.statistics(reader=Reader())).documents == number + 1
    await writing.remove([sample(0).id])
    assert len(await found(reader)) == 6
    assert await reader.lexical(["word0"], k=9, scope=Scope()) == []
    await writing.close()
    await reader.close()


async def test_a_killed_writer_loses_nothing_it_had_committed_and_may_go_on(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    for commits in (1, 40):
        with writer(path, "grow") as process:
            assert process.stdout is not None
            told = [int(process.stdout.readline()) for _ in range(commits)]
            os.kill(process.pid, signal.SIGKILL)
        store = opened(path)
        prints = await store.fingerprints(tenant="default")
        for number in told:
            assert prints[f"{number}.md"] == sample(number).built(dimensions=DIMENSIONS)[0].content_hash
        assert len(await found(store)) == 3 * len(prints)
        await store.close()
    whole, again = opened(tmp_path / "whole.db"), opened(path)
    for number in range(60):
        await put(whole, sample(number))
        await put(again, sample(number))
    beyond = [id_ for id_, source in await again.sources(reader=Reader()) if int(source.removesuffix(".md")) >= 60]
    await again.remove(beyond)
    assert await found(again) == await found(whole)
    assert await again.lexical(["common"], k=999, scope=Scope()) == await whole.lexical(
        ["common"], k=999, scope=Scope()
    )
    await whole.close()
    await again.close()


# --- the derived file ----------------------------------------------------------------------------


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the derived file matter for small indexes."""
    monkeypatch.setattr(matrix, "_TAIL_AT_LEAST", 10)


async def filled(path: Path, numbers: Sequence[int]) -> list[tuple[str, float | None]]:
    store = opened(path)
    await put(store, *(sample(number) for number in numbers))
    expected = await found(store)
    await store.close()
    return expected


async def test_a_writer_leaves_the_derived_file_for_the_next_process(tmp_path: Path) -> None:
    expected = await filled(tmp_path / "index.db", range(8))
    mapped = matrix_file.load(tmp_path / "index.db.vectors", dimensions=DIMENSIONS)
    assert mapped is not None
    assert mapped.vectors.shape == (24, DIMENSIONS)
    store = opened(tmp_path / "index.db")
    assert await found(store) == expected
    await store.close()


@pytest.mark.parametrize("harm", ["gone", "empty", "cut", "header", "body", "tail", "longer"])
async def test_a_damaged_derived_file_is_made_anew(tmp_path: Path, harm: str, eager: None) -> None:
    path, derived = tmp_path / "index.db", tmp_path / "index.db.vectors"
    expected = await filled(path, range(8))
    good = derived.read_bytes()
    flipped = {"header": 20, "body": len(good) // 2, "tail": len(good) - 1}
    if harm == "gone":
        derived.unlink()
    elif harm in flipped:
        at = flipped[harm]
        derived.write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1 :])
    else:
        derived.write_bytes({"empty": b"", "cut": good[:-8], "longer": good + b"12345678"}[harm])
    store = opened(path)
    assert await found(store) == expected
    await store.close()
    assert derived.read_bytes() == good


async def test_a_derived_file_of_another_history_is_not_used(tmp_path: Path, eager: None) -> None:
    path, derived = tmp_path / "index.db", tmp_path / "index.db.vectors"
    await filled(path, range(8))
    other = derived.read_bytes()
    path.unlink()
    expected = await filled(path, range(50, 58))
    derived.write_bytes(other)
    store = opened(path)
    assert await found(store) == expected
    await store.close()


async def test_the_derived_file_follows_what_comes_and_goes(tmp_path: Path, eager: None) -> None:
    path = tmp_path / "index.db"
    store = opened(path)
    for number in range(30):
        await put(store, sample(number))
        if number >= 5:
            await store.remove([sample(number - 5).id])
        expected = {i.passage.id for n in range(max(0, number - 4), number + 1) for i in _items(n)}
        assert {id_ for id_, _ in await found(store)} == expected
    await store.close()
    mapped = matrix_file.load(path.with_name("index.db.vectors"), dimensions=DIMENSIONS)
    assert mapped is not None
    assert len(mapped.rows) < 60


def _items(number: int) -> list[IndexedPassage]:
    return sample(number).built(dimensions=DIMENSIONS)[1]


async def test_without_a_derived_file_everything_still_works(
    tmp_path: Path, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> tuple[int, str]:
        raise OSError("no space left on device")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    expected = await filled(tmp_path / "index.db", range(8))
    assert not (tmp_path / "index.db.vectors").exists()
    store = opened(tmp_path / "index.db")
    assert await found(store) == expected
    assert len(expected) == 24
    await store.close()


# --- files that do not fit -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "told"), [({"encoder": "e/2"}, "encoder e/1"), ({"analyzer": "a/2"}, "analyzer a/1")]
)
async def test_an_index_of_another_make_is_refused(tmp_path: Path, changed: dict[str, str], told: str) -> None:
    await filled(tmp_path / "index.db", [1])
    with pytest.raises(StoreIncompatible, match=told) as caught:
        opened(tmp_path / "index.db", **changed)  # type: ignore[arg-type]
    assert "--rebuild" in caught.value.hint
    await opened(tmp_path / "index.db").close()


async def test_an_index_of_other_dimensions_or_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    await filled(path, [1])
    with pytest.raises(StoreIncompatible, match="dimensions 16"):
        open_store(path, encoder_id="e/1", dimensions=17, analyzer_id="a/1")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreIncompatible, match="schema 99"):
        opened(path)


@pytest.mark.parametrize("content", [b"# a Markdown file, and no database at all\n" * 40, b"\x00" * 8192])
def test_a_file_that_is_no_database_is_named_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index.db").write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"index\.db"):
        opened(tmp_path / "index.db")
    assert (tmp_path / "index.db").read_bytes() == content


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "index.db") as connection:
        connection.execute("CREATE TABLE photographs(name)")
    connection.close()
    with pytest.raises(StoreDamaged, match="another program"):
        opened(tmp_path / "index.db")
    with sqlite3.connect(tmp_path / "index.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("photographs",)]
    connection.close()


async def test_damage_inside_the_file_is_named_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    await filled(path, range(40))
    (tmp_path / "index.db.vectors").unlink()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StoreDamaged):
        store = opened(path)
        await found(store)


def test_a_place_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable):
        opened(tmp_path / "nowhere" / "index.db")


async def test_a_second_writer_waits_and_then_says_that_the_index_is_busy(tmp_path: Path) -> None:
    store = opened(tmp_path / "index.db", busy_seconds=0.05)
    await put(store, sample(0))
    other = sqlite3.connect(tmp_path / "index.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy) as caught:
        await put(store, sample(1))
    assert caught.value.retryable
    assert len(await found(store)) == 3
    other.execute("ROLLBACK")
    other.close()
    await put(store, sample(1))
    assert len(await found(store)) == 6
    await store.close()


async def test_a_put_that_fails_changes_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path / "index.db")
    await put(store, sample(0))
    document, items = sample(0, seed=5).built(dimensions=DIMENSIONS)
    broken = np.full(DIMENSIONS, np.inf, np.float32)
    items[-1].vectors.passage[:] = broken
    with pytest.raises(ValueError, match="finite"):
        await store.put(document, items)
    assert {id_ for id_, _ in await found(store)} == {i.passage.id for i in sample(0).built(dimensions=16)[1]}
    assert len(await store.lexical(["seed0"], k=9, scope=Scope())) == 3
    assert await store.lexical(["seed5"], k=9, scope=Scope()) == []
    await store.close()


async def test_closing_twice_is_harmless_and_a_closed_store_says_so(tmp_path: Path) -> None:
    store = opened(tmp_path / "index.db")
    await store.close()
    await store.close()
    with pytest.raises(ValueError, match="closed"):
        await found(store)


async def test_closing_waits_for_questions_in_flight(tmp_path: Path) -> None:
    store = opened(tmp_path / "index.db")
    await put(store, *(sample(number) for number in range(20)))
    asked = [asyncio.create_task(found(store)) for _ in range(12)]
    await asyncio.sleep(0)
    await store.close()
    for answer in await asyncio.gather(*asked, return_exceptions=True):
        # Asked in time, or told that it was too late: never a crash, never half an answer.
        if isinstance(answer, BaseException):
            assert isinstance(answer, ValueError)
        else:
            assert len(answer) == 60
