"""What is ingested and retrieved: documents, passages, strips, and who may see them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

_LABEL_LENGTH = 120


class Origin(enum.Enum):
    """Where a document comes from. Web text is hostile until graded (DESIGN §3.3)."""

    INTERNAL = "internal"
    WEB = "web"


class BlockKind(enum.Enum):
    """Role of a stretch of a document's text, as its parser saw it."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range ``[start, end)`` of code points in a text."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The stretch of `text` that this span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        """The same stretch, `by` code points further on."""
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may see a document: one tenant, and within it any member of any of `groups` (empty: all of the tenant)."""

    tenant: str = "default"
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks: a tenant and the groups that the asker belongs to."""

    tenant: str = "default"
    groups: frozenset[str] = frozenset()

    def may_see(self, access: Access) -> bool:
        """The rule that every store applies inside its own search."""
        return self.tenant == access.tenant and (not access.groups or not self.groups.isdisjoint(access.groups))


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list, table or code stretch of a document's text.

    `level` is 1 to 6 for headings and 0 otherwise; `page` counts from 1 and is None where the format has no pages.
    """

    kind: BlockKind
    span: Span
    level: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its parser read it.

    `source` is the path from the workspace's folder with ``/`` as separator (plus ``#row`` for rows of CSV and
    JSONL), or the address of a web page. `text` is what all offsets refer to. `date` is ISO 8601 (``YYYY-MM-DD``) or
    empty. `content_hash` is the SHA-256 of the file's (or row's) bytes and of the access tags.
    """

    id: str
    source: str
    title: str
    text: str
    content_hash: str
    blocks: tuple[Block, ...] = ()
    media_type: str = "text/plain"
    language: str = "und"
    date: str = ""
    access: Access = Access()
    origin: Origin = Origin.INTERNAL
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is retrieved and graded.

    `span` points into the document's text; `strips` are spans relative to the passage, contiguous from 0 to its length,
    so that the strips concatenate to the passage. `headings` is the path of headings above it.
    """

    id: str
    document_id: str
    source: str
    title: str
    text: str
    span: Span
    strips: tuple[Span, ...]
    ordinal: int = 0
    headings: tuple[str, ...] = ()
    page: int | None = None
    language: str = "und"
    date: str = ""
    content_hash: str = ""
    kind: BlockKind = BlockKind.PARAGRAPH
    origin: Origin = Origin.INTERNAL
    access: Access = Access()


@dataclass(frozen=True, slots=True)
class Strip:
    """A sentence-level span of a passage, addressed by offsets into the document.

    `id` is stable for the same document content: passage id and position (``<passage id>.<n>``). `headings` is the
    passage's path of headings: what the strip is about where it does not say so itself.
    """

    id: str
    passage_id: str
    document_id: str
    source: str
    title: str
    text: str
    span: Span
    index: int
    page: int | None = None
    date: str = ""
    origin: Origin = Origin.INTERNAL
    headings: tuple[str, ...] = ()


def label_of(passage: Passage) -> str:
    """What a passage is about, in one short line for encoder, keyword index and graders: title and path of headings."""
    names: list[str] = []
    for name in (passage.title, *passage.headings):
        if name and name not in names:
            names.append(name)
    label = " > ".join(names)
    while len(label) > _LABEL_LENGTH and len(names) > 2:
        names.pop(1)  # the title and the nearest headings say most
        label = " > ".join(names)
    return label[:_LABEL_LENGTH]


def strip_of(passage: Passage, index: int) -> Strip:
    """Strip number `index` (from 0) of `passage`, with offsets into the document."""
    relative = passage.strips[index]
    return Strip(
        id=f"{passage.id}.{index}",
        passage_id=passage.id,
        document_id=passage.document_id,
        source=passage.source,
        title=passage.title,
        text=relative.of(passage.text),
        span=relative.shift(passage.span.start),
        index=index,
        page=passage.page,
        date=passage.date,
        origin=passage.origin,
        headings=passage.headings,
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """What one search may touch: the asker, filters, and what earlier rounds have ruled out.

    All of it is applied inside the store, before anything is ranked or counted. `source_prefix` matches the start of
    `source`; `since` and `until` are inclusive ISO dates and let undated documents through only when both are empty.
    """

    reader: Reader = Reader()
    language: str | None = None
    source_prefix: str = ""
    since: str = ""
    until: str = ""
    exclude_passages: frozenset[str] = frozenset()
    exclude_documents: frozenset[str] = frozenset()
