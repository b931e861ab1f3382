"""From a folder to the index: walk, read, cut, encode, store. What has not changed is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tadasu.answering.ingestion.reading import Cut, FileEnd, FileReader, IngestionSettings, Inventory
from tadasu.answering.ingestion.report import Failure, FileOutcome, FileReport, IngestReport, Progress
from tadasu.answering.ingestion.sources import is_below, stored_prefix
from tadasu.answering.ingestion.tags import TagMemory, Tags
from tadasu.answering.ingestion.walk import FoundFile, Refused, Root, roots_of, walk
from tadasu.answering.ingestion.worker import ParserProcess
from tadasu.core.documents import Passage, label_of
from tadasu.core.ids import document_id
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.ports import Clock, Encoder, IndexedPassage, TaggedIndex, TokenCounter

_ENCODE_AT_ONCE = 64
_REMOVE_AT_ONCE = 500
_QUEUED_BATCHES = 2


@dataclass(slots=True)
class _Tally:
    """Counts of a run as it goes."""

    total: int
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    passages: int = 0
    done: int = 0
    failures: list[Failure] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    written: dict[str, list[tuple[bool, int]]] = field(default_factory=dict)
    kept: list[frozenset[str]] = field(default_factory=list)

    def wrote(self, cut: Cut, *, known: bool) -> None:
        self.updated += known
        self.added += not known
        self.passages += len(cut.passages)
        self.written.setdefault(cut.file, []).append((known, len(cut.passages)))

    def ended(self, end: FileEnd) -> None:
        written = self.written.pop(end.file, [])
        self.unchanged += end.unchanged
        self.failures.extend(end.failures)
        self.done += 1
        if end.failures:
            outcome = FileOutcome.PARTLY if written or end.unchanged else FileOutcome.FAILED
        elif not written:
            outcome = FileOutcome.UNCHANGED
        else:
            outcome = FileOutcome.UPDATED if end.unchanged or any(known for known, _ in written) else FileOutcome.ADDED
        self.files.append(FileReport(end.file, outcome, len(written), sum(count for _, count in written)))


class Ingestion:
    """Ingests folders into one index.

    Every document is one transaction, so an ingest that is killed leaves whole documents behind, and the next one takes
    up what is missing: same ids, search terms and vectors as if nothing had happened.
    """

    def __init__(
        self,
        *,
        index: TaggedIndex,
        encoder: Encoder,
        counter: TokenCounter,
        clock: Clock,
        settings: IngestionSettings | None = None,
        memory: TagMemory | None = None,
    ) -> None:
        """`memory` holds the groups that were given for folders; without one, only documents remember theirs."""
        self._memory = memory or TagMemory(None)
        self._index = index
        self._encoder = encoder
        self._counter = counter
        self._clock = clock
        self._settings = settings or IngestionSettings()

    async def run(
        self,
        root: Path | Sequence[Path],
        *,
        tenant: str = "default",
        groups: frozenset[str] | None = None,
        base: Path | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        prune: bool = True,
    ) -> IngestReport:
        """Bring the index up to date with the files below `root`.

        Args:
            root: folders or files.
            tenant: whose documents they are.
            groups: who may see files where no ``.tadasu-access.toml`` says otherwise; empty: all of the tenant. None:
                as was said before for the document or a folder above it (see `tags`), at first all of the tenant.
            base: the folder of the workspace, from which sources are seen; without one they begin with the root's name.
            on_progress: called in the event loop after every file, and now and then within a long one.
            prune: remove stored documents below the roots whose files (or rows) are gone.

        Raises:
            InputInvalid: a root does not exist, two have one name, or the remembered groups cannot be read.
            StoreError: the index cannot be written. Errors of documents are in the report.
        """
        began = self._clock.elapsed()
        roots = await asyncio.to_thread(roots_of, root, base=base)
        inventory = Inventory(stored=await self._stored(roots, tenant))
        walked = await asyncio.to_thread(lambda: [item for r in roots for item in walk(r)])
        tally = _Tally(total=len(walked))
        found = await self._tagged(walked, roots, tally, tenant=tenant, said=groups)
        parsers = ParserProcess(memory_mb=self._settings.parse_memory_mb)
        reader = FileReader(
            tenant=tenant, counter=self._counter, encoder_id=self._encoder.id, settings=self._settings, parsers=parsers
        )
        try:
            await self._write(_items(reader, found, inventory), inventory, tally, on_progress)
        finally:
            await asyncio.to_thread(parsers.close)
        gone = set(inventory.gone()) if prune else set()
        removed = sorted(gone.union(*[await self._below(closed, tenant) for closed in inventory.closed]))
        ids = [document_id(tenant, source) for source in removed]
        for at in range(0, len(ids), _REMOVE_AT_ONCE):
            await self._index.remove(ids[at : at + _REMOVE_AT_ONCE])
        return IngestReport(
            added=tally.added,
            updated=tally.updated,
            unchanged=tally.unchanged,
            removed=len(removed),
            passages=tally.passages,
            seconds=self._clock.elapsed() - began,
            failed=tuple(tally.failures),
            files=(*tally.files, *(FileReport(source, FileOutcome.REMOVED, 1) for source in removed)),
            kept_files=len(tally.kept),
            kept_groups=tuple(sorted(frozenset().union(*tally.kept))),
        )

    async def _tagged(
        self,
        walked: Sequence[FoundFile | Refused],
        roots: Sequence[Root],
        tally: _Tally,
        *,
        tenant: str,
        said: frozenset[str] | None,
    ) -> list[FoundFile | Refused]:
        """Every file with its groups. What is said is remembered before the first document is written."""
        if said is not None:
            await asyncio.to_thread(self._memory.say, tenant, [root.source for root in roots], said)
            tags = Tags(said=said)
        else:
            remembered = await asyncio.to_thread(self._memory.of, tenant)
            tags = Tags(known=await self._index.groups(tenant=tenant), remembered=remembered)
        found: list[FoundFile | Refused] = []
        for item in walked:
            if isinstance(item, Refused) or item.ruled:
                found.append(item)
                continue
            tagged = tags.of(item.source)
            if tagged.kept:
                tally.kept.append(tagged.groups)
            found.append(replace(item, groups=tagged.groups))
        return found

    async def _stored(self, roots: Sequence[Root], tenant: str) -> dict[str, str]:
        stored: dict[str, str] = {}
        for root in roots:
            stored |= await self._below(root.source, tenant)
        return stored

    async def _below(self, source: str, tenant: str) -> dict[str, str]:
        """What is stored of the file or folder `source`."""
        found = await self._index.fingerprints(tenant=tenant, source_prefix=stored_prefix(source))
        return {one: mark for one, mark in found.items() if is_below(one, source)}

    async def _write(
        self,
        items: Iterator[Cut | FileEnd],
        inventory: Inventory,
        tally: _Tally,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        """Encode and store one batch while the next is read and cut in another thread."""
        queue: asyncio.Queue[list[Cut | FileEnd]] = asyncio.Queue(maxsize=_QUEUED_BATCHES)

        async def produce() -> None:
            while batch := await asyncio.to_thread(_batch, items, self._settings.batch_passages):
                await queue.put(batch)
            await queue.put([])

        producer = asyncio.create_task(produce())
        try:
            while batch := await _next(queue, producer):
                await self._store(batch, inventory, tally, on_progress)
        finally:
            producer.cancel()
            await asyncio.gather(producer, return_exceptions=True)

    async def _store(
        self,
        batch: Sequence[Cut | FileEnd],
        inventory: Inventory,
        tally: _Tally,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        passages = [passage for item in batch if isinstance(item, Cut) for passage in item.passages]

        def show(file: str, encoded: int = 0) -> None:
            if on_progress is not None:
                on_progress(Progress(tally.done, tally.total, file, tally.passages + encoded))

        vectors = iter(await self._encode(passages, show))
        for item in batch:
            if isinstance(item, Cut):
                pairs = zip(item.passages, item.terms, strict=True)
                indexed = [IndexedPassage(passage, terms, next(vectors)) for passage, terms in pairs]
                await self._index.put(item.document, indexed)
                tally.wrote(item, known=item.document.source in inventory.stored)
            else:
                tally.ended(item)
                show(item.file)

    async def _encode(self, passages: Sequence[Passage], show: Callable[[str, int], None]) -> list[PassageVectors]:
        vectors: list[PassageVectors] = []
        for at in range(0, len(passages), _ENCODE_AT_ONCE):
            if at:
                show(passages[at - 1].source.partition("#")[0], at)  # a long document is not silent
            texts = [passage_text(passage) for passage in passages[at : at + _ENCODE_AT_ONCE]]
            vectors += await asyncio.to_thread(self._encoder.encode_passages, texts)
        return vectors


def passage_text(passage: Passage) -> PassageText:
    """What the encoder reads of a passage."""
    label = label_of(passage)
    strips = tuple((strip.start, strip.end) for strip in passage.strips)
    return PassageText(text=passage.text, strips=strips, title=label)


def _items(reader: FileReader, found: Sequence[FoundFile | Refused], inventory: Inventory) -> Iterator[Cut | FileEnd]:
    for file in found:
        yield from reader.read(file, inventory)


def _batch(items: Iterator[Cut | FileEnd], size: int) -> list[Cut | FileEnd]:
    """The next items with about `size` passages; empty at the end."""
    batch: list[Cut | FileEnd] = []
    passages = 0
    for item in items:
        batch.append(item)
        passages += len(item.passages) if isinstance(item, Cut) else 0
        if passages >= size or len(batch) >= 8 * size:
            break
    return batch


async def _next(queue: asyncio.Queue[list[Cut | FileEnd]], producer: asyncio.Task[None]) -> list[Cut | FileEnd]:
    """The next batch, or the error that the reading thread ended with."""
    getter = asyncio.ensure_future(queue.get())
    await asyncio.wait({getter, producer}, return_when=asyncio.FIRST_COMPLETED)
    if not getter.done() and producer.done() and (error := producer.exception()) is not None:
        getter.cancel()
        raise error
    return await getter
