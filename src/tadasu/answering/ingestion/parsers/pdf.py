"""PDF: the text layer by PDFium, put back into headings and paragraphs, ruled tables by pdfplumber."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from tadasu.answering.ingestion.parsers.dates import iso_date, labelled_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.parsers.pdf_lines import Line, page_lines
from tadasu.answering.ingestion.parsers.pdf_tables import RuledTable, ruled_tables
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentDamaged, DocumentEncrypted, TextLayerMissing

_KIND = "PDF"
_TAIL = 4096
_EDGE_LINES = 2
_PAGE_NUMBER = re.compile(
    r"^[-–—\s]*(?:p(?:age|\.)?\s*)?\d{1,4}(?:\s*(?:/|of|\|)\s*\d{1,4})?(?:\s*(?:ページ|頁|page))?[-–—\s]*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:[•‣◦●○■□▪▫–—・※*-]\s?|\(?\d{1,3}[.)]\s|[①-⑳]|[（(]\d{1,2}[)）])")
_NUMBERED = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+\S|第[\d一二三四五六七八九十]+[章節])")
_SENTENCE_END = re.compile(r"[.。!?！？:：」）)]$")
_WIDE = re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]")
_JUNK_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel) - .*|untitled.*|anonymous|無題.*"
    r"|.*\.(?:docx?|xlsx?|pptx?|indd|tex|html?|pdf))$",
    re.IGNORECASE,
)
_HEADING_SHARE = 1.12
_HEADING_LENGTH = 120


@dataclass(slots=True)
class _Page:
    number: int
    lines: list[Line]
    tables: list[RuledTable]


def parse_pdf(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A PDF as one document with page numbers. Headers, footers and page numbers that repeat are left out.

    Raises:
        DocumentEncrypted: it needs a password.
        DocumentDamaged: cut short, broken, or its text layer maps to no characters.
        TextLayerMissing: no page has text, with the number of pages.
    """
    if b"%%EOF" not in data[-_TAIL:] and b"startxref" not in data[-_TAIL:]:
        raise DocumentDamaged(source=source, kind=_KIND, reason="its end is missing")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise DocumentEncrypted(source=source) from None
        raise DocumentDamaged(source=source, kind=_KIND, reason=_reason(error)) from None
    try:
        pages = _pages(document, data, source=source, limits=limits)
        information = _information(document)
    except pypdfium2.PdfiumError as error:
        raise DocumentDamaged(source=source, kind=_KIND, reason=_reason(error)) from None
    finally:
        document.close()
    _check_text(pages, source=source)
    builder = _build(pages)
    bare = [str(page.number) for page in pages if not page.lines and not page.tables]
    title = " ".join(information.get("Title", "").split())
    yield Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type="application/pdf",
        title=builder.first_heading() if not title or _JUNK_TITLE.match(title) else title,
        date=labelled_date(builder.text)
        or iso_date(information.get("ModDate", ""))
        or iso_date(information.get("CreationDate", "")),
        metadata={"pages": str(len(pages))} | ({"pages_without_text": ",".join(bare[:100])} if bare else {}),
    )


def _information(document: Any) -> dict[str, str]:
    try:
        return dict(document.get_metadata_dict())
    except UnicodeDecodeError:
        return {}  # a broken title is no reason to lose the text


def _reason(error: Exception) -> str:
    return str(error).partition("(PDFium: ")[2].rstrip(").").lower() or "it cannot be opened"


def _pages(document: Any, data: bytes, *, source: str, limits: Limits) -> list[_Page]:
    if len(document) == 0:
        raise DocumentDamaged(source=source, kind=_KIND, reason="it has no pages")
    pages: list[_Page] = []
    searched, until = 0, time.monotonic() + limits.table_seconds
    for index in range(len(document)):
        page = document[index]
        textpage = page.get_textpage()
        lines = page_lines(textpage.raw)
        tables: list[RuledTable] = []
        if lines and searched < limits.table_pages and time.monotonic() < until and _is_ruled(page):
            searched += 1
            tables = ruled_tables(io.BytesIO(data), index, textpage=textpage, height=page.get_height())
            lines = [line for line in lines if not any(table.holds(line) for table in tables)]
        pages.append(_Page(index + 1, lines, tables))
        textpage.close()
        page.close()
    return pages


