"""Fetched pages to text, in a process of their own: what a stranger wrote may hang or crash a parser (DESIGN §3.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.worker import ParserProcess, Task, parse_here
from tadasu.core.retrieved import WebPage
from tadasu.errors import DocumentEmpty
from tadasu.text.disguises import visible

_NAMES: Mapping[str, str] = {"text/html": "page.html", "text/plain": "page.txt", "application/pdf": "page.pdf"}
_SMALL = 20_000
"""Bytes of HTML or plain text that are read here: the worst of them takes a moment, a process takes longer to start."""
_MEMORY_MB = 2048
_LIMITS = Limits(unpacked_bytes=64 * 2**20, archive_entries=1000, cells=200_000, table_pages=10, table_seconds=5.0)


class WebFiles:
    """Parses bodies of pages. The process starts with the first body that needs it; blocking, thread-safe."""

    def __init__(self, *, seconds: float = 10.0) -> None:
        """`seconds` is how long one body may take."""
        self._seconds = seconds
        self._process = ParserProcess(memory_mb=_MEMORY_MB)

    def parse(self, page: WebPage, *, seconds: float | None = None) -> Parsed:
        """The text of `page`, which has a body, within `seconds` where these are fewer; raises DocumentError."""
        data = page.body or b""
        name = _NAMES.get(page.media_type, "page.html")
        task = Task(
            name,
            data,
            source=page.url,
            limits=_LIMITS,
            seconds=self._seconds if seconds is None else max(0.1, min(seconds, self._seconds)),
            web=name == "page.html",
        )
        here = len(data) <= _SMALL and name != "page.pdf"
        for found in parse_here(task) if here else self._process.parse(task):
            if isinstance(found, Parsed):
                return found if task.web else _as_seen(found)
        raise DocumentEmpty(source=page.url)

    async def close(self) -> None:
        """End the process."""
        await asyncio.to_thread(self._process.close)


def _as_seen(parsed: Parsed) -> Parsed:
    """`parsed` without characters that nobody sees, as the parser of HTML pages gives it."""
    if visible(parsed.text) == parsed.text:
        return parsed
    builder = TextBuilder()
    for block in parsed.blocks:
        builder.add(block.kind, visible(block.span.of(parsed.text)), level=block.level, page=block.page)
    return replace(parsed, text=builder.text, blocks=builder.blocks)
