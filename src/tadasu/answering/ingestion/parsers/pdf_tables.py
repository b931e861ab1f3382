"""Ruled tables of a PDF page: the cells by pdfplumber, their text by PDFium."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pdfplumber

from tadasu.answering.ingestion.parsers.pdf_lines import Line, clean
from tadasu.answering.ingestion.parsers.tables import table_lines

_WIDE_START = "\u3000"
_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table as lines that explain themselves, and its box in points from the lower left corner."""

    lines: tuple[str, ...]
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, line: Line) -> bool:
        """Whether the middle of a text line lies in the table."""
        x, y = (line.left + line.right) / 2, (line.bottom + line.top) / 2
        return self.left <= x <= self.right and self.bottom <= y <= self.top


def ruled_tables(stream: io.BytesIO, index: int, *, textpage: Any, height: float) -> list[RuledTable]:
    """Tables of page `index` (from 0) with at least two rows and two columns; none where pdfplumber gives up."""
    tables: list[RuledTable] = []
    try:
        with pdfplumber.open(stream, pages=[index + 1]) as document:
            found = document.pages[0].find_tables()
            for table in found:
                grid = [list(row.cells) for row in table.rows]
                if len(grid) < 2 or max(map(len, grid)) < 2:
                    continue
                lines = table_lines(_texts(grid, textpage, height))
                left, top, right, bottom = table.bbox
                if lines:
                    tables.append(RuledTable(tuple(lines), left, height - bottom, right, height - top))
    except Exception:  # noqa: BLE001 - PDFium has read the page: whatever trips the table finder must not cost the text
        return []
    return tables


def _texts(grid: Sequence[Sequence[_Box | None]], textpage: Any, height: float) -> list[list[str]]:
    """Text of every cell; a place that a merged cell covers repeats its text."""
    texts: list[list[str]] = []
    for r, row in enumerate(grid):
        line: list[str] = []
        for c, box in enumerate(row):
            if box is not None:
                left, top, right, bottom = box
                raw = textpage.get_text_bounded(left, height - bottom, right, height - top)
                line.append(_joined(raw))
            elif (c and row[c - 1] is None and line) or (
                c and (before := row[c - 1]) is not None and _is_wide(grid, c - 1, before)
            ):
                line.append(line[-1])
            else:
                line.append(texts[r - 1][c] if r and c < len(texts[r - 1]) else "")
        texts.append(line)
    return texts


def _is_wide(grid: Sequence[Sequence[_Box | None]], column: int, box: _Box) -> bool:
    """Whether a cell is wider than the narrowest of its column: then it covers the empty place at its right."""
    widths = [b[2] - b[0] for row in grid if column < len(row) and (b := row[column]) is not None]
    return box[2] - box[0] > min(widths) * 1.05


def _joined(raw: str) -> str:
    text = ""
    for part in clean(raw.replace("\x02", "-")).split("\n"):
        piece = part.strip()
        if text and piece and not (text[-1] >= _WIDE_START and piece[0] >= _WIDE_START):
            text += " "
        text += piece
    return text
