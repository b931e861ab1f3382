"""CSV and TSV: a table, or one document a row where a column holds running text."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tadasu.answering.ingestion.decode import decode
from tadasu.answering.ingestion.parsers.dates import iso_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, RowProblem, TextBuilder
from tadasu.answering.ingestion.parsers.tables import Header, looks_like_header, table_lines
from tadasu.core.documents import Block, BlockKind, Span
from tadasu.errors import DocumentEmpty

TEXT_NAMES = ("text", "content", "body", "passage", "本文", "内容", "テキスト")
TITLE_NAMES = ("title", "name", "subject", "headline", "タイトル", "題名", "件名", "表題")
DATE_NAMES = (
    "date",
    "updated",
    "updated_at",
    "published",
    "created",
    "created_at",
    "日付",
    "更新日",
    "公開日",
    "作成日",
)
LANGUAGE_NAMES = ("language", "lang", "言語")
ID_NAMES = ("id", "key", "_id", "uid")
_SPANNING_LINES = 200
_UNCLOSED = 20
_DELIMITERS = ",\t;|"


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: list[str]


def parse_csv(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed | RowProblem]:
    """The rows under their header.

    A file with a text column (``text``, ``content``, ``body``, 本文 …) beside others holds one document a row, named
    ``#id`` or ``#<line>``; any other file is one document, a table whose every row names its columns.
    """
    del limits
    decoded = decode(data, source=source)
    rows: list[_Row] = []
    limit = csv.field_size_limit(len(decoded.text) + 1)
    try:
        read = list(_rows(decoded.text))
    finally:
        csv.field_size_limit(limit)
    for row in read:
        if isinstance(row, RowProblem):
            yield row
        else:
            rows.append(row)
    if not rows:
        raise DocumentEmpty(source=source)
    names = [cell.strip() for cell in rows[0].cells]
    body = [row.cells for row in rows[1:]]
    headed = looks_like_header(names, body) or not any(re.search(r"\d", name) for name in names)
    text_column = named_column(names, TEXT_NAMES)
    if headed and text_column is not None and len(names) > 1 and body:
        yield from _documents(names, rows[1:], text_column)
        return
    builder = TextBuilder()
    builder.add(
        BlockKind.TABLE, "\n".join(table_lines([names, *body], header=Header.PRESENT if headed else Header.ABSENT))
    )
    yield Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type="text/csv",
        date=_latest_date(names, body) if headed else "",
        metadata={"encoding": decoded.encoding, "rows": str(len(body) if headed else len(rows))},
    )


def csv_rows(data: bytes, *, source: str) -> Iterator[tuple[int, list[str]] | RowProblem]:
    """(line, cells) of every row that is not empty, the header's first, whatever the encoding and the delimiter.

    A row that cannot be read is a problem, and reading goes on. Raises EncodingUnknown.
    """
    text = decode(data, source=source).text
    limit = csv.field_size_limit(len(text) + 1)
    try:
        read = list(_rows(text))
    finally:
        csv.field_size_limit(limit)
    for row in read:
        yield row if isinstance(row, RowProblem) else (row.line, row.cells)


def named_column(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Position of the first of `wanted` among `names`, whatever the case."""
    lowered = [name.strip().lower() for name in names]
    return next((lowered.index(name) for name in wanted if name in lowered), None)


def _latest_date(names: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A price list is as old as its newest row; a column that is only called date may hold anything (holidays)."""
    column = named_column(
        names, ("updated", "updated_at", "valid from", "effective", "effective date", "更新日", "適用日", "改定日")
    )
    return max((iso_date(row[column]) for row in body), default="") if column is not None else ""


def _documents(names: list[str], rows: Sequence[_Row], text_column: int) -> Iterator[Parsed | RowProblem]:
    title, date, language, key = (named_column(names, n) for n in (TITLE_NAMES, DATE_NAMES, LANGUAGE_NAMES, ID_NAMES))
    special = {text_column, title, date, language}
    seen: dict[str, int] = {}
    for row in rows:
        cells = row.cells
        text = cells[text_column].strip()
        name = cells[key].strip() if key is not None and cells[key].strip() else str(row.line)
        if not text:
            yield RowProblem(row.line, f"the column {names[text_column]} is empty")
        elif name in seen:
            yield RowProblem(row.line, f"the id {name} was used in row {seen[name]}")
        else:
            seen[name] = row.line
            yield Parsed(
                text=text,
                blocks=(Block(BlockKind.PARAGRAPH, Span(0, len(text))),),
                media_type="text/csv",
                title=cells[title].strip() if title is not None else "",
                date=iso_date(cells[date]) if date is not None else "",
                language=cells[language].strip().lower() if language is not None else "",
                key=name,
                fingerprint=hashlib.sha256("\x1f".join([*names, *cells]).encode()).hexdigest(),
                metadata={
                    n: c.strip()
                    for at, (n, c) in enumerate(zip(names, cells, strict=True))
                    if c.strip() and at not in special
                },
            )


def _rows(text: str) -> Iterator[_Row | RowProblem]:
    """Rows in order; one that cannot be read is a problem, and reading goes on at the line after its first."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
    delimiter = _delimiter(lines)
    at, width, unclosed = 0, 0, 0
    while at < len(lines):
        # A file full of stray quotes is read line by line: looking for the end of each would take for ever.
        spanning = _SPANNING_LINES if unclosed < _UNCLOSED else 1
        cells, used = _record(lines[at : at + spanning], delimiter)
        line = at + 1
        if cells is None:
            yield RowProblem(line, "a quote is never closed")
            at += 1
            unclosed += 1
            continue
        at += used
        if not any(cell.strip() for cell in cells):
            continue
        if not width:
            while cells and not cells[-1].strip():
                cells.pop()
            width = len(cells)
        if len(cells) > width and not any(cell.strip() for cell in cells[width:]):
            cells = cells[:width]
        if len(cells) != width:
            yield RowProblem(line, f"{len(cells)} fields, the header has {width}")
            at = line if used > 1 else at
            unclosed += used > 1
            continue
        yield _Row(line, cells)


def _record(lines: Sequence[str], delimiter: str) -> tuple[list[str] | None, int]:
    """The cells of the record that `lines` begin with, and how many it takes; None where it never ends.

    A quote opens a cell only at its beginning: the inches of ``5" pipe`` are no quote.
    """
    border = re.escape(delimiter)
    closed = re.compile(rf'(^|{border})"(?:[^"]|"")*"(?={border}|[\r\n]*\Z)')
    opened = re.compile(rf'(?:^|{border})"')
    record = ""
    for used, line in enumerate(lines, start=1):
        record += line
        if '"' in record and opened.search(closed.sub(r"\1", record)):
            continue
        found = list(csv.reader([record], delimiter=delimiter))
        return (found[0] if found else []), used
    return None, 1


def _delimiter(lines: list[str]) -> str:
    """The mark that cuts the first lines most evenly; a comma where none does."""
    sample = [line for line in lines[:30] if line.strip()]
    best, best_score = ",", 0.0
    for mark in _DELIMITERS:
        counts = [re.sub(r'"[^"]*"', "", line).count(mark) for line in sample]
        if not counts or not counts[0]:
            continue
        score = sum(count == counts[0] for count in counts) / len(counts) * min(counts[0], 3)
        if score > best_score:
            best, best_score = mark, score
    return best
