"""Ingesting a folder: what is written, what is left alone, what is removed, and what the report says."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tadasu.answering.ingestion.pipeline import Ingestion, passage_text
from tadasu.answering.ingestion.reading import IngestionSettings, terms_of
from tadasu.answering.ingestion.report import FileOutcome, Progress
from tadasu.core.documents import Document, Reader, Scope
from tadasu.core.ids import document_id
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.ports import IndexedPassage
from tadasu.runtime.world import FixedWorld
from tadasu.testing.memory_store import MemoryStore
from tests.answering.ingestion.making import (
    LetterEncoder,
    WordCounter,
    ingestion,
    lines,
    memory_store,
    pdf,
    show,
    small_excel,
    word,
    write,
)


class CountingEncoder(LetterEncoder):
    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        self.encoded += [passage.text for passage in passages]
        return super().encode_passages(passages)


class CountingStore(MemoryStore):
    def __init__(self) -> None:
        super().__init__(dimensions=LetterEncoder.dimensions)
        self.puts: list[tuple[str, int]] = []

    async def put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        self.puts.append((document.source, len(passages)))
        await super().put(document, passages)


def corpus(folder: Path) -> Path:
    write(folder / "a.md", "# Pump\n\nThe pump runs at 50 Hz.\n")
    write(folder / "b.txt", "圧力計\n\n圧力計は0〜10 barを測ります。\n".encode("cp932"))
    write(folder / "sub" / "c.md", "# Service\n\nRepairs take ten days.")
    write(folder / "sub" / "d.csv", "Model,Price\nPT-100,480\n")
    write(folder / "sub" / "e.jsonl", '{"id": "x", "text": "First."}\n{"id": "y", "text": "Second."}\n')
    return folder


def build(store: MemoryStore, encoder: LetterEncoder, settings: IngestionSettings | None = None) -> Ingestion:
    return Ingestion(index=store, encoder=encoder, counter=WordCounter(), clock=FixedWorld(), settings=settings)


async def test_every_format_is_in_with_stable_ids_and_a_second_ingest_does_nothing(tmp_path: Path) -> None:
    folder, store, encoder = corpus(tmp_path / "docs"), CountingStore(), CountingEncoder()
    write(folder / "f.docx", word())
    write(folder / "g.xlsx", small_excel())
    write(folder / "h.pptx", show())
    write(folder / "i.pdf", pdf(lines("Pressure is ten bar.")))
    write(folder / "j.html", "<h1>Service</h1><p>Repairs take ten days.</p>")
    first = await build(store, encoder).run(folder)
    assert (first.added, first.updated, first.unchanged, first.removed, first.failed) == (11, 0, 0, 0, ())
    assert first.complete
    assert first.passages == sum(count for _, count in store.puts) == len(encoder.encoded)
    sources = {source: id_ for id_, source in await store.sources(reader=Reader())}
    assert sources["docs/sub/e.jsonl#y"] == document_id("default", "docs/sub/e.jsonl#y")
    document = await store.document("docs/b.txt", reader=Reader())
    assert document is not None
    assert (document.language, document.title, document.metadata["encoding"]) == ("ja", "圧力計", "cp932")

    store.puts.clear()
    encoder.encoded.clear()
    again = await build(store, encoder).run(folder)
    assert (again.added, again.updated, again.unchanged, again.removed) == (0, 0, 11, 0)
    assert not store.puts
    assert not encoder.encoded
    assert {file.outcome for file in again.files} == {FileOutcome.UNCHANGED}


async def test_only_what_changed_is_written_again_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    folder, store = corpus(tmp_path / "docs"), CountingStore()
    await build(store, LetterEncoder()).run(folder)
    store.puts.clear()
    write(folder / "a.md", "# Pump\n\nThe pump runs at 60 Hz.\n")
    write(folder / "sub" / "e.jsonl", '{"id": "x", "text": "First."}\n{"id": "z", "text": "Third."}\n')
    (folder / "b.txt").unlink()
    report = await build(store, LetterEncoder()).run(folder)
    assert [source for source, _ in store.puts] == ["docs/a.md", "docs/sub/e.jsonl#z"]
    assert (report.added, report.updated, report.unchanged, report.removed) == (1, 1, 3, 2)
    assert {file.source: file.outcome for file in report.files if file.outcome is not FileOutcome.UNCHANGED} == {
        "docs/a.md": FileOutcome.UPDATED,
        "docs/sub/e.jsonl": FileOutcome.UPDATED,
        "docs/b.txt": FileOutcome.REMOVED,
        "docs/sub/e.jsonl#y": FileOutcome.REMOVED,
    }
    assert "docs/b.txt" not in await store.fingerprints(tenant="default")


async def test_only_what_lies_below_the_roots_is_removed(tmp_path: Path) -> None:
    store = memory_store()
    write(tmp_path / "one" / "a.md", "One.")
    write(tmp_path / "one" / "keep.md", "Keep.")
    write(tmp_path / "one-more" / "b.md", "Two.")
    for name in ("one", "one-more"):
        await ingestion(store).run(tmp_path / name)
    (tmp_path / "one" / "a.md").unlink()
    (tmp_path / "one-more" / "b.md").unlink()
    report = await ingestion(store).run(tmp_path / "one")
    assert report.removed == 1
    assert set(await store.fingerprints(tenant="default")) == {"one/keep.md", "one-more/b.md"}
    assert (await ingestion(store).run(tmp_path / "one-more", prune=False)).removed == 0


async def test_ingesting_the_workspace_leaves_what_came_from_outside(tmp_path: Path) -> None:
    store, base = memory_store(), tmp_path / "ws"
    write(base / "tadasu.toml", "")
    write(base / "notes" / "a.md", "Inside.")
    write(base / "gone" / "b.md", "Inside, and soon gone.")
    write(tmp_path / "manuals" / "c.md", "Outside.")
    await ingestion(store).run([tmp_path / "manuals", base], base=base)
    assert set(await store.fingerprints(tenant="default")) == {"notes/a.md", "gone/b.md", "../manuals/c.md"}
    (base / "gone" / "b.md").unlink()
    (base / "gone").rmdir()
    report = await ingestion(store).run(base, base=base)
    assert (report.removed, report.failed) == (1, ())
    assert set(await store.fingerprints(tenant="default")) == {"notes/a.md", "../manuals/c.md"}


async def test_a_folder_that_cannot_be_read_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, store = corpus(tmp_path / "docs"), memory_store()
    await ingestion(store).run(folder)
    import os

    real = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("tadasu.answering.ingestion.walk.os.scandir", refuse)
    (folder / "a.md").unlink()
    report = await ingestion(store).run(folder)
    assert [(f.source, f.code, f.kept) for f in report.failed] == [("docs/sub", "document_unreadable", True)]
    assert report.removed == 1
    assert {s for s in await store.fingerprints(tenant="default") if s.startswith("docs/sub/")} == {
        "docs/sub/c.md", "docs/sub/d.csv", "docs/sub/e.jsonl#x", "docs/sub/e.jsonl#y",
    }  # fmt: skip


async def test_a_damaged_copy_keeps_the_version_before_and_an_emptied_file_does_not(tmp_path: Path) -> None:
    folder, store = tmp_path / "docs", memory_store()
    write(folder / "a.md", "Words.")
    write(folder / "b.txt", "Words of another file.")
    await ingestion(store).run(folder)
    write(folder / "a.md", "")
    write(folder / "b.txt", bytes(range(128, 256)) * 4)
    report = await ingestion(store).run(folder)
    assert {(f.source, f.code, f.kept) for f in report.failed} == {
        ("docs/b.txt", "encoding_unknown", True),
        ("docs/a.md", "document_empty", False),
    }
    stored = await store.fingerprints(tenant="default")
    assert set(stored) == {"docs/b.txt"}


async def test_access_tags_are_stored_and_a_change_of_them_alone_is_taken_over(tmp_path: Path) -> None:
    folder, store = tmp_path / "docs", memory_store()
    write(folder / "plan.md", "# Plan\n\nSecret.")
    staff, board = Reader(groups=frozenset({"staff"})), Reader(groups=frozenset({"board"}))
    await ingestion(store).run(folder, groups=frozenset({"staff"}))
    assert await store.document("docs/plan.md", reader=staff)
    write(folder / ".tadasu-access.toml", 'groups = ["board"]')
    report = await ingestion(store).run(folder, groups=frozenset({"staff"}))
    assert report.updated == 1
    assert await store.document("docs/plan.md", reader=staff) is None
    assert await store.document("docs/plan.md", reader=board)


async def test_a_stricter_rule_holds_even_where_the_file_cannot_be_read_now(tmp_path: Path) -> None:
    folder, store = tmp_path / "docs", memory_store()
    write(folder / "plan.txt", "The plan.")
    await ingestion(store).run(folder)
    write(folder / "plan.txt", bytes(range(128, 256)) * 4)
    write(folder / ".tadasu-access.toml", 'groups = ["board"]')
    report = await ingestion(store).run(folder)
    assert [(f.code, f.kept) for f in report.failed] == [("encoding_unknown", False)]
    assert not await store.fingerprints(tenant="default")


async def test_tenants_do_not_touch_each_other(tmp_path: Path) -> None:
    store = memory_store()
    write(tmp_path / "docs" / "a.md", "Ours.")
    await ingestion(store).run(tmp_path / "docs", tenant="one")
    await ingestion(store).run(tmp_path / "docs", tenant="two")
    (tmp_path / "docs" / "a.md").unlink()
    await ingestion(store).run(tmp_path / "docs", tenant="one")
    assert not await store.fingerprints(tenant="one")
    assert await store.fingerprints(tenant="two")


async def test_another_encoder_or_budget_reads_everything_anew(tmp_path: Path) -> None:
    folder, store = tmp_path / "docs", memory_store()
    write(folder / "a.md", "# Pump\n\nText.")
    await ingestion(store).run(folder)
    encoder = LetterEncoder()
    encoder.id = "letters-2"
    assert (await build(store, encoder).run(folder)).updated == 1
    assert (await build(store, encoder, IngestionSettings(max_tokens=100)).run(folder)).updated == 1


async def test_a_long_document_shows_its_progress(tmp_path: Path) -> None:
    seen = list[Progress]()
    write(tmp_path / "docs" / "a.txt", "これは長い文書の一つの文です。" * 4000)
    report = await ingestion(memory_store()).run(tmp_path / "docs", on_progress=seen.append)
    assert report.passages > 128
    assert [progress.done for progress in seen] == [0] * (len(seen) - 1) + [1]
    assert [progress.passages for progress in seen] == [*range(64, report.passages, 64), report.passages]


async def test_one_file_is_ingested_as_part_of_the_workspace(tmp_path: Path) -> None:
    folder, store = corpus(tmp_path / "ws" / "docs"), memory_store()
    base = tmp_path / "ws"
    await ingestion(store).run(folder, base=base)
    write(folder / "a.md", "# Pump\n\nNew.")
    report = await ingestion(store).run(folder / "a.md", base=base)
    assert (report.added, report.updated, report.removed) == (0, 1, 0)
    assert len(await store.fingerprints(tenant="default")) == 6


async def test_progress_counts_every_file_once(tmp_path: Path) -> None:
    folder, seen = corpus(tmp_path / "docs"), list[Progress]()
    write(folder / "z.doc", "old")
    await ingestion(memory_store()).run(folder, on_progress=seen.append)
    assert [progress.done for progress in seen] == list(range(1, 7))
    assert {progress.total for progress in seen} == {6}
    assert seen[-1].source == "docs/z.doc"


async def test_the_event_loop_stays_free_while_the_encoder_works(tmp_path: Path) -> None:
    class SlowEncoder(LetterEncoder):
        def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
            assert threading.current_thread() is not threading.main_thread()
            time.sleep(0.3)
            return super().encode_passages(passages)

    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    write(tmp_path / "docs" / "a.md", "Text.")
    await build(memory_store(), SlowEncoder()).run(tmp_path / "docs")
    ticker.cancel()
    assert ticks > 10


async def test_an_error_of_the_encoder_ends_the_run_and_leaves_no_process_behind(tmp_path: Path) -> None:
    class BrokenEncoder(LetterEncoder):
        def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
            raise OSError("no memory")

    folder = corpus(tmp_path / "docs")
    with pytest.raises(OSError, match="no memory"):
        await build(memory_store(), BrokenEncoder(), IngestionSettings(batch_passages=1)).run(folder)


async def test_what_is_stored_can_be_searched_by_title_and_text(tmp_path: Path) -> None:
    store = memory_store()
    write(
        tmp_path / "docs" / "a.jsonl",
        '{"title": "Keypad of the KPT-340", "text": "Hold both keys for five seconds."}\n',
    )
    await ingestion(store).run(tmp_path / "docs")
    for terms in (["keypad"], ["hold"]):
        (hit,) = await store.lexical(terms, k=5, scope=Scope())
        (found,) = await store.fetch([hit.passage_id], scope=Scope())
        assert found.strip_vectors.shape[0] == len(found.passage.strips) == 1
        assert passage_text(found.passage).title == "Keypad of the KPT-340"
        assert "keypad" in terms_of(found.passage)
