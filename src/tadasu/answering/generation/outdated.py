"""Documents that say of themselves, or of each other, that they are no longer in force."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.generation.quoting import Quote, label
from tadasu.core.answers import Evidence
from tadasu.core.documents import Strip
from tadasu.text.normalize import fold

YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\d.-])")
"""A year that stands by itself."""
_SUPERSEDED = re.compile(
    r"\b(?:superseded|withdrawn|obsolete|repealed|outdated|no longer (?:valid|in force))\b"
    r"|廃止|失効|無効|改[定訂正]前|旧(?:版|規[程定則]|制度)|\(旧\)"
)
_REPLACES = re.compile(
    r"\b(?:replaces|supersedes)\b|に代わる|に代えて|に取って代わ|を(?:廃止|置き換え)|旧(?:版|規[程定則])を"
)
_FIGURES = re.compile(r"[\W_\d]+")
_OLD = re.compile(r"\b(?:old|former|previous|earlier)\b|旧|以前の|かつて|初代|先代|前任")


def superseded(quote: Quote) -> bool:
    """Whether the title or a heading over a quotation says that its document is no longer in force."""
    return _SUPERSEDED.search(fold(label(quote.evidence)).casefold()) is not None


def of_the_past(question: str, quote: Quote) -> bool:
    """Whether a quotation is about what was, and the question is not: a superseded document, "the old gateway".

    A question that says old itself, or names a year of the document, asks about the past.
    """
    asked = fold(question).casefold()
    if _OLD.search(asked) or _SUPERSEDED.search(asked):
        return False
    stands_under = f"{label(quote.evidence)}\n{quote.evidence.strip.date}"
    if any(year in stands_under for year in YEAR.findall(asked)):
        return False
    return superseded(quote) or _OLD.search(quote.facts.flat) is not None


def replaced_by(older: Strip, newer: Strip, evidence: Sequence[Evidence]) -> bool:
    """Whether `newer` is of a later document of the same kind, which says that it replaces an earlier one.

    Of the same kind: the titles are the same but for their figures.
    """
    if not older.date or older.date >= newer.date or _kind(older.title) != _kind(newer.title):
        return False
    said = "\n".join(piece.strip.text for piece in evidence if piece.strip.document_id == newer.document_id)
    return _REPLACES.search(fold(said).casefold()) is not None


def _kind(title: str) -> str:
    return _FIGURES.sub("", fold(title).casefold())
