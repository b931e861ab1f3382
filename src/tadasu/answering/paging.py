"""The page on which a strip begins: a passage may run over several."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from tadasu.core.answers import Evidence
from tadasu.core.documents import Document, Origin, Reader, Strip
from tadasu.ports import DocumentShelf


async def on_their_pages(evidence: Sequence[Evidence], *, shelf: DocumentShelf, reader: Reader) -> tuple[Evidence, ...]:
    """`evidence` whose strips name the page that they begin on, where a strip named only that of its passage."""
    wanted = {
        piece.strip.document_id: None
        for piece in evidence
        if piece.strip.page is not None and piece.strip.origin is Origin.INTERNAL
    }
    documents = [await shelf.document(document_id, reader=reader) for document_id in wanted]
    known = {document.id: document for document in documents if document is not None}
    return tuple(
        replace(piece, strip=replace(piece.strip, page=page_of(piece.strip, known[piece.strip.document_id])))
        if piece.strip.document_id in known
        else piece
        for piece in evidence
    )


def page_of(strip: Strip, document: Document) -> int | None:
    """The page of the block in which the first letter of `strip` stands; its own where no block with a page does."""
    paged = [block for block in document.blocks if block.page is not None]
    if strip.span.of(document.text) != strip.text:  # another version of the document
        return strip.page
    first = strip.span.start + len(strip.text) - len(strip.text.lstrip())
    at = bisect_right([block.span.start for block in paged], first) - 1
    return paged[at].page if at >= 0 else strip.page
