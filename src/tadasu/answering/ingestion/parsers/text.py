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
_TITLE_LENGTH = 120


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
    """Paragraphs, lists and underlined headings of plain text, with offsets into it."""
    blocks: list[Block] = []
    for found in _PARAGRAPH.finditer(text):
        content = found[0]
        span = Span(found.start(), found.end())
        if underlined := _UNDERLINED.match(content):
            blocks.append(Block(BlockKind.HEADING, span, level=1 if underlined[2].startswith("=") else 2))
            continue
        lines = content.splitlines()
        listed = len(lines) > 1 and sum(bool(_ITEM.match(line)) for line in lines) >= len(lines) / 2
        blocks.append(Block(BlockKind.LIST if listed else BlockKind.PARAGRAPH, span))
    return tuple(blocks)


def heading_text(content: str) -> str:
    """A heading without its marks: ``## Name`` and ``Name`` over a line both read ``Name``."""
    content = _UNDERLINED.sub(r"\1", content.strip())
    return " ".join(re.sub(r"^#{1,6}\s+|\s+#+\s*$", "", content).split())


def _title(text: str, blocks: tuple[Block, ...]) -> str:
    if not blocks:
        return ""
    first = blocks[0].span.of(text)
    if blocks[0].kind is BlockKind.HEADING:
        return heading_text(first)
    alone = len(blocks) > 1 and "\n" not in first and len(first) <= _TITLE_LENGTH and not _SENTENCE_END.search(first)
    return first.strip() if alone else ""
