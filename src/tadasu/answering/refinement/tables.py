"""Rows and lists: what a question points at, and what is read as one, whatever a grader says of single strips."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.refinement.strips import cells_of, is_labelled, table_heads
from tadasu.core.documents import Strip
from tadasu.text.mentions import names_cell

SMALL_TABLE = 12
"""Rows up to which a table goes on whole: a row is read beside the others."""
SHORT_LIST = 8
"""Items up to which a list goes on whole."""
_ITEM = re.compile(r"\s*(?:[-*•・]|\(?\d{1,2}[.)）]|[①-⑳])\s*\S")
_LABEL_LINE = re.compile(r"([^:：|\n]{1,40})[:：]\s?[^\n]{1,60}$")
_FOLLOWS = re.compile(r"[:：]$|\b(?:following|below)\b|[次下]の?表|次の(?:とおり|通り|よう)|下記|以下", re.IGNORECASE)
_LABEL = re.compile(r"^[^:：]{1,40}[:：]\s?")


def named_rows(strips: Sequence[Strip], question: str) -> dict[int, str]:
    """The rows with a cell that the question states whole, as words or as a date in any notation, with that cell.

    A line such as ``Severity: 1`` is a row whose label counts as a cell.
    """
    found = {}
    for strip in strips:
        cells = cells_of(strip.text)
        values = [_LABEL.sub("", cell) for cell in cells] if is_labelled(cells) else cells
        if label := _LABEL_LINE.match(strip.text.strip()):
            cells = values = [label[1], ""]
        if (cell := next((value for value in values if names_cell(question, value)), "")) and len(cells) > 1:
            found[strip.index] = cell
    return found


def small_tables(strips: Sequence[Strip]) -> list[frozenset[int]]:
    """The tables of up to `SMALL_TABLE` rows, each as the indices of its rows, its head row among them."""
    heads = table_heads(strips)
    tables: dict[tuple[str, int], set[int]] = {}
    for strip in strips:
        cells = cells_of(strip.text)
        if len(cells) > 1 and is_labelled(cells):
            tables.setdefault(("labelled", len(cells)), set()).add(strip.index)
        elif strip.index in heads:
            tables.setdefault(("headed", heads[strip.index]), {heads[strip.index]}).add(strip.index)
    return [frozenset(rows) for rows in tables.values() if len(rows) <= SMALL_TABLE + 1]


def short_lists(strips: Sequence[Strip]) -> list[frozenset[int]]:
    """The lists of 2 to `SHORT_LIST` items, each as the indices of its items: strips that begin with a list mark."""
    lists: list[set[int]] = [set()]
    for strip in strips:
        if _ITEM.match(strip.text) and "|" not in strip.text:
            lists[-1].add(strip.index)
        elif strip.text.strip():
            lists.append(set())
    return [frozenset(items) for items in lists if 1 < len(items) <= SHORT_LIST]


def announces(strips: Sequence[Strip], before: int, first: int) -> bool:
    """Whether strip `before` stands right before strip `first` and says that something follows."""
    if any(strip.text.strip() for strip in strips[before + 1 : first]):
        return False
    return _FOLLOWS.search(strips[before].text.strip()) is not None
