"""Word documents: headings, paragraphs, lists and tables in the order of the page, notes at the end."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import docx
from docx.opc.exceptions import OpcError
from lxml import etree

from tadasu.answering.ingestion.parsers.dates import labelled_date
from tadasu.answering.ingestion.parsers.office import UNREADABLE, check_container, core_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.parsers.tables import Header, table_lines
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentDamaged, DocumentEmpty

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SKIPPED = frozenset(f"{_W}{name}" for name in ("del", "moveFrom", "rPr", "pPr", "instrText", "delText"))
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING = re.compile(r"(?:heading|見出し)\s?([1-9])$", re.IGNORECASE)
_NOTES = ("footnotes", "endnotes")


def parse_docx(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """A Word document as one document. Text in boxes, links and accepted insertions is read; deletions are not."""
    check_container(data, source=source, kind="Word (.docx)", folder="word", limits=limits)
    try:
        document = docx.Document(io.BytesIO(data))
        builder = _Body(document).read()
    except (OpcError, KeyError, ValueError, AttributeError, etree.LxmlError):
        raise DocumentDamaged(source=source, kind="Word (.docx)", reason=UNREADABLE) from None
    if not builder.text:
        raise DocumentEmpty(source=source)
    properties = document.core_properties
    yield Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type=_MEDIA_TYPE,
        title=(properties.title or "").strip() or builder.first_heading(),
        date=labelled_date(builder.text) or core_date(properties.modified, properties.created),
        language=(properties.language or "")[:2].lower(),
        metadata={"author": properties.author} if properties.author and properties.author != "python-docx" else {},
    )


class _Body:
    """Walks the body's XML: python-docx's own iteration leaves out content controls, insertions and boxes."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._builder = TextBuilder()
        self._list: list[str] = []
        self._styles = {style.style_id: style for style in document.styles}
        self._formats = _number_formats(document)

    def read(self) -> TextBuilder:
        self._container(self._document.element.body)
        self._end_list()
        for relation in self._document.part.rels.values():
            if not relation.is_external and relation.reltype.endswith(_NOTES):
                self._notes(relation.target_part.blob)
        return self._builder

    def _container(self, parent: Any) -> None:
        for child in parent:
            if child.tag == f"{_W}p":
                self._paragraph(child)
            elif child.tag == f"{_W}tbl":
                self._end_list()
                self._table(child)
            elif child.tag in _WRAPPERS:
                self._container(child)

    def _paragraph(self, element: Any) -> None:
        text = _text(element).strip()
        if not text:
            return
        level, listed = self._shape(element)
        if listed is not None:
            numbered = sum(not item.startswith("- ") for item in self._list)
            self._list.append(f"{numbered + 1}. {text}" if listed else f"- {text}")
            return
        self._end_list()
        if level:
            self._builder.add(BlockKind.HEADING, " ".join(text.split()), level=level)
        else:
            self._builder.add(BlockKind.PARAGRAPH, text)

    def _end_list(self) -> None:
        if self._list:
            self._builder.add(BlockKind.LIST, "\n".join(self._list))
            self._list.clear()

    def _shape(self, element: Any) -> tuple[int, bool | None]:
        """(heading level or 0, whether an item is numbered or None), from the paragraph or its styles."""
        properties = element.find(f"{_W}pPr")
        style_id = ""
        if properties is not None:
            named = properties.find(f"{_W}pStyle")
            style_id = named.get(f"{_W}val", "") if named is not None else ""
            if level := _outline(properties):
                return level, None
        style, seen = self._styles.get(style_id), 0
        while style is not None and seen < 10:
            name = style.name or ""
            if found := _HEADING.match(name):
                return min(6, int(found[1])), None
            if name in {"Title", "表題"}:
                return 1, None
            own = style.element.find(f"{_W}pPr")
            if own is not None and (level := _outline(own)):
                return level, None
            listed = own.find(f"{_W}numPr") if own is not None else None
            if listed is not None or (name.startswith("List ") and name != "List Paragraph"):
                return 0, "Number" in name or (listed is not None and self._counts(listed))
            style, seen = getattr(style, "base_style", None), seen + 1
        listed = properties.find(f"{_W}numPr") if properties is not None else None
        return 0, None if listed is None else self._counts(listed)

    def _counts(self, listed: Any) -> bool:
        """Whether a list counts its items, by the number format of the level."""
        number, level = (listed.find(f"{_W}{name}") for name in ("numId", "ilvl"))
        if number is None:
            return False
        at = level.get(f"{_W}val", "0") if level is not None else "0"
        return self._formats.get((number.get(f"{_W}val", ""), at), "bullet") not in {"bullet", "none"}

    def _table(self, element: Any) -> None:
        rows: list[list[str]] = []
        above: dict[int, str] = {}
        header = Header.UNSAID
        for row in element.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not element:
                continue
            cells: list[str] = []
            for cell in row.iter(f"{_W}tc"):
                if next(cell.iterancestors(f"{_W}tr")) is row:
                    self._cell(cell, cells, above)
            if row.find(f"{_W}trPr/{_W}tblHeader") is not None and not rows:
                header = Header.PRESENT
            rows.append(cells)
        self._builder.add(BlockKind.TABLE, "\n".join(table_lines(rows, header=header)))

    @staticmethod
    def _cell(cell: Any, cells: list[str], above: dict[int, str]) -> None:
        """Append a cell once for every column that it covers; a cell merged downwards repeats the one above."""
        span = cell.find(f"{_W}tcPr/{_W}gridSpan")
        merged = cell.find(f"{_W}tcPr/{_W}vMerge")
        text = " ".join(part for p in cell.iter(f"{_W}p") if (part := _text(p).strip()))
        if merged is not None and merged.get(f"{_W}val", "continue") == "continue":
            text = above.get(len(cells), text)
        for _ in range(int(span.get(f"{_W}val", "1")) if span is not None else 1):
            above[len(cells)] = text
            cells.append(text)

    def _notes(self, blob: bytes) -> None:
        root = etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True))
        for note in root:
            if note.get(f"{_W}type") is None and (
                text := " ".join(t for p in note.iter(f"{_W}p") if (t := _text(p).strip()))
            ):
                self._builder.add(BlockKind.PARAGRAPH, text)


