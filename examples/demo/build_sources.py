"""Reads the sources of the demo corpus: front matter and a small part of Markdown (see `build.py`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a source; `rows` is used by tables and lists (one cell per item) only."""

    kind: str
    """heading1, heading2, heading3, paragraph, bullets, numbers, table, note or page."""
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source file: its front matter and its body, as text and as blocks."""

    fields: dict[str, str]
    body: str
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        """The text of the first heading, or nothing."""
        return next((block.text for block in self.blocks if block.kind == "heading1"), "")

    @property
    def when(self) -> datetime:
        """Noon UTC of the document's date, so that no time zone moves it to another day."""
        return datetime.fromisoformat(self.fields["date"]).replace(hour=12, tzinfo=UTC)

    @property
    def japanese(self) -> bool:
        """Whether the front matter declares Japanese."""
        return self.fields.get("language") == "ja"


def read_source(path: Path) -> Source:
    """Reads one file of `sources/`; a source without front matter is a `ValueError`."""
    match = re.match(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
    if match is None:
        raise ValueError(f"{path}: no front matter")
    pairs = (line.split(":", 1) for line in match[1].splitlines())
    fields = {key.strip(): value.strip() for key, value in pairs}
    return Source(fields, match[2], tuple(parse_blocks(match[2])))


def parse_blocks(body: str) -> list[Block]:
    """Splits the body at blank lines; a block has one kind, told by its first line."""
    return [_block(chunk.splitlines()) for chunk in re.split(r"\n\s*\n", body.strip())]


def _block(lines: list[str]) -> Block:
    first = lines[0]
    if heading := re.match(r"(#{1,3}) (.+)", first):
        return Block(f"heading{len(heading[1])}", heading[2])
    if first == "<!-- page -->":
        return Block("page")
    if first.startswith("> "):
        return Block("note", " ".join(line[2:] for line in lines))
    if first.startswith("| "):
        rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
        return Block("table", rows=tuple(row for row in rows if not set("".join(row)) <= {"-"}))
    if first.startswith("- "):
        return Block("bullets", rows=tuple((line[2:],) for line in lines))
    if re.match(r"\d+\. ", first):
        return Block("numbers", rows=tuple((line.split(". ", 1)[1],) for line in lines))
    return Block("paragraph", " ".join(lines))
