"""Plain text, as it is: paragraphs by blank lines, underlined headings, a title where one stands at the top."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadasu.answering.ingestion.decode import decode
from tadasu.answering.ingestion.parsers.dates import labelled_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed
from tadasu.core.documents import Block, BlockKind, Span

_PARAGRAPH = re.compile(r"[^\s](?:.*?\S)?(?=[^\S\n]*(?:\r?\n[^\S\n]*){2,}|\s*\Z)", re.DOTALL)
_UNDERLINED = re.compile(r"([^\n]{1,100})\r?\n(={3,}|-{3,}|~{3,})\s*$")
_ITEM = re.compile(r"\s*(?:[-*•・]\s?|\d{1,3}[.)]\s)")
_SENTENCE_END = re.compile(r"[.。!?！？:：;,、]\s*$")
_URL = re.compile(r"https?://|www\.")
_TITLE_LENGTH = 160
_TITLE_LINES = 4
_HEADING_LENGTH = 80


def parse_text(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A text file as one document; its text is the decoded file, byte order mark apart."""
    del limits
    decoded = decode(data, source=source)
    blocks = text_blocks(decoded.text)
    yield Parsed(
        text=decoded.text,
        blocks=blocks,
        media_type="text/plain",
        title=_title(decoded.text, blocks),
        date=labelled_date(decoded.text),
        metadata={"encoding": decoded.encoding} | ({"replaced": str(decoded.replaced)} if decoded.replaced else {}),
    )


def text_blocks(text: str) -> tuple[Block, ...]:
    """Paragraphs, lists and headings of plain text, with offsets into it.

    A heading is underlined, or a short line by itself that no full stop ends, over something longer.
    """
    spans = [Span(found.start(), found.end()) for found in _PARAGRAPH.finditer(text)]
    blocks: list[Block] = []
    for at, span in enumerate(spans):
        content = span.of(text)
        lines = content.splitlines()
        if underlined := _UNDERLINED.match(content):
            blocks.append(Block(BlockKind.HEADING, span, level=1 if underlined[2].startswith("=") else 2))
        elif len(lines) == 1 and at + 1 < len(spans) and _stands_over(content, spans[at + 1].of(text)):
            blocks.append(Block(BlockKind.HEADING, span, level=2 if at else 1))
        else:
            listed = len(lines) > 1 and sum(bool(_ITEM.match(line)) for line in lines) >= len(lines) / 2
            blocks.append(Block(BlockKind.LIST if listed else BlockKind.PARAGRAPH, span))
    return tuple(blocks)


def _stands_over(line: str, below: str) -> bool:
    return (
        len(line) <= _HEADING_LENGTH
        and not _SENTENCE_END.search(line)
        and not _URL.search(line)
        and len(below) > len(line)
    )


def heading_text(content: str) -> str:
    """A heading without its marks: ``## Name`` and ``Name`` over a line both read ``Name``."""
    content = _UNDERLINED.sub(r"\1", content.strip())
    return " ".join(re.sub(r"^#{1,6}\s+|\s+#+\s*$", "", content).split())


def _title(text: str, blocks: tuple[Block, ...]) -> str:
    """The heading at the top, or the first of the few short lines that stand there together."""
    if not blocks:
        return ""
    first = blocks[0].span.of(text)
    if blocks[0].kind is BlockKind.HEADING:
        return heading_text(first)
    lines = first.splitlines()
    short = len(lines) <= _TITLE_LINES and all(len(line) <= _TITLE_LENGTH for line in lines)
    return lines[0].strip() if short and len(blocks) > 1 and not _SENTENCE_END.search(lines[0]) else ""
