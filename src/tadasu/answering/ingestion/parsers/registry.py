"""Which parser reads which kind of file."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import cast

from tadasu.answering.ingestion.identify import Kind, identify
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, Parser, RowProblem
from tadasu.errors import DocumentEmpty

# By name, so that a folder of text files never loads a PDF library.
_PARSERS = {
    Kind.MARKDOWN: "markdown:parse_markdown",
    Kind.TEXT: "text:parse_text",
    Kind.HTML: "html:parse_html",
    Kind.PDF: "pdf:parse_pdf",
    Kind.DOCX: "docx:parse_docx",
    Kind.XLSX: "xlsx:parse_xlsx",
    Kind.PPTX: "pptx:parse_pptx",
    Kind.CSV: "csv:parse_csv",
    Kind.JSONL: "jsonl:parse_jsonl",
}


def parser_for(kind: Kind) -> Parser:
    """The parser of a kind; its libraries are loaded here and not before."""
    module, _, name = _PARSERS[kind].partition(":")
    return cast("Parser", getattr(importlib.import_module(f"{__package__}.{module}"), name))


def parse_bytes(
    name: str, data: bytes, *, source: str = "", limits: Limits | None = None
) -> Iterator[Parsed | RowProblem]:
    """Documents and bad rows of one file, in this process and without a time limit.

    Args:
        name: file name; its extension says what the content should be, and the content is checked against it.
        data: the file.
        source: how messages call it, by default its name.
        limits: what it may cost.

    Raises:
        DocumentError: the file as a whole cannot be read.
    """
    source = source or name
    if not data:
        raise DocumentEmpty(source=source)
    kind = identify(name, data, source=source)
    found = False
    for item in parser_for(kind)(data, source=source, limits=limits or Limits()):
        if isinstance(item, Parsed) and not item.blocks:
            continue
        found = True
        yield item
    if not found:
        raise DocumentEmpty(source=source)
