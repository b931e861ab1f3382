"""Tables as lines that explain themselves: every row carries the names of its columns.

``Model: PT-100 | Range: 0–10 bar | Price: ¥48,000`` is found by a search for any of its words and can be quoted alone.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Sequence

_SPACE = re.compile(r"\s+")
_DIGITS = re.compile(r"\d")
_QUANTITY = re.compile(r"^[\s±+\-−–<>≤≥=~〜約最大¥￥$€£(（]*\d|^(?:EUR|USD|JPY|GBP)\s?\d")
_NAME_LENGTH = 60
_YEARISH = re.compile(
    r"^(?:FY)?\s?(?:19|20)\d\d\s?(?:年度?|[/-]\d{1,2})?$|^Q[1-4]$|^第?\d{1,2}(?:月|四半期|期|回)$", re.IGNORECASE
)
_GENERIC_NAME = re.compile(
    r"^(?:items?|propert(?:y|ies)|parameters?|characteristics?|features?|specifications?|attributes?|fields?|names?"
    r"|keys?|項目|名称|特性|仕様項目|項目名|区分)$",
    re.IGNORECASE,
)
_GENERIC_VALUE = re.compile(
    r"^(?:values?|specifications?|details?|descriptions?|data|contents?"
    r"|値|仕様値|内容|仕様|詳細|説明|規格|数値|データ)$",
    re.IGNORECASE,
)


class Header(enum.Enum):
    """What the file says of the first row."""

    PRESENT = "present"
    ABSENT = "absent"
    UNSAID = "unsaid"


def table_lines(rows: Sequence[Sequence[str]], *, header: Header = Header.UNSAID) -> list[str]:
    """One line per body row, ``name: value`` joined by `` | ``; empty cells are left out.

    Args:
        rows: cells as text, merged cells repeated in every place that they cover.
        header: whether the first row names the columns; where the file does not say, its look decides.

    Two columns under names that say nothing (Item/Value, 項目/値), or without names, read ``item: value``. A row
    that is one merged cell stands alone, and so does a caption above the names.
    """
    grid = [[_SPACE.sub(" ", cell).strip() for cell in row] for row in rows]
    grid = [row for row in grid if any(row)]
    if not grid:
        return []
    width = max(len(row) for row in grid)
    grid = [row + [""] * (width - len(row)) for row in grid]
    used = [column for column in range(width) if any(row[column] for row in grid)]
    grid = [[row[column] for column in used] for row in grid]
    lines: list[str] = []
    while len(grid) > 1 and len(used) > 1 and _is_caption(grid[0]):
        lines.append(next(cell for cell in grid[0] if cell))
        grid = grid[1:]
    if len(used) == 1:
        return lines + [row[0] for row in grid]
    names, body = _names(grid, header)
    return lines + [line for row in body if (line := _line(names, row))]


def _names(grid: list[list[str]], header: Header) -> tuple[list[str], list[list[str]]]:
    """Column names (empty: the table has none) and the rows below them."""
    first = grid[0]
    if (
        len(grid) == 1
        or header is Header.ABSENT
        or (header is Header.UNSAID and not looks_like_header(first, grid[1:]))
    ):
        return [], grid
    below = grid[1]
    spread = any(a and a == b for a, b in itertools.pairwise(first))
    if spread and len(grid) > 2 and looks_like_header(below, grid[2:]):
        return [
            top if top == low or not low else f"{top} {low}".strip() for top, low in zip(first, below, strict=True)
        ], grid[2:]
    return first, grid[1:]


def looks_like_header(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether `row` names columns: words, years or model names over the values below.

    Of two columns the first row is a header only where the values below differ from it in kind; otherwise it may be a
    pair like all others (Material | Steel), and pairs are read as pairs.
    """
    filled = [cell for cell in row if cell]
    if len(filled) < max(2, len(row) - 1) or any(len(cell) > _NAME_LENGTH for cell in filled):
        return False
    if sum(not _QUANTITY.match(cell) or bool(_YEARISH.match(cell)) for cell in row) < 0.75 * len(row):
        return False
    if len(row) == 2 and _GENERIC_NAME.match(row[0]):
        return True
    wordless = [bool(_DIGITS.search(cell)) and not _YEARISH.match(cell) for cell in row]
    if len(row) > 2 and not any(wordless):
        return True
    marks = _DIGITS if not any(wordless) else _QUANTITY
    return len(body) > 1 and any(_share(marks, [cells[c] for cells in body]) >= 0.8 for c in range(len(row)) if row[c])


def _share(pattern: re.Pattern[str], cells: Sequence[str]) -> float:
    filled = [cell for cell in cells if cell]
    return sum(bool(pattern.search(cell)) for cell in filled) / len(filled) if filled else 0.0


def _is_caption(row: Sequence[str]) -> bool:
    return len({cell for cell in row if cell}) == 1 and (len([cell for cell in row if cell]) in {1, len(row)})


def _line(names: Sequence[str], row: Sequence[str]) -> str:
    filled = [cell for cell in row if cell]
    if len(filled) == len(row) and len(set(row)) == 1:
        return row[0]
    if not names:
        if len(row) == 2 and all(row):
            return f"{row[0]}: {row[1]}"
        return " | ".join(_collapse(row))
    if (
        len(names) == 2
        and all(row)
        and _GENERIC_NAME.match(names[0])
        and (not names[1] or _GENERIC_VALUE.match(names[1]))
    ):
        return f"{row[0]}: {row[1]}"
    pairs: list[str] = []
    for name, cell in zip(names, row, strict=True):
        if cell and (not pairs or pairs[-1] != _pair(name, cell)):
            pairs.append(_pair(name, cell))
    return " | ".join(pairs)


def _pair(name: str, cell: str) -> str:
    return f"{name}: {cell}" if name else cell


def _collapse(row: Sequence[str]) -> list[str]:
    """Cells without the repetitions that merging makes, and without empty ones."""
    return [cell for at, cell in enumerate(row) if cell and (at == 0 or row[at - 1] != cell)]
