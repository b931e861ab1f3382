"""Rows of a table that a question points at, whatever a grader says of single rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.refinement.strips import cells_of, is_labelled, table_heads
from tadasu.core.documents import Strip
from tadasu.text.mentions import names_cell

SMALL_TABLE = 12
"""Rows up to which a table goes on whole: a row is read beside the others."""
_LABEL = re.compile(r"^[^:：]{1,40}[:：]\s?")


def named_rows(strips: Sequence[Strip], question: str) -> dict[int, str]:
    """The rows with a cell that the question states whole, as words or as a date in any notation, with that cell."""
    found = {}
    for strip in strips:
        cells = cells_of(strip.text)
        values = [_LABEL.sub("", cell) for cell in cells] if is_labelled(cells) else cells
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
