"""The web, read like documents of our own: pages found, parsed, split, encoded and ranked, never trusted.

This module sees the wing's parts that one web search needs (parsers, chunker, ranking) and hides them behind the port
OutsideSearch. Nothing that comes from passages goes out: the query is made from the question alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tadasu.answering.ingestion.chunkers import passages_of
from tadasu.answering.ingestion.parsers.html import WEB_SHARE, html_document
from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.answering.retrieval.fusion import FusionTable
from tadasu.answering.retrieval.transient import nearest_by_words, rank_transient
from tadasu.answering.web_files import WebFiles
from tadasu.core.documents import Document, Origin, Passage
from tadasu.core.ids import digest, document_id
from tadasu.core.retrieved import DroppedPage, FetchedPages, Retrieval, WebPage
from tadasu.core.usage import Stage
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.errors import DocumentError
from tadasu.ports import Allowance, Encoder, Ledger, PageFetch, TokenCounter, WebSearch
from tadasu.runtime.ledger import timed
from tadasu.text.analyze import content_terms
from tadasu.text.disguises import visible
from tadasu.text.echoes import without_echoes
from tadasu.text.injection import masked, speaks_to_model, spoken_spans
from tadasu.text.language import detect
from tadasu.text.walls import wall_in

_WEB_TENANT = "web:"
_PASSAGES_REMEMBERED = 4096
_QUOTED_CHARACTERS = 160
_PAGE_CHARACTERS = 300_000
"""Of a longer page so much is read: a novel, with the time for it bounded."""


class WebReader:
    """OutsideSearch over one web search provider.

    Args:
        web: who finds pages.
        encoder: turns passages into vectors.
        counter: measures passages.
        weights: fuse the pages' dense and keyword scores.
        fetch: gets the pages that `web` found without their bodies; None: their snippets are all there is.
        files: parses bodies; None: a process of its own is started for those that need one.
        passages_kept: at most so many passages come back.
        passages_per_page: at most so many passages of one page are encoded, those with the question's words first.
    """

    def __init__(
        self,
        *,
        web: WebSearch,
        encoder: Encoder,
        counter: TokenCounter,
        weights: FusionTable,
        fetch: PageFetch | None = None,
        files: WebFiles | None = None,
        passages_kept: int = 10,
        passages_per_page: int = 20,
    ) -> None:
        self._web = web
        self._encoder = encoder
        self._counter = counter
        self._weights = weights
        self._fetch = fetch
        self._files = files or WebFiles()
        self._passages_kept = passages_kept
        self._passages_per_page = passages_per_page
        self._seen: OrderedDict[str, PassageVectors] = OrderedDict()
        self._lock = threading.Lock()

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        """The best passages of at most `limit` pages; a page that cannot be read contributes its snippet, if any.

        `dropped` says what was not used, whole pages and parts of long ones.
        """
        found = tuple(await self._web.search(query, limit=limit, language=language, ledger=ledger))[:limit]
        pages, walls = _without_walls(found)
        fetched = await self._fetch.fetch(pages, ledger=ledger) if self._fetch else FetchedPages(pages)
        ranked = await asyncio.to_thread(self._rank, query, fetched.pages, inside, ledger)
        return replace(ranked, dropped=(*walls, *fetched.dropped, *ranked.dropped))

    async def close(self) -> None:
        """Give back the process that parses."""
        await self._files.close()

    def _rank(self, query: str, pages: Sequence[WebPage], inside: Retrieval, ledger: Ledger) -> Retrieval:
        weights = inside.term_weights or dict.fromkeys(content_terms(inside.query), 1.0)
        passages, dropped = self._passages(pages, inside.query, weights, ledger)
        if not passages:
            return Retrieval(query=query, candidates=(), dropped=tuple(dropped))
        vectors = self._encoded(passages, ledger)
        vector = inside.query_vector
        if vector is None:
            with timed(ledger, Stage.EMBED, provider="local", model=self._encoder.id):
                vector = self._encoder.encode_queries([inside.query])[0]
        ranked = rank_transient(
            inside.query,
            passages,
            vectors,
            query_vector=vector,
            term_weights=weights,
            weights=self._weights,
        )
        return replace(ranked, candidates=ranked.candidates[: self._passages_kept], dropped=tuple(dropped))

    def _passages(
        self, pages: Sequence[WebPage], question: str, weights: Mapping[str, float], ledger: Ledger
    ) -> tuple[list[Passage], list[DroppedPage]]:
        """What may be ranked of `pages`, page by page, and what is left out before that."""
        passages: list[Passage] = []
        dropped: list[DroppedPage] = []
        for page in pages:
            parsed, problem = self._parsed(page, ledger)
            dropped += [problem] if problem else []
            shortened, told = _shortened(parsed)
            document = page_document(page, question, parsed=shortened)
            if not document.text.strip():
                dropped += _left_out(page.url, shortened.text, document.text)
                continue
            whole = passages_of(document, self._counter)
            kept = nearest_by_words(whole, weights, most=self._passages_per_page)
            if len(kept) < len(whole):
                told = f"{told}{'; ' if told else ''}{len(kept)} of {len(whole)} passages were looked at"
            passages += kept
            dropped += [DroppedPage(page.url, "shortened", told)] if told else []
            dropped += _left_out(page.url, shortened.text, document.text)
        return passages, dropped

    def _parsed(self, page: WebPage, ledger: Ledger) -> tuple[Parsed, DroppedPage | None]:
        """The text of `page`, or its snippet and why there is no more."""
        if page.body is None:
            return snippet_of(page), None
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        try:
            return self._files.parse(page, seconds=left), None
        except DocumentError as problem:
            return snippet_of(page), DroppedPage(page.url, "unreadable", problem.code)

    def _encoded(self, passages: Sequence[Passage], ledger: Ledger) -> list[PassageVectors]:
        """Vectors of `passages`, in order; of a page seen before, with the same content, they cost nothing."""
        with self._lock:
            known = {one.id: self._seen[one.id] for one in passages if one.id in self._seen}
        new = {one.id: one for one in passages if one.id not in known}
        if new:
            with timed(ledger, Stage.EMBED, provider="local", model=self._encoder.id, items=len(new)):
                vectors = self._encoder.encode_passages([_text_of(passage) for passage in new.values()])
            known |= dict(zip(new, vectors, strict=True))
        with self._lock:
            for passage in passages:
                self._seen[passage.id] = known[passage.id]
                self._seen.move_to_end(passage.id)
            while len(self._seen) > _PASSAGES_REMEMBERED:
                self._seen.popitem(last=False)
        return [known[passage.id] for passage in passages]


def _without_walls(pages: Sequence[WebPage]) -> tuple[tuple[WebPage, ...], tuple[DroppedPage, ...]]:
    """Pages apart from those that came with a body that is a wall. What is fetched is looked at by who fetches it."""
    usable: list[WebPage] = []
    dropped: list[DroppedPage] = []
    for page in pages:
        html = page.body if page.body and page.media_type == "text/html" else b""
        wall = wall_in(html.decode("utf-8", "replace")) if html else ""
        if wall and wall != "empty":  # one without text is as good as its snippet
            dropped.append(DroppedPage(page.url, wall, "it came with the search's result"))
        else:
            usable.append(page)
    return tuple(usable), tuple(dropped)


def _shortened(parsed: Parsed) -> tuple[Parsed, str]:
    """`parsed` cut before the block that passes the limit, and what is to be said of it."""
    size = len(parsed.text)
    if size <= _PAGE_CHARACTERS:
        return parsed, ""
    cut = max(
        (block.span.end for block in parsed.blocks if block.span.end <= _PAGE_CHARACTERS), default=_PAGE_CHARACTERS
    )
    blocks = tuple(block for block in parsed.blocks if block.span.end <= cut)
    return replace(parsed, text=parsed.text[:cut], blocks=blocks), f"the first {cut} of {size} characters were read"


def _left_out(url: str, before: str, after: str) -> list[DroppedPage]:
    """What of a page was masked, with its beginning: somebody may want to know who tries."""
    if before == after:
        return []
    told: list[DroppedPage] = []
    orders = spoken_spans(before)
    if orders:
        start, end = orders[0]
        said = " ".join(before[start:end].split())[:_QUOTED_CHARACTERS]
        told.append(DroppedPage(url, "speaks_to_model", f"{len(orders)}: {said}"))
    if masked(before) != after:
        told.append(DroppedPage(url, "stuffed"))
    return told


def _text_of(passage: Passage) -> PassageText:
    return PassageText(
        passage.text, strips=tuple((strip.start, strip.end) for strip in passage.strips), title=passage.title
    )


def snippet_of(page: WebPage) -> Parsed:
    """What the search engine said of `page`."""
    return Parsed(text=visible(page.snippet), blocks=(), media_type=page.media_type)


def page_document(page: WebPage, question: str = "", *, parsed: Parsed | None = None) -> Document:
    """`page` as a document of origin WEB; its source is the address, so that a citation can be followed.

    Its text is what a reader of the page sees, with white space in place of what speaks to a language model, and of
    what echoes `question` without an answer. `parsed` is its text where it has been read already.
    """
    if parsed is None:
        parsed = snippet_of(page)
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
