"""What a parser gives: text with its structure, row by row where a file holds many documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tadasu.core.documents import Block, BlockKind, Span


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one file may cost: bytes after unpacking, cells of a workbook, pages searched for ruled tables."""

    unpacked_bytes: int = 300 * 1024 * 1024
    archive_entries: int = 10_000
    cells: int = 2_000_000
    table_pages: int = 60
    table_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document as read, before it has an id.

    `key` is empty for a whole file and names the row (``#key``) where the file holds many documents; `fingerprint` is
    then the SHA-256 of that row. `language` is what the file declares, empty where it declares nothing.
    """

    text: str
    blocks: tuple[Block, ...]
    media_type: str
    title: str = ""
    date: str = ""
    language: str = ""
    key: str = ""
    fingerprint: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that could not be read, counted from 1 as an editor counts lines; the other rows stand."""

    row: int
    reason: str


class Parser(Protocol):
    """Bytes of one file to documents and bad rows, in order. Raises a DocumentError for the file as a whole."""

    def __call__(self, data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed | RowProblem]:
        """Read `data`; `source` is for messages, and for a title where the file has none."""
        ...


class TextBuilder:
    """Collects blocks into one text, a blank line between them, with true offsets."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []

    def add(self, kind: BlockKind, text: str, *, level: int = 0, page: int | None = None) -> None:
        """Append a block; text that is only white space is left out, items of a list join the list before them."""
        text = text.strip("\n\r\t \u3000")
        if not text:
            return
        last = self._blocks[-1] if self._blocks else None
        if kind is BlockKind.LIST and last is not None and last.kind is kind and last.page == page:
            self._parts += ("\n", text)
            self._length += 1 + len(text)
            self._blocks[-1] = Block(kind=kind, span=Span(last.span.start, self._length), page=page)
            return
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        self._blocks.append(Block(kind=kind, span=Span(start, self._length), level=level, page=page))

    def first_heading(self) -> str:
        """Text of the first heading on one line, empty where there is none."""
        for block in self._blocks:
            if block.kind is BlockKind.HEADING:
                return " ".join(block.span.of(self.text).split())
        return ""

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far, in order."""
        return tuple(self._blocks)
