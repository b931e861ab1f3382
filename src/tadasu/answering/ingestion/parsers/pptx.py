"""PowerPoint shows: every slide under its title, with its text, tables, chart data and speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pptx
from lxml import etree
from pptx.exc import PythonPptxError

from tadasu.answering.ingestion.parsers.dates import labelled_date
from tadasu.answering.ingestion.parsers.office import UNREADABLE, check_container, core_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.parsers.tables import Header, table_lines
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentDamaged, DocumentEmpty

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_TEMPLATE_TITLES = frozenset({"", "PowerPoint Presentation", "PowerPoint プレゼンテーション"})


def parse_pptx(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A show as one document; the number of a slide is its page."""
    kind = "PowerPoint (.pptx)"
    check_container(data, source=source, kind=kind, folder="ppt", limits=limits)
    builder = TextBuilder()
    try:
        show = pptx.Presentation(io.BytesIO(data))
        for number, slide in enumerate(show.slides, start=1):
            _slide(slide, builder, number)
        properties = show.core_properties
    except (PythonPptxError, KeyError, ValueError, AttributeError, etree.LxmlError):
        raise DocumentDamaged(source=source, kind=kind, reason=UNREADABLE) from None
    if not builder.text:
        raise DocumentEmpty(source=source)
    title = (properties.title or "").strip()
    yield Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type=_MEDIA_TYPE,
        title=builder.first_heading() if title in _TEMPLATE_TITLES else title,
        date=labelled_date(builder.text) or core_date(properties.modified, properties.created),
        language=(properties.language or "")[:2].lower(),
        metadata={"slides": str(len(show.slides))},
    )


def _slide(slide: Any, builder: TextBuilder, number: int) -> None:
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    if heading:
        builder.add(BlockKind.HEADING, heading, level=1 if number == 1 else 2, page=number)
    shapes = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    for shape in sorted(shapes, key=lambda s: (s.top or 0, s.left or 0)):
        _shape(shape, builder, number)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        builder.add(BlockKind.PARAGRAPH, slide.notes_slide.notes_text_frame.text, page=number)


def _shape(shape: Any, builder: TextBuilder, number: int) -> None:
    if hasattr(shape, "shapes"):
        for inner in sorted(shape.shapes, key=lambda s: (s.top or 0, s.left or 0)):
            _shape(inner, builder, number)
    elif getattr(shape, "has_table", False):
        builder.add(BlockKind.TABLE, "\n".join(_table(shape.table)), page=number)
    elif getattr(shape, "has_chart", False):
        builder.add(BlockKind.TABLE, "\n".join(_chart(shape.chart)), page=number)
    elif getattr(shape, "has_text_frame", False):
        paragraphs = [text for p in shape.text_frame.paragraphs if (text := p.text.replace("\v", "\n").strip())]
        if len(paragraphs) > 1:
            builder.add(BlockKind.LIST, "\n".join(f"- {text}" for text in paragraphs), page=number)
        elif paragraphs:
            builder.add(BlockKind.PARAGRAPH, paragraphs[0], page=number)


def _table(table: Any) -> list[str]:
    rows: list[list[str]] = []
    origins: dict[tuple[int, int], str] = {}
    for r, row in enumerate(table.rows):
        cells: list[str] = []
        for c, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                origins |= {
                    (r + dr, c + dc): cell.text for dr in range(cell.span_height) for dc in range(cell.span_width)
                }
            cells.append(origins.get((r, c), "") if cell.is_spanned else cell.text)
        rows.append(cells)
    return table_lines(
        rows, header=Header.PRESENT if table.first_row and len(rows) > 1 and len(rows[0]) > 1 else Header.UNSAID
    )


def _chart(chart: Any) -> list[str]:
    """The numbers behind a chart, a row per category."""
    plot = chart.plots[0]
    series = list(plot.series)
    rows = [["", *(s.name for s in series)]]
    for at, category in enumerate(plot.categories):
        values = (s.values[at] if at < len(s.values) else None for s in series)
        rows.append([str(category), *("" if value is None else f"{value:g}" for value in values)])
    caption = [chart.chart_title.text_frame.text] if chart.has_title and chart.chart_title.has_text_frame else []
    return caption + table_lines(rows, header=Header.PRESENT)
