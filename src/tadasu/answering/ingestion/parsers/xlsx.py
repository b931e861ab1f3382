"""Excel workbooks: every sheet under its name, tables by rows, values as the sheet shows them."""

from __future__ import annotations

import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import openpyxl
from lxml import etree
from openpyxl.utils.exceptions import InvalidFileException

from tadasu.answering.ingestion.parsers.office import UNREADABLE, check_container, core_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.parsers.tables import table_lines
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentDamaged, DocumentEmpty, DocumentTooLarge

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MERGED_CELLS = 10_000
_STREAM_BYTES = 40 * 1024 * 1024
_CURRENCY = re.compile(r"\[\$([^\]-]+)(?:-[^\]]*)?\]|([¥￥$€£])|\"([^\"]{1,4})\"")
_BEFORE_DIGITS = re.compile(r"^[^#0]*")


def parse_xlsx(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A workbook as one document: a heading a sheet, blank rows part its tables, computed values of formulas."""
    kind = "Excel (.xlsx)"
    check_container(data, source=source, kind=kind, folder="xl", limits=limits)
    # Merged cells are known only to the full reader, which takes some fifty times the memory of the file.
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        streamed = (
            sum(e.file_size for e in archive.infolist() if e.filename.startswith("xl/worksheets/")) > _STREAM_BYTES
        )
    builder = TextBuilder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of every extension that it does not keep
            book = openpyxl.load_workbook(io.BytesIO(data), data_only=True, read_only=streamed, keep_links=False)
            cells = 0
            for sheet in book.worksheets:
                cells += _sheet(sheet, builder, source=source, limit=limits.cells - cells)
    except (
        InvalidFileException,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        etree.LxmlError,
        zipfile.BadZipFile,
    ):
        raise DocumentDamaged(source=source, kind=kind, reason=UNREADABLE) from None
    if not any(block.kind is BlockKind.TABLE for block in builder.blocks):
        raise DocumentEmpty(source=source)
    properties = book.properties
    yield Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type=_MEDIA_TYPE,
        title=(properties.title or "").strip(),
        date=core_date(properties.modified, properties.created),
        metadata={"sheets": str(len(book.worksheets))},
    )


def _sheet(sheet: Any, builder: TextBuilder, *, source: str, limit: int) -> int:
    """Add a sheet's tables; returns how many cells held something."""
    tables: list[list[list[str]]] = []
    seen, last = 0, -1
    for number, row in _filled_rows(sheet):
        seen += len(row)
        if seen > limit:
            size = f"a workbook of more than {seen:,} cells"
            raise DocumentTooLarge(source=source, size=size, limit=f"{limit:,} cells")
        if number != last + 1 or not tables:
            tables.append([])
        tables[-1].append([row.get(column, "") for column in range(1, max(row) + 1)])
        last = number
    if tables:
        builder.add(BlockKind.HEADING, sheet.title, level=1)
    for rows in tables:
        builder.add(BlockKind.TABLE, "\n".join(table_lines(rows)))
    return seen


def _filled_rows(sheet: Any) -> Iterator[tuple[int, dict[int, str]]]:
    """Row number → column → text, rows and cells that hold something only.

    Sheets are often formatted down to their last possible row: what is not there must not be made by asking for it.
    """
    stored = getattr(sheet, "_cells", None)
    if stored is None:  # the reader that streams has the rows only
        for number, row in enumerate(sheet.iter_rows(), start=1):
            if filled := {column: text for column, cell in enumerate(row, start=1) if (text := shown(cell))}:
                yield number, filled
        return
    rows: dict[int, dict[int, str]] = {}
    for (number, column), cell in stored.items():
        if text := shown(cell):
            rows.setdefault(number, {})[column] = text
    for area in sheet.merged_cells.ranges:
        text = rows.get(area.min_row, {}).get(area.min_col, "")
        if text and area.size["rows"] * area.size["columns"] <= _MERGED_CELLS:
            for number in range(area.min_row, area.max_row + 1):
                rows.setdefault(number, {}).update(dict.fromkeys(range(area.min_col, area.max_col + 1), text))
    for number in sorted(rows):
        yield number, rows[number]


def shown(cell: Any) -> str:
    """A cell's value as a reader of the sheet sees it: dates in ISO, per cent, thousands, decimals, currency."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (int, float)):
        return _number(value, getattr(cell, "number_format", None) or "General")
    return str(value)


def _number(value: float, number_format: str) -> str:
    section = number_format.split(";", maxsplit=1)[0]
    plain = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", section)
    if "%" in plain:
        return _plain(round(value * 100, 6)) + "%"
    if not re.search(r"[0#]", plain) or re.search(r"[ymdhsE]", plain):
        return _plain(value)
    decimals = re.search(r"\.([0#?]+)", plain)
    places = len(decimals[1]) if decimals else 0
    text = f"{value:{',' if ',' in plain else ''}.{places}f}" if abs(value) < 1e15 else _plain(value)
    if decimals and "#" in decimals[1]:
        text = text.rstrip("0").rstrip(".")
    found = _CURRENCY.search(section)
    unit = next((group for group in found.groups() if group), "") if found else ""
    before = found is not None and found.start() < len((_BEFORE_DIGITS.match(section) or [""])[0])
    return text if not unit else (unit + text if before else text + unit)


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(round(value, 10))