def _number_formats(document: Any) -> dict[tuple[str, str], str]:
    """(list, level) → number format (``decimal``, ``bullet`` …) as the numbering part defines them."""
    part = next((r.target_part for r in document.part.rels.values() if r.reltype.endswith("/numbering")), None)
    if part is None:
        return {}
    root = part.element
    levels = {
        (abstract.get(f"{_W}abstractNumId"), level.get(f"{_W}ilvl")): form.get(f"{_W}val", "")
        for abstract in root.findall(f"{_W}abstractNum")
        for level in abstract.findall(f"{_W}lvl")
        if (form := level.find(f"{_W}numFmt")) is not None
    }
    return {
        (number.get(f"{_W}numId", ""), at): form
        for number in root.findall(f"{_W}num")
        if (link := number.find(f"{_W}abstractNumId")) is not None
        for (abstract, at), form in levels.items()
        if abstract == link.get(f"{_W}val")
    }


def _outline(properties: Any) -> int:
    """Heading level that a paragraph's or style's outline level stands for; 9 is body text."""
    outline = properties.find(f"{_W}outlineLvl")
    value = outline.get(f"{_W}val", "9") if outline is not None else "9"
    return min(6, int(value) + 1) if value.isdigit() and int(value) < 9 else 0


def _text(element: Any) -> str:
    """Visible text of a paragraph, that of boxes anchored in it too."""
    parts: list[str] = []
    _collect(element, parts)
    return "".join(parts)


def _collect(element: Any, parts: list[str]) -> None:
    for child in element:
        tag = child.tag
        if tag in _SKIPPED or tag == _FALLBACK:
            continue
        if tag == f"{_W}t":
            parts.append(child.text or "")
        elif tag in {f"{_W}tab", f"{_W}ptab"}:
            parts.append("\t")
        elif tag in {f"{_W}br", f"{_W}cr"}:
            parts.append("\n")
        elif tag == f"{_W}noBreakHyphen":
            parts.append("-")
        elif tag == f"{_W}txbxContent":
            parts.append("\n")
            for paragraph in child.iter(f"{_W}p"):
                _collect(paragraph, parts)
                parts.append("\n")
        else:
            _collect(child, parts)