def _is_ruled(page: Any) -> bool:
    """Whether a page has enough straight paths for a table, and stands upright (pdfplumber's boxes agree only then)."""
    if page.get_rotation() or tuple(page.get_mediabox()[:2]) != (0, 0):
        return False
    paths = 0
    for paint in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_PATH], max_depth=3):
        paths += max(1, pdfium_c.FPDFPath_CountSegments(paint.raw) // 2)
        if paths >= 6:
            return True
    return False


def _check_text(pages: Sequence[_Page], *, source: str) -> None:
    text = "".join(line.text for page in pages for line in page.lines) + "".join(
        "".join(t.lines) for p in pages for t in p.tables
    )
    if not text.strip():
        raise TextLayerMissing(source=source, pages=len(pages))
    unmapped = sum(character == "\ufffd" or "\ue000" <= character <= "\uf8ff" for character in text)
    if unmapped > 0.3 * len(text):
        raise DocumentDamaged(source=source, kind=_KIND, reason="its text layer maps to no characters; OCR may help")


def _build(pages: Sequence[_Page]) -> TextBuilder:
    levels = _heading_levels(pages)
    _drop_running_lines(pages, levels)
    builder = TextBuilder()
    for page in pages:
        pending: list[Line] = []
        after = _placed(page)
        pitch = _pitch(page.lines)
        right = max((line.right for line in page.lines), default=0.0)
        _add_tables(builder, after.get(-1, ()), page.number)
        for at, line in enumerate(page.lines):
            if pending and not _runs_on(pending[-1], line, pitch=pitch, right=right, levels=levels):
                _flush(builder, pending, page.number, levels)
            pending.append(line)
            if at in after:
                _flush(builder, pending, page.number, levels)
                _add_tables(builder, after[at], page.number)
        _flush(builder, pending, page.number, levels)
    return builder


def _placed(page: _Page) -> dict[int, list[RuledTable]]:
    """Index of the line that each table follows (-1: none): the nearest one above it, whatever the order of content."""
    after: dict[int, list[RuledTable]] = {}
    for table in sorted(page.tables, key=lambda table: -table.top):
        above = [
            (line.bottom, at)
            for at, line in enumerate(page.lines)
            if line.bottom >= table.top - line.size / 2 and line.left < table.right and line.right > table.left
        ]
        after.setdefault(min(above)[1] if above else -1, []).append(table)
    return after


def _add_tables(builder: TextBuilder, tables: Sequence[RuledTable], page: int) -> None:
    for table in tables:
        builder.add(BlockKind.TABLE, "\n".join(table.lines), page=page)


def _drop_running_lines(pages: Sequence[_Page], levels: dict[float, int]) -> None:
    """Take out what repeats at one height of the edges from page to page, its number apart, and page numbers.

    The first of them stays where it is set as a heading: shows repeat their title on every page.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for page in pages:
        counts.update({_pattern(line, page.number) for line in _edges(page.lines)})
    needed = max(2, len(pages) // 2)
    kept: set[tuple[str, int]] = set()
    for page in pages:
        edges = _edges(page.lines)
        lines: list[Line] = []
        for line in page.lines:
            pattern = _pattern(line, page.number)
            repeats = line in edges and counts[pattern] >= needed
            if not repeats and not (line in edges and _PAGE_NUMBER.match(line.text)):
                lines.append(line)
            elif repeats and line.size in levels and pattern not in kept:
                kept.add(pattern)
                lines.append(line)
        page.lines = lines


def _edges(lines: Sequence[Line]) -> list[Line]:
    ordered = sorted(lines, key=lambda line: -line.top)
    return ordered[:_EDGE_LINES] + ordered[-_EDGE_LINES:]


def _pattern(line: Line, page: int) -> tuple[str, int]:
    """A line without the number of its page, and its height."""
    return re.sub(rf"(?<!\d){page}(?!\d)", "#", line.text), round(line.bottom / 6)


def _heading_levels(pages: Sequence[_Page]) -> dict[float, int]:
    """Font size → heading level: the sizes clearly above that of most text, largest first."""
    weight: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            weight[line.size] += len(line.text)
    if not weight:
        return {}
    body = weight.most_common(1)[0][0]
    larger = sorted((size for size in weight if size >= body * _HEADING_SHARE and size > body + 0.9), reverse=True)
    return {size: min(6, level) for level, size in enumerate(larger, start=1)}


def _pitch(lines: Sequence[Line]) -> float:
    """Usual distance from one line to the next on a page, in points."""
    steps = sorted(
        a.bottom - b.bottom for a, b in itertools.pairwise(lines) if 0 < a.bottom - b.bottom < 4 * max(a.size, 6)
    )
    return steps[len(steps) // 2] if steps else 14.0


def _level(line: Line, levels: dict[float, int]) -> int:
    if len(line.text) > _HEADING_LENGTH:
        return 0
    if line.size in levels:
        return levels[line.size]
    if line.bold and _NUMBERED.match(line.text) and not _SENTENCE_END.search(line.text):
        return min(6, max(levels.values(), default=0) + 1)
    return 0


def _runs_on(before: Line, line: Line, *, pitch: float, right: float, levels: dict[float, int]) -> bool:
    """Whether `line` goes on with the paragraph (or heading) of the line before it."""
    if before.hyphen:
        return True
    if before.size != line.size or _level(before, levels) != _level(line, levels) or _BULLET.match(line.text):
        return False
    step = before.bottom - line.bottom
    if not -0.5 * line.size < step <= max(1.35 * pitch, 1.2 * line.size):
        return False
    if _level(line, levels):
        return step > 0
    width = max(right - before.left, 1.0)
    full = before.right >= right - 0.12 * width
    return full or (
        not _SENTENCE_END.search(before.text) and (line.text[0].islower() or before.right >= right - 0.3 * width)
    )


def _flush(builder: TextBuilder, pending: list[Line], page: int, levels: dict[float, int]) -> None:
    if not pending:
        return
    level = _level(pending[0], levels)
    text = join_lines(pending)
    if level:
        builder.add(BlockKind.HEADING, text, level=level, page=page)
    else:
        builder.add(BlockKind.LIST if _BULLET.match(text) else BlockKind.PARAGRAPH, text, page=page)
    pending.clear()


def join_lines(lines: Sequence[Line]) -> str:
    """The lines of a paragraph as one: words put together again, no space between Japanese characters."""
    text = lines[0].text
    for before, line in itertools.pairwise(lines):
        if (before.hyphen or text.endswith("-")) and line.text[0].islower() and text[-2:-1].isalpha():
            text = text[:-1] + line.text
        elif before.hyphen or (_WIDE.match(text[-1]) and _WIDE.match(line.text[0])):
            text += line.text
        else:
            text += " " + line.text
    return text
