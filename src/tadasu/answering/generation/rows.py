"""Rows of tables as answers: the row that the question names, or all rows where it names none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.generation.facts import facts_of
from tadasu.answering.generation.quoting import Quote
from tadasu.text.mentions import names_cell
from tadasu.text.normalize import fold

_MOST = 8
"""Rows that are shown at most where a question names none."""
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|fewest|(?:high|low|long|short|larg|bigg|small|cheap|fast|slow|new|old|heavi|light|great|earli|lat|wid|deep)est)\b"
    r"|最も|もっとも|一番|最(?:大|小|高|低|長|短|多|少|安|新|古|速)"
)


def named_cells(question: str, quote: Quote) -> int:
    """How many cells of a row the question states whole; 0 for what is no row."""
    return sum(names_cell(question, cell) for cell in quote.cells)


def without_other_rows(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """`quotes` without the rows of a table in which another row has more of the cells that the question names."""
    most: dict[tuple[str, int], int] = {}
    found = {id(quote): named_cells(question, quote) for quote in quotes}
    for quote in quotes:
        most[_table(quote)] = max(found[id(quote)], most.get(_table(quote), 0))
    return [quote for quote in quotes if not quote.cells or found[id(quote)] == most[_table(quote)]]


def undecided(question: str, best: Quote, quotes: Sequence[Quote]) -> list[Quote]:
    """The rows among which the question does not choose, `best` among them, in order; `best` alone where it does.

    A question chooses by words of a row; one for the highest or the longest never does: that is for the reader, who
    sees all rows. Empty where there are more rows than can be shown.
    """
    rows = [quote for quote in quotes if best.cells and _table(quote) == _table(best)]
    if not superlative(question):
        mine = _said(question, best)
        rows = [row for row in rows if mine == _said(question, row)] if not mine else [best]
    if len(rows) < 2:
        return [best]
    return sorted(rows, key=lambda row: row.evidence.number) if len(rows) <= _MOST else []


def superlative(question: str) -> bool:
    """Whether a question asks for the one that has most or least of something."""
    return _SUPERLATIVE.search(fold(question).casefold()) is not None


def _said(question: str, row: Quote) -> frozenset[str]:
    return facts_of(question).terms & facts_of("\n".join(row.cells)).terms


def _table(quote: Quote) -> tuple[str, int]:
    return quote.evidence.strip.passage_id, len(quote.cells)
