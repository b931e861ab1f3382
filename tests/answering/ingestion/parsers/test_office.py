"""Word, Excel and PowerPoint: structure in order, what is hidden in their XML too."""

from __future__ import annotations

import datetime as dt
import io
import re
from typing import Any

import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from openpyxl.styles import numbers
from pptx.util import Inches

from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.answering.ingestion.parsers.registry import parse_bytes
from tadasu.core.documents import BlockKind
from tests.answering.ingestion.making import excel, repack, word

K = BlockKind


def read(name: str, data: bytes) -> Parsed:
    (item,) = parse_bytes(name, data)
    assert isinstance(item, Parsed)
    return item


def blocks(item: Parsed) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, block.span.of(item.text)) for block in item.blocks]


def test_a_word_document_in_order_with_its_properties() -> None:
    def fill(document: Any) -> None:
        document.core_properties.title = "圧力計の手引き"
        document.core_properties.modified = dt.datetime(2026, 4, 1, 12)  # noqa: DTZ001 - Office has no zones
        document.add_heading("手引き", level=1)
        document.add_paragraph("最初の段落です。")
        document.add_paragraph("点検", style="List Bullet")
        document.add_paragraph("清掃", style="List Bullet")
        document.add_paragraph("まず止める", style="List Number")
        table = document.add_table(rows=3, cols=3)
        for row, cells in zip(
            table.rows, [["型番", "範囲", "価格"], ["PT", "10 bar", "480"], ["PU", "20 bar", ""]], strict=True
        ):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
        table.cell(1, 2).merge(table.cell(2, 2))
        document.add_heading("Second", level=2)
        document.add_paragraph("Last words.")

    item = read("a.docx", word(fill))
    assert blocks(item) == [
        (K.HEADING, 1, "手引き"),
        (K.PARAGRAPH, 0, "最初の段落です。"),
        (K.LIST, 0, "- 点検\n- 清掃\n1. まず止める"),
        (K.TABLE, 0, "型番: PT | 範囲: 10 bar | 価格: 480\n型番: PU | 範囲: 20 bar | 価格: 480"),
        (K.HEADING, 2, "Second"),
        (K.PARAGRAPH, 0, "Last words."),
    ]
    assert (item.title, item.date) == ("圧力計の手引き", "2026-04-01")


def test_insertions_links_boxes_and_controls_of_word_are_read_and_deletions_are_not() -> None:
    def fill(document: Any) -> None:
        body = document.element.body
        w = nsdecls("w")
        body.insert(
            0,
            parse_xml(
                f'<w:p {w}><w:r><w:t xml:space="preserve">Kept </w:t></w:r><w:ins w:id="1" w:author="a"><w:r><w:t>inserted</w:t></w:r></w:ins>'
                f'<w:del w:id="2" w:author="a"><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p>'
            ),
        )
        body.insert(
            1,
            parse_xml(f"<w:sdt {w}><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"),
        )
        body.insert(2, parse_xml(
            f"<w:p {w}><w:r><w:t>Anchor</w:t></w:r><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>"
        ))  # fmt: skip

    text = read("a.docx", word(fill)).text
    assert text == "Kept inserted\n\nIn a control\n\nAnchor\nIn a box"


def test_a_workbook_shows_its_values_as_the_sheet_does() -> None:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.worksheets[0]
        sheet.title = "価格"
        sheet.append(["Price list 2026"])
        sheet.merge_cells("A1:D1")
        sheet.append(["Model", "Price", "Share", "Valid from"])
        sheet.append(["PT-100", 48000, 0.125, dt.date(2026, 4, 1)])
        sheet.append(["PT-200", 1234.5, None, None])
        sheet.append([])
        sheet.append(["Note", "All prices without tax"])
        sheet["B3"].number_format = '"¥"#,##0'
        sheet["B4"].number_format = "#,##0.00"
        sheet["C3"].number_format = numbers.FORMAT_PERCENTAGE_00
        sheet.merge_cells("A3:A4")
        book.create_sheet("Empty")
        other = book.create_sheet("Sites")
        other.append(["Site", "Opened", "Open"])
        other.append(["Matsumoto", 1954, True])

    item = read("a.xlsx", excel(fill))
    assert blocks(item) == [
        (K.HEADING, 1, "価格"),
        (
            K.TABLE,
            0,
            "Price list 2026\nModel: PT-100 | Price: ¥48,000 | Share: 12.5% | Valid from: 2026-04-01\nModel: PT-100 | Price: 1,234.50",
        ),
        (K.TABLE, 0, "Note: All prices without tax"),
        (K.HEADING, 1, "Sites"),
        (K.TABLE, 0, "Site: Matsumoto | Opened: 1954 | Open: TRUE"),
    ]
    assert {block.page for block in item.blocks} == {None}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_sheet_formatted_to_its_end_costs_what_it_holds(monkeypatch: pytest.MonkeyPatch, streamed: bool) -> None:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.worksheets[0]
        sheet.append(["Model", "Range", "Price"])
        sheet.append(["PT-100", "10 bar", 480])
        sheet.cell(1_000_000, 200).number_format = "0.00"
        sheet.cell(40, 2).value = "far below"

    if streamed:
        monkeypatch.setattr("tadasu.answering.ingestion.parsers.xlsx._STREAM_BYTES", 0)
    data = excel(fill)
    if streamed:  # openpyxl's streaming reader makes every row up to the last
        data = repack(data, lambda entries: entries.update({
            name: re.sub(rb'<row r="1000000".*?</row>', b"", content) for name, content in entries.items()
            if name.endswith("sheet1.xml")
        }))  # fmt: skip
    item = read("a.xlsx", data)
    assert [text for _, _, text in blocks(item)] == ["Sheet", "Model: PT-100 | Range: 10 bar | Price: 480", "far below"]


def test_a_show_gives_titles_text_tables_and_notes_with_the_slide_as_page() -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "目標"
    slide.placeholders[1].text = "納期を守る\n苦情を減らす"
    slide.notes_slide.notes_text_frame.text = "ここで質問を受ける。"
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Results"
    table = second.shapes.add_table(2, 3, Inches(1), Inches(2), Inches(6), Inches(1)).table
    for column, (name, value) in enumerate([("Goal", "Delivery"), ("Target", "96.5 %"), ("Last year", "94.8 %")]):
        table.cell(0, column).text, table.cell(1, column).text = name, value
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1)).text_frame.text = "In a group"
    buffer = io.BytesIO()
    show.save(buffer)
    item = read("a.pptx", buffer.getvalue())
    assert [(*block, b.page) for block, b in zip(blocks(item), item.blocks, strict=True)] == [
        (K.HEADING, 1, "目標", 1),
        (K.LIST, 0, "- 納期を守る\n- 苦情を減らす", 1),
        (K.PARAGRAPH, 0, "ここで質問を受ける。", 1),
        (K.HEADING, 2, "Results", 2),
        (K.TABLE, 0, "Goal: Delivery | Target: 96.5 % | Last year: 94.8 %", 2),
        (K.PARAGRAPH, 0, "In a group", 2),
    ]
    assert item.title == "目標"


def test_a_word_document_without_a_title_is_called_by_its_first_heading() -> None:
    assert read("a.docx", word()).title == "Pump manual"
