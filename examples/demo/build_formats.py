"""Writers of the demo corpus, one per binary format; called by `build.py`.

Every writer takes a parsed source and a path, and gives the same bytes for the same source.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import docx
import openpyxl
from openpyxl.styles import Font
from pptx import Presentation
from pptx.util import Inches, Pt
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

if TYPE_CHECKING:
    from build_sources import Block, Source

JAPANESE_FONT = "HeiseiKakuGo-W5"
_TITLE_SLIDE, _CONTENT_SLIDE, _TABLE_SLIDE = 0, 1, 5


def write_docx(source: Source, target: Path) -> None:
    """Headings, paragraphs, lists and tables with Word's own styles."""
    document = docx.Document()
    for block in source.blocks:
        if block.kind.startswith("heading"):
            document.add_heading(block.text, level=int(block.kind[-1]))
        elif block.kind in ("bullets", "numbers"):
            style = "List Bullet" if block.kind == "bullets" else "List Number"
            for (item,) in block.rows:
                document.add_paragraph(item, style=style)
        elif block.kind == "table":
            table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
            for row in block.rows:
                for cell, value in zip(table.add_row().cells, row, strict=True):
                    cell.text = value
        else:
            document.add_paragraph(block.text)
    _set_properties(document.core_properties, source)
    buffer = io.BytesIO()
    document.save(buffer)
    _repack(buffer, target, source)


def write_pptx(source: Source, target: Path) -> None:
    """A title slide, then one slide per second-level heading; notes go to the speaker's notes."""
    show = Presentation()
    slide: Any = show.slides.add_slide(show.slide_layouts[_TITLE_SLIDE])
    slide.shapes.title.text = source.title
    sections = _sections(source.blocks)
    slide.placeholders[1].text = sections[0][1][-1].text
    for title, blocks in sections[1:]:
        tables = [block for block in blocks if block.kind == "table"]
        bullets = [item for block in blocks for (item,) in _items(block)]
        layout = _TABLE_SLIDE if tables else _CONTENT_SLIDE
        slide = show.slides.add_slide(show.slide_layouts[layout])
        slide.shapes.title.text = title
        for table in tables:
            _slide_table(slide, table)
        if bullets and tables:
            box = slide.shapes.add_textbox(Inches(0.6), Inches(5.2), Inches(8.8), Inches(1.5))
            box.text_frame.text = "\n".join(bullets)
        elif bullets:
            slide.placeholders[1].text = "\n".join(bullets)
        notes = [block.text for block in blocks if block.kind == "note"]
        if notes:
            slide.notes_slide.notes_text_frame.text = "\n".join(notes)
    _set_properties(show.core_properties, source)
    buffer = io.BytesIO()
    show.save(buffer)
    _repack(buffer, target, source)


def write_xlsx(source: Source, target: Path) -> None:
    """One sheet per second-level heading; columns of plain numbers are stored as numbers."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, blocks in _sections(source.blocks)[1:]:
        sheet = book.create_sheet(title)
        rows = next(block.rows for block in blocks if block.kind == "table")
        for number, row in enumerate(rows):
            sheet.append([_number(cell) if number else cell for cell in row])
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for column in sheet.iter_cols():
            money = re.search("Price|価格|送料", str(column[0].value)) is not None
            for cell in column[1:]:
                if isinstance(cell.value, float):
                    cell.number_format = "#,##0.00"
                elif isinstance(cell.value, int):
                    cell.number_format = "#,##0" if money else "0"
        sheet.freeze_panes = "A2"
    properties = book.properties
    properties.creator = source.fields["author"]
    properties.title = source.title
    properties.created = source.when.replace(tzinfo=None)
    buffer = io.BytesIO()
    book.save(buffer)
    _repack(buffer, target, source)


def write_pdf(source: Source, target: Path) -> None:
    """A4 pages with a running foot line; the dates in the metadata are the document's."""
    styles = _pdf_styles(source)
    story: list[Any] = []
    for block in source.blocks:
        story.extend(_flowables(block, styles))
    before = os.environ.get("SOURCE_DATE_EPOCH")
    # reportlab takes the creation date from this variable and from nowhere else.
    os.environ["SOURCE_DATE_EPOCH"] = str(int(source.when.timestamp()))
    try:
        document = SimpleDocTemplate(
            str(target),
            pagesize=A4,
            leftMargin=22 * mm,
            rightMargin=22 * mm,
            topMargin=20 * mm,
            bottomMargin=22 * mm,
            title=source.title,
            author=source.fields["author"],
            lang=source.fields["language"],
        )

        def foot(canvas: Any, page: Any) -> None:
            canvas.setFont(styles["text"].fontName, 8)
            name = "水楢計器株式会社" if source.japanese else "Mizunara Keiki Co., Ltd."
            canvas.drawString(22 * mm, 12 * mm, f"{name}  {source.fields['date']}  {page.page}")

        document.build(story, onFirstPage=foot, onLaterPages=foot)
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]
        else:
            os.environ["SOURCE_DATE_EPOCH"] = before


