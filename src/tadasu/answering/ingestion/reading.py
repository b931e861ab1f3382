"""From one file to documents cut and analysed, ready for the encoder; what has not changed is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tadasu.answering.ingestion import chunkers
from tadasu.answering.ingestion.chunkers import ChunkSettings, passages_of
from tadasu.answering.ingestion.documents import content_hash, document_of, fingerprint
from tadasu.answering.ingestion.identify import Kind, kind_by_name
from tadasu.answering.ingestion.parsers.office import megabytes
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed
from tadasu.answering.ingestion.report import Failure, failure_of
from tadasu.answering.ingestion.sources import is_below
from tadasu.answering.ingestion.walk import FoundFile, Refused, reason_of
from tadasu.answering.ingestion.worker import ParserProcess, Task, parse_here
from tadasu.core.documents import Access, Document, Passage
from tadasu.errors import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentError,
    DocumentTooLarge,
    DocumentUnreadable,
    EncodingUnknown,
    ParserCrashed,
    ParserTimeout,
    RowInvalid,
)
from tadasu.ports import TokenCounter
from tadasu.text.analyze import analyzer_id, tokens

PARSERS_VERSION = "1"
"""Changes whenever the same bytes would give another text: an index then reads them anew."""
_IN_PROCESS = frozenset({Kind.MARKDOWN, Kind.TEXT, Kind.CSV, Kind.JSONL})
_MANY = frozenset({Kind.JSONL, Kind.CSV})
# Faults of the moment, of the copy or of our limits: what was read before may well still hold. Anything else (empty
# now, locked now, a link out of the folder now) says that the text is no longer there to be shown.
_KEEPING = (DocumentUnreadable, ParserTimeout, ParserCrashed, DocumentDamaged, DocumentTooLarge, EncodingUnknown)


@dataclass(frozen=True, slots=True)
class IngestionSettings:
    """How files are read: budgets in tokens, sizes in MB (of 2²⁰ bytes), seconds per file."""

    max_tokens: int = 256
    max_file_mb: int = 100
    max_unpacked_mb: int = 300
    parse_seconds: float = 60.0
    parse_memory_mb: int = 4096
    batch_passages: int = 32

    @property
    def limits(self) -> Limits:
        """What one file may cost its parser."""
        return Limits(unpacked_bytes=self.max_unpacked_mb * 1024 * 1024)

    @property
    def chunks(self) -> ChunkSettings:
        """Budgets of the chunker."""
        return ChunkSettings(max_tokens=self.max_tokens)


@dataclass(frozen=True, slots=True)
class Cut:
    """A document with its passages and the search terms of each, and the file that it came from."""

    document: Document
    passages: tuple[Passage, ...]
    terms: tuple[tuple[str, ...], ...]
    file: str


@dataclass(frozen=True, slots=True)
class FileEnd:
    """A file has been read: how many of its documents are stored as they are, and what failed."""

    file: str
    unchanged: int = 0
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True)
class Inventory:
    """Sources seen in this run; what is stored below the roots and not among them is gone.

    Below `protected` is what could not be looked at, below `closed` what must not be shown until its rule is mended.
    """

    stored: Mapping[str, str]
    seen: set[str] = field(default_factory=set)
    protected: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def gone(self) -> list[str]:
        """Stored sources that this run did not see and that no unreadable folder or file may still hold."""
        return sorted(source for source in self.stored if source not in self.seen and not self._protected(source))

    def _protected(self, source: str) -> bool:
        return any(is_below(source, prefix) for prefix in self.protected)


class FileReader:
    """Reads files for one run. Blocking; its methods are called in threads, one at a time."""

    def __init__(
        self,
        *,
        tenant: str,
        counter: TokenCounter,
        encoder_id: str,
        settings: IngestionSettings,
        parsers: ParserProcess,
    ) -> None:
        self._tenant = tenant
        self._counter = counter
        self._settings = settings
        self._parsers = parsers
        self._version = "/".join(
            (PARSERS_VERSION, chunkers.VERSION, analyzer_id(), encoder_id, str(settings.max_tokens))
        )

    def read(self, found: FoundFile | Refused, inventory: Inventory) -> Iterator[Cut | FileEnd]:
        """Documents of one file that must be written, then its end. Errors of the file are in the end, never raised."""
        if isinstance(found, Refused):
            if found.keep:
                inventory.protected.append(found.source)
            if found.closes is not None:
                inventory.closed.append(found.closes)
            yield FileEnd(found.source, failures=(failure_of(found.error, source=found.source, kept=found.keep),))
            return
        access = Access(tenant=self._tenant, groups=found.groups)
        unchanged = 0
        failures: list[Failure] = []
        try:
            for item in self._documents(found, access, inventory):
                if isinstance(item, Cut):
                    yield item
                elif isinstance(item, Failure):
                    failures.append(item)
                else:
                    unchanged += 1
        except DocumentError as error:
            kept = isinstance(error, _KEEPING) and self._same_access(found.source, access, inventory)
            if kept:
                inventory.protected.append(found.source)
            failures.append(failure_of(error, source=found.source, kept=kept))
        yield FileEnd(found.source, unchanged=unchanged, failures=tuple(failures))

    def _same_access(self, source: str, access: Access, inventory: Inventory) -> bool:
        """Whether what is stored of a file was stored for the same groups: text must not outlive a stricter rule."""
        mark = content_hash("", access, self._version)[:8]
        return any(is_below(s, source) and h.startswith(mark) for s, h in inventory.stored.items())

    def _documents(self, found: FoundFile, access: Access, inventory: Inventory) -> Iterator[Cut | Failure | None]:
        """What to write, what failed, and None for each document that is stored as it is."""
        if found.source in inventory.seen:
            raise DocumentUnreadable(
                source=found.source, reason="another file has the same name in Unicode's normal form"
            )
        kind = kind_by_name(found.path.name, source=found.source)
        data = self._bytes(found)
        mark = content_hash(fingerprint(data), access, self._version)
        if inventory.stored.get(found.source) == mark:
            inventory.seen.add(found.source)
            yield None
            return
        task = Task(found.path.name, data, found.source, self._settings.limits, self._settings.parse_seconds)
        cut_any = False
        for item in parse_here(task) if kind in _IN_PROCESS else self._parsers.parse(task):
            if not isinstance(item, Parsed):
                error = RowInvalid(source=found.source, row=item.row, reason=item.reason)
                yield failure_of(error, source=found.source, row=item.row)
                continue
            source = f"{found.source}#{item.key}" if item.key else found.source
            hashed = mark
            if item.key:
                hashed = content_hash(item.fingerprint, access, self._version)
            inventory.seen.add(source)
            cut_any = True
            yield (
                None
                if inventory.stored.get(source) == hashed
                else self._cut(item, source, hashed, access, found.source)
            )
        if not cut_any and kind not in _MANY:
            raise DocumentEmpty(source=found.source)

    def _cut(self, parsed: Parsed, source: str, hashed: str, access: Access, file: str) -> Cut:
        document = document_of(parsed, source=source, content_hash=hashed, access=access)
        passages = tuple(passages_of(document, self._counter, settings=self._settings.chunks))
        terms = tuple(tuple(terms_of(passage)) for passage in passages)
        return Cut(document, passages, terms, file)

    def _bytes(self, found: FoundFile) -> bytes:
        limit = self._settings.max_file_mb * 1024 * 1024
        too_large = DocumentTooLarge(source=found.source, size=megabytes(found.size), limit=megabytes(limit))
        if found.size > limit:
            raise too_large
        try:
            data = _read(found.path, limit + 1)
        except OSError as error:
            raise DocumentUnreadable(source=found.source, reason=reason_of(error)) from None
        if len(data) > limit:
            raise too_large
        if not data:
            raise DocumentEmpty(source=found.source)
        return data


def _read(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(size)


def terms_of(passage: Passage) -> list[str]:
    """Search terms of a passage: those of its label that its text does not say itself, then those of its text."""
    label = [name for name in dict.fromkeys((passage.title, *passage.headings)) if name and name not in passage.text]
    said = tokens(passage.text, language=passage.language)
    return tokens(" ".join(label), language=passage.language) + said if label else said
