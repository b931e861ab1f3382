"""A citation opened: the place in its document, with what stands around the quote."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.core.answers import Citation
from tadasu.core.documents import Document, Span, Strip
from tadasu.core.runs import Run
from tadasu.errors import CitationNotFound
from tadasu.ports import DocumentShelf

AROUND = 300
"""Characters on each side of a quote."""


class QuoteState(enum.Enum):
    """How a quote stands in the document as it is stored now."""

    EXACT = "exact"
    """At its offsets, letter by letter."""
    MOVED = "moved"
    """Letter by letter, elsewhere: the document has changed since."""
    CHANGED = "changed"
    """The document is there and does not hold it any more."""
    GONE = "gone"
    """The document is not stored, as web pages never are, or not to be seen any more."""


@dataclass(frozen=True, slots=True)
class OpenedCitation:
    """A citation with the text `before` and `after` its quote.

    `stands_at` is where the quote stands in the stored document (code points of its text), None where it does not. For
    CHANGED and GONE the text is what the run kept of its passage.
    """

    citation: Citation
    state: QuoteState
    before: str
    after: str
    stands_at: Span | None = None


async def open_citation(run: Run, marker: int, *, shelf: DocumentShelf, around: int = AROUND) -> OpenedCitation:
    """Citation number `marker` of the answer of `run`, with at most `around` characters on each side.

    The document is asked for as the reader of the run. Raises CitationNotFound.
    """
    citation = next((one for one in run.answer.citations if one.marker == marker), None)
    if citation is None:
        raise CitationNotFound(run=run.id, marker=marker, count=len(run.answer.citations))
    document = await shelf.document(citation.document_id, reader=run.reader)
    span = None if document is None else _place(citation, document)
    if document is None or span is None:
        state = QuoteState.GONE if document is None else QuoteState.CHANGED
        before, after = _kept(citation, [record.strip for record in run.strips])
        return OpenedCitation(citation, state, before[-around:] if around else "", after[:around])
    return OpenedCitation(
        citation,
        QuoteState.EXACT if span == citation.span else QuoteState.MOVED,
        document.text[max(0, span.start - around) : span.start],
        document.text[span.end : span.end + around],
        span,
    )


def _place(citation: Citation, document: Document) -> Span | None:
    """Where the quote stands: at its own offsets, or else as near to them as it can be found."""
    if citation.span.of(document.text) == citation.quote:
        return citation.span
    found, at = list[int](), document.text.find(citation.quote)
    while at >= 0:
        found.append(at)
        at = document.text.find(citation.quote, at + 1)
    if not found:
        return None
    start = min(found, key=lambda one: abs(one - citation.span.start))
    return Span(start, start + len(citation.quote))


def _kept(citation: Citation, strips: Sequence[Strip]) -> tuple[str, str]:
    """What stood before and after the quote in its passage, as far as the run kept it without a gap."""
    cited = next((strip for strip in strips if strip.id == citation.strips[0]), None)
    if cited is None:
        return "", ""
    same = {strip.index: strip for strip in strips if strip.passage_id == cited.passage_id}
    first = last = cited.index
    while first - 1 in same:
        first -= 1
    while last + 1 in same:
        last += 1
    text = "".join(same[index].text for index in range(first, last + 1))
    start = citation.span.start - same[first].span.start
    return text[:start], text[start + len(citation.quote) :]
