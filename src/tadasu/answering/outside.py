"""The web, read like documents of our own: pages found, parsed, split, encoded and ranked, never trusted.

This module sees the wing's parts that one web search needs (parsers, chunker, ranking) and hides them behind the port
OutsideSearch. Nothing that comes from passages goes out: the query is made from the question alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from tadasu.answering.ingestion.chunkers import passages_of
from tadasu.answering.ingestion.parsers.html import WEB_SHARE, html_document
from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.retrieval.transient import rank_transient
from tadasu.core.documents import Document, Origin, Passage
from tadasu.core.ids import digest, document_id
from tadasu.core.retrieved import Retrieval, WebPage
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.errors import DocumentError
from tadasu.ports import Encoder, Ledger, TokenCounter, WebSearch
from tadasu.runtime.ledger import timed
from tadasu.text.analyze import content_terms
from tadasu.text.disguises import visible
from tadasu.text.echoes import without_echoes
from tadasu.text.injection import masked, speaks_to_model
from tadasu.text.language import detect

_WEB_TENANT = "web:"
_PAGES_REMEMBERED = 256

_Encoded: TypeAlias = tuple[Passage, PassageVectors]


class WebReader:
    """OutsideSearch over one web search provider."""

    def __init__(
        self,
        *,
        web: WebSearch,
        encoder: Encoder,
        counter: TokenCounter,
        weights: FusionTable,
        passages_kept: int = 10,
    ) -> None:
        """`weights` fuse the pages' dense and keyword scores; at most `passages_kept` passages come back."""
        self._web = web
        self._encoder = encoder
        self._counter = counter
        self._weights = weights
        self._passages_kept = passages_kept
        self._seen: OrderedDict[str, tuple[_Encoded, ...]] = OrderedDict()
        self._lock = threading.Lock()

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        """The best passages of at most `limit` pages; a page that cannot be read contributes its snippet, if any."""
        pages = await self._web.search(query, limit=limit, language=language, ledger=ledger)
        return await asyncio.to_thread(self._rank, query, pages[:limit], inside, ledger)

    def _rank(self, query: str, pages: Sequence[WebPage], inside: Retrieval, ledger: Ledger) -> Retrieval:
        read = self._read(pages, inside.query, ledger)
        if not read:
            return Retrieval(query=query, candidates=())
        vector = inside.query_vector
        if vector is None:
            with timed(ledger, Stage.EMBED, provider="local", model=self._encoder.id):
                vector = self._encoder.encode_queries([inside.query])[0]
        ranked = rank_transient(
            inside.query,
            [passage for passage, _ in read],
            [vectors for _, vectors in read],
            query_vector=vector,
            term_weights=inside.term_weights or dict.fromkeys(content_terms(inside.query), 1.0),
            weights=self._weights,
        )
        return replace(ranked, candidates=ranked.candidates[: self._passages_kept])

    def _read(self, pages: Sequence[WebPage], question: str, ledger: Ledger) -> list[_Encoded]:
        """Every passage of `pages` with its vectors; a page seen before, with the same content, costs nothing."""
        documents = [document for page in pages if (document := page_document(page, question)).text.strip()]
        with self._lock:
            known = {d.content_hash: self._seen[d.content_hash] for d in documents if d.content_hash in self._seen}
        new = {d.content_hash: passages_of(d, self._counter) for d in documents if d.content_hash not in known}
        if new:
            flat = [passage for passages in new.values() for passage in passages]
            with timed(ledger, Stage.EMBED, provider="local", model=self._encoder.id, items=len(flat)):
                vectors = iter(self._encoder.encode_passages([_text_of(passage) for passage in flat]))
            known |= {key: tuple((passage, next(vectors)) for passage in passages) for key, passages in new.items()}
        with self._lock:
            for document in documents:
                self._seen[document.content_hash] = known[document.content_hash]
                self._seen.move_to_end(document.content_hash)
            while len(self._seen) > _PAGES_REMEMBERED:
                self._seen.popitem(last=False)
        return [pair for document in documents for pair in known[document.content_hash]]


def _text_of(passage: Passage) -> PassageText:
    return PassageText(
        passage.text, strips=tuple((strip.start, strip.end) for strip in passage.strips), title=passage.title
    )


def page_document(page: WebPage, question: str = "") -> Document:
    """`page` as a document of origin WEB; its source is the address, so that a citation can be followed.

    Its text is what a reader of the page sees, with white space in place of what speaks to a language model, and of what
    echoes `question` without an answer.
    """
    parsed = Parsed(text=visible(page.snippet), blocks=(), media_type=page.media_type)
    if page.body is not None:
        with contextlib.suppress(DocumentError):  # an unreadable page is as good as its snippet
            parsed = html_document(page.body, source=page.url, kept_share=WEB_SHARE, as_seen=True)
    text = without_echoes(masked(parsed.text), question)
    parsed = replace(parsed, text=text, blocks=tuple(one for one in parsed.blocks if one.span.of(text).strip()))
    title = visible(page.title or parsed.title)
    return Document(
        id=document_id(_WEB_TENANT, page.url),
        source=page.url,
        title="" if speaks_to_model(title) else title,
        text=parsed.text,
        content_hash=digest(page.url, parsed.text),
        blocks=parsed.blocks,
        media_type=page.media_type,
        language=page.language if page.language != "und" else detect(parsed.text),
        date=page.date or parsed.date,
        origin=Origin.WEB,
    )
