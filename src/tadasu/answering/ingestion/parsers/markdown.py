"""Markdown: the text is the file itself, structure comes from markdown-it-py with offsets into it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tadasu.answering.ingestion.decode import decode
from tadasu.answering.ingestion.parsers.dates import iso_date, labelled_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed
from tadasu.answering.ingestion.parsers.text import heading_text
from tadasu.core.documents import Block, BlockKind, Span

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "blockquote_open": BlockKind.PARAGRAPH,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.PARAGRAPH,
}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\r?\n(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"([A-Za-z_][\w-]*|[^\s:#\-\"'\[{][^\s:]{0,20})\s*:\s*(\S.*)?$")
_COMMENT = re.compile(r"\A\s*(?:<!--.*?-->\s*)+\Z", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_DATE_KEYS = ("date", "updated", "lastmod", "last_updated", "modified", "published", "effective", "日付", "更新日")
_PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").disable(["inline"])


def parse_markdown(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A Markdown file as one document."""
    del limits
    decoded = decode(data, source=source)
    yield markdown_document(decoded.text, metadata={"encoding": decoded.encoding})


def markdown_document(text: str, *, metadata: Mapping[str, str] | None = None) -> Parsed:
    """Markdown `text` with its blocks; front matter gives title, date, language and the rest as metadata.

    Every line that is not blank, front matter or a comment lies in a block, link definitions too.
    """
    front, body_start = front_matter(text)
    blocks = _blocks(text, body_start)
    first = next((block for block in blocks if block.kind is BlockKind.HEADING), None)
    heading = _LINK.sub(r"\1", heading_text(first.span.of(text))) if first else ""
    date = next((found for key in _DATE_KEYS if (found := iso_date(front.get(key, "")))), "")
    rest = {key: value for key, value in front.items() if key not in {"title", "date", "language", "lang"}}
    return Parsed(
        text=text,
        blocks=blocks,
        media_type="text/markdown",
        title=front.get("title") or front.get("タイトル") or heading,
        date=date or labelled_date(text[body_start:]),
        language=(front.get("language") or front.get("lang") or "").lower(),
        metadata={**(metadata or {}), **rest},
    )


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """The scalars of a YAML (``---``) or TOML (``+++``) front matter, and where the body begins."""
    found = _FRONT.match(text)
    if not found:
        return {}, 0
    if found[1] == "+++":
        try:
            loaded = tomllib.loads(found[2])
        except tomllib.TOMLDecodeError:
            return {}, found.end()
        return {key: str(value) for key, value in loaded.items() if not isinstance(value, (dict, list))}, found.end()
    pairs: dict[str, str] = {}
    for line in found[2].splitlines():
        if line.strip() and not line.startswith((" ", "\t", "#", "-")):
            pair = _PAIR.match(line)
            if not pair:
                return {}, 0  # a rule, then prose: no front matter after all
            value = re.sub(r"\s+#.*$", "", pair[2] or "").strip()
            pairs[pair[1].lower()] = value.strip("\"'")
    return {key: value for key, value in pairs.items() if value}, found.end()


def _blocks(text: str, body_start: int) -> tuple[Block, ...]:
    body = text[body_start:]
    starts = [match.start() + body_start for match in _LINE.finditer(body)]
    starts.append(len(text))
    blocks: list[Block] = []
    reached = 0
    for token in _PARSER.parse(body.replace("\x00", " ")):
        if token.level != 0 or token.map is None or (token.type not in _KINDS and token.type != "hr"):
            continue
        first, last = token.map
        _add(blocks, text, Span(starts[reached], starts[min(first, len(starts) - 1)]), kind=BlockKind.PARAGRAPH)
        if token.type != "hr":
            span = Span(starts[first], starts[min(last, len(starts) - 1)])
            _add(blocks, text, span, kind=_KINDS[token.type], level=_level(token))
        reached = min(last, len(starts) - 1)
    _add(blocks, text, Span(starts[reached], len(text)), kind=BlockKind.PARAGRAPH)
    return tuple(blocks)


def _add(blocks: list[Block], text: str, span: Span, *, kind: BlockKind, level: int = 0) -> None:
    start, content = span.start, span.of(text)
    stripped = content.strip()
    if stripped and not _COMMENT.match(stripped):
        at = start + content.index(stripped)
        # The indentation of a first line is part of code.
        blocks.append(Block(kind, Span(start if kind is BlockKind.CODE else at, at + len(stripped)), level=level))


def _level(token: Token) -> int:
    return int(token.tag[1]) if token.type == "heading_open" else 0