def _pdf_styles(source: Source) -> dict[str, ParagraphStyle]:
    font, bold, wrap = "Helvetica", "Helvetica-Bold", None
    if source.japanese:
        pdfmetrics.registerFont(UnicodeCIDFont(JAPANESE_FONT))
        font, bold, wrap = JAPANESE_FONT, JAPANESE_FONT, "CJK"
    sizes = {"text": 10, "cell": 9, "heading1": 17, "heading2": 13, "heading3": 11}
    return {
        name: ParagraphStyle(
            name,
            fontName=bold if name.startswith("heading") else font,
            fontSize=size,
            leading=size * 1.45,
            spaceBefore=8 if name.startswith("heading") else 2,
            spaceAfter=4 if name != "cell" else 0,
            wordWrap=wrap,
        )
        for name, size in sizes.items()
    }


def _flowables(block: Block, styles: dict[str, ParagraphStyle]) -> list[Any]:
    if block.kind == "page":
        return [PageBreak()]
    if block.kind == "table":
        text = styles["cell"]
        cells = [[Paragraph(_pdf_text(cell, text), text) for cell in row] for row in block.rows]
        grid = TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
                ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ]
        )
        return [Table(cells, style=grid, hAlign="LEFT", repeatRows=1), Spacer(1, 4 * mm)]
    if block.kind in ("bullets", "numbers"):
        style = styles["text"]
        marks = ["・" if style.wordWrap else "- "] * len(block.rows)
        if block.kind == "numbers":
            marks = [f"{n}. " for n in range(1, len(block.rows) + 1)]
        return [
            Paragraph(_pdf_text(mark + item, style), style) for mark, (item,) in zip(marks, block.rows, strict=True)
        ]
    style = styles.get(block.kind, styles["text"])
    return [Paragraph(_pdf_text(block.text, style), style)]


def _pdf_text(text: str, style: ParagraphStyle) -> str:
    # The standard Latin fonts have no U+2212; makers of such PDFs write a hyphen too.
    return escape(text if style.wordWrap else text.replace("−", "-"))


def _sections(blocks: tuple[Block, ...]) -> list[tuple[str, list[Block]]]:
    """The blocks before the first second-level heading (title ""), then one entry per heading."""
    sections: list[tuple[str, list[Block]]] = [("", [])]
    for block in blocks:
        if block.kind == "heading2":
            sections.append((block.text, []))
        else:
            sections[-1][1].append(block)
    return sections


def _items(block: Block) -> tuple[tuple[str, ...], ...]:
    return block.rows if block.kind in ("bullets", "numbers") else ()


def _slide_table(slide: Any, block: Block) -> None:
    rows, columns = len(block.rows), len(block.rows[0])
    frame = slide.shapes.add_table(rows, columns, Inches(0.6), Inches(1.6), Inches(8.8), Inches(0.45 * rows))
    for r, row in enumerate(block.rows):
        for c, value in enumerate(row):
            cell = frame.table.cell(r, c)
            cell.text = value
            cell.text_frame.paragraphs[0].font.size = Pt(16)


def _number(cell: str) -> str | int | float:
    if re.fullmatch(r"[\d,]+", cell):
        return int(cell.replace(",", ""))
    if re.fullmatch(r"[\d,]+\.\d+", cell):
        return float(cell.replace(",", ""))
    return cell


def _set_properties(properties: Any, source: Source) -> None:
    when = source.when.replace(tzinfo=None)
    properties.title = source.title
    properties.author = source.fields["author"]
    properties.last_modified_by = source.fields["author"]
    properties.language = source.fields["language"]
    properties.comments = ""
    properties.created = when
    properties.modified = when
    properties.revision = 1


def _repack(buffer: io.BytesIO, target: Path, source: Source) -> None:
    """Writes the archive again: fixed entry times, and `modified` as the document says."""
    stamp = source.when.strftime("%Y-%m-%dT%H:%M:%SZ")
    pattern = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*")
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "docProps/core.xml":
                data = pattern.sub(rb"\g<1>" + stamp.encode(), data)
            fixed = zipfile.ZipInfo(entry.filename, date_time=(1980, 1, 1, 0, 0, 0))
            fixed.compress_type = zipfile.ZIP_DEFLATED
            fixed.external_attr = 0o600 << 16
            new.writestr(fixed, data)
