"""HTML to its main text: trafilatura where it keeps nearly everything, our own walk over the page where it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import lxml.html
from lxml import etree

from tadasu.answering.ingestion.decode import decode
from tadasu.answering.ingestion.parsers.dates import iso_date, labelled_date
from tadasu.answering.ingestion.parsers.parsed import Limits, Parsed, TextBuilder
from tadasu.answering.ingestion.parsers.tables import Header, table_lines
from tadasu.answering.ingestion.parsers.unseen import drop_unseen
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentDamaged, DocumentEmpty

_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)"
    rb"|<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_.-]+)",
    re.IGNORECASE,
)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_JAPANESE_BREAK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) *\n *(?=[\u3000-\u9fff\uff00-\uffef])")
_DROPPED = frozenset((
    "script", "style", "noscript", "template", "nav", "footer", "aside", "form", "iframe", "object", "embed", "svg",
    "math", "canvas", "audio", "video", "select", "option", "button", "input", "textarea", "title", "meta", "link",
    "dialog",
))  # fmt: skip
_METADATA = frozenset({"title", "meta", "link", "base", "style", "script", "noscript", "template"})
_CHROME = re.compile(
    r"\b(?:nav(?:bar|igation)?|breadcrumbs?|cookie|share|social|related|sidebar|advert(?:isement)?s?|menu|pagination)\b",
    re.IGNORECASE,
)
_BLOCKS = frozenset((
    "p", "div", "section", "article", "main", "header", "address", "figure", "figcaption", "blockquote", "quote",
    "details", "summary", "fieldset", "body", "html", "hgroup", "center", "dd",
))  # fmt: skip
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_DATE_METAS = (
    "article:modified_time", "article:published_time", "og:updated_time", "last-modified", "dcterms.modified",
    "dc.date.modified", "dcterms.date", "dc.date", "dcterms.created", "dc.date.issued", "datemodified", "datepublished",
    "date", "pubdate", "publish_date", "revised",
)  # fmt: skip
KEPT_SHARE = 0.85
"""Share of a file's text that trafilatura must keep to be believed: every word of an own document counts."""
WEB_SHARE = 0.4
"""The same for pages of the web, which are half menus and comments."""
_WHOLE_PAGE = 1.1
_WALK_DEPTH = 100
_TABLE_WIDTH = 200


def parse_html(data: bytes, *, source: str, limits: Limits) -> Iterator[Parsed]:
    """An HTML file as one document."""
    del limits
    yield html_document(data, source=source)


def html_document(
    data: bytes, *, source: str, charset: str = "", kept_share: float = KEPT_SHARE, as_seen: bool = False
) -> Parsed:
    """Main text, headings, lists and tables of a page.

    Args:
        data: the page as bytes.
        source: its path or address, for messages.
        charset: what the HTTP header said; a byte order mark beats it, the page's own ``meta`` comes after it.
        kept_share: trafilatura's choice is taken where it holds at least this share (0 to 1) of what our own walk,
            which leaves out navigation and the like, finds. `KEPT_SHARE` for files, `WEB_SHARE` for the web.
        as_seen: only what a browser shows (see `unseen`); for pages that may hide something from their readers.

    Raises:
        DocumentEmpty: no visible text.
        EncodingUnknown: its encoding cannot be told.
    """
    meta = _META_CHARSET.search(data[:4096])
    declared = charset or ((meta[1] or meta[2]).decode("ascii", "replace") if meta else "")
    decoded = decode(data, source=source, declared="utf-8" if declared.lower().startswith("utf-16") else declared)
    text = _INVISIBLE.sub("", _XML_DECLARATION.sub("", decoded.text))
    try:
        tree: Any = lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(huge_tree=True))
    except (etree.ParserError, ValueError) as error:
        if not re.sub(r"<[^>]*>|\s", "", text):
            raise DocumentEmpty(source=source) from None
        raise DocumentDamaged(source=source, kind="HTML", reason=str(error)) from None
    _mend_head(tree)
    title, date, language = _title(tree), _date(tree), (tree.get("lang") or tree.get("xml:lang") or "")[:2].lower()
    if as_seen:
        drop_unseen(tree)
    _prepare(tree)
    walked = TextBuilder()
    _Walk(walked).run(_main(tree))
    builder = _extracted(tree, walked, kept_share) or walked
    if not builder.text:
        builder.add(BlockKind.PARAGRAPH, _flat(_main(tree)))  # nested beyond reason
    if not builder.text:
        raise DocumentEmpty(source=source)
    return Parsed(
        text=builder.text,
        blocks=builder.blocks,
        media_type="text/html",
        title=title or builder.first_heading(),
        date=date or labelled_date(builder.text),
        language=language,
        metadata={"encoding": decoded.encoding},
    )


def _extracted(tree: Any, walked: TextBuilder, kept_share: float) -> TextBuilder | None:
    """What trafilatura takes for the main text; None where it loses much of what a reader sees, or its structure."""
    import trafilatura  # noqa: PLC0415 - slow to import, and many a workspace holds no HTML

    copy = lxml.html.document_fromstring(lxml.html.tostring(tree, encoding="unicode"))
    try:
        found = trafilatura.bare_extraction(
            copy, include_comments=False, include_tables=True, include_formatting=False, favor_recall=True
        )
    except (AttributeError, TypeError, ValueError, RecursionError, etree.LxmlError):
        return None  # odd trees trip it; the walk stands
    body = getattr(found, "body", None)
    if body is None:
        return None
    builder = TextBuilder()
    _Walk(builder).run(body)
    share = _length(builder) / max(1, _length(walked))
    # Where it finds no main text it gives the whole page as one paragraph, scripts and menus too.
    whole = share > _WHOLE_PAGE or len(builder.blocks) < len(walked.blocks) * share / 2
    return None if whole or share < kept_share else builder


def _length(builder: TextBuilder) -> int:
    return len(re.sub(r"\s", "", builder.text))


def _main(tree: Any) -> Any:
    """The one ``main`` or ``article`` of the page where it holds text, else the body."""
    for path in ("//main", "//*[@role='main']", "//article"):
        found = tree.xpath(path)
        if len(found) == 1 and len(_text(found[0]).strip()) > 80:
            return found[0]
    bodies = tree.xpath("//body")
    return bodies[0] if bodies else tree


def _mend_head(tree: Any) -> None:
    """Content that the parser left in the head goes to the body: pages may omit both tags, and it knows no ``main``."""
    for head in tree.xpath("/html/head"):
        strays = [child for child in head if isinstance(child.tag, str) and child.tag not in _METADATA]
        if not strays:
            continue
        bodies = tree.xpath("/html/body")
        body = bodies[0] if bodies else etree.SubElement(head.getparent(), "body")
        first = body.makeelement("div")
        first.extend(strays)
        first.tail, body.text = body.text, None
        body.insert(0, first)


def _prepare(tree: Any) -> None:
    """Merged cells are repeated in every place that they cover, before anything reads them; what is not shown goes."""
    for element in tree.xpath(
        "//*[@hidden or @aria-hidden='true' or contains(translate(@style,' ',''),'display:none')]"
    ):
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.xpath("//script|//style|//noscript|//template|//head"):
        if element.getparent() is not None:
            element.drop_tree()
    for table in tree.xpath("//table"):
        carried: dict[int, tuple[int, Any]] = {}
        for row in table.xpath("./tr|./thead/tr|./tbody/tr|./tfoot/tr"):
            carried = _expand(row, carried)


def _expand(row: Any, carried: dict[int, tuple[int, Any]]) -> dict[int, tuple[int, Any]]:
    cells = [cell for cell in row if cell.tag in {"td", "th"}]
    column, following, rebuilt = 0, {}, []
    queue = iter(cells)
    cell = next(queue, None)
    while column < _TABLE_WIDTH and (cell is not None or column in carried):
        if column in carried:
            left, original = carried[column]
            rebuilt.append(_copy(original))
            if left > 1:
                following[column] = (left - 1, original)
            column += 1
            continue
        assert cell is not None
        across, down = _spans(cell, "colspan"), _spans(cell, "rowspan")
        cell.attrib.pop("colspan", None)
        cell.attrib.pop("rowspan", None)
        for copy in range(min(across, _TABLE_WIDTH - column)):
            rebuilt.append(_copy(cell) if copy else cell)
            if down > 1:
                following[column] = (down - 1, cell)
            column += 1
        cell = next(queue, None)
    following |= {at: (left - 1, cell) for at, (left, cell) in carried.items() if at >= column and left > 1}
    for old in cells:
        row.remove(old)
    row.extend(rebuilt)
    return following


def _copy(cell: Any) -> Any:
    copied = cell.makeelement(cell.tag)
    copied.text = _text(cell)
    return copied


def _spans(cell: Any, name: str) -> int:
    value = cell.get(name, "1").strip()
    return max(1, min(int(value), 100)) if value.isascii() and value.isdigit() else 1


def _title(tree: Any) -> str:
    headings = [text for element in tree.xpath("//h1") if (text := _flat(element))]
    if len(headings) == 1:
        return headings[0]
    for path in ("//meta[@property='og:title']/@content", "//title/text()"):
        for value in tree.xpath(path):
            if title := " ".join(str(value).split()):
                return title
    return headings[0] if headings else ""


def _date(tree: Any) -> str:
    metas = {
        (
            element.get("property") or element.get("name") or element.get("itemprop") or element.get("http-equiv") or ""
        ).lower(): element
        for element in reversed(tree.xpath("//meta[@content]"))
    }
    for name in _DATE_METAS:
        if name in metas and (date := iso_date(metas[name].get("content"))):
            return date
    for script in tree.xpath("//script[@type='application/ld+json']/text()"):
        try:
            loaded = json.loads(script)
        except ValueError:
            continue
        for entry in loaded if isinstance(loaded, list) else [loaded]:
            if isinstance(entry, dict) and (
                date := iso_date(str(entry.get("dateModified") or entry.get("datePublished") or ""))
            ):
                return date
    for element in tree.xpath("//time"):
        if date := iso_date(element.get("datetime") or _text(element)):
            return date
    return ""


def _text(element: Any) -> str:
    """All text below an element; trafilatura's elements are plain ones, without `text_content`."""
    return str(element.xpath("string()"))


def _flat(element: Any) -> str:
    return _SPACE.sub(" ", _text(element)).strip()


class _Walk:
    """Block by block over an HTML tree, or over trafilatura's (head, list, item, row, cell, lb)."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []

    def run(self, root: Any) -> None:
        self._children(root, 0)
        self._flush()

    def _children(self, element: Any, depth: int) -> None:
        if depth > _WALK_DEPTH:
            self._say(_text(element))
            return
        self._say(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._element(child, depth + 1)
            self._say(child.tail)

    def _element(self, element: Any, depth: int) -> None:
        tag = element.tag.rpartition("}")[2].lower()
        if tag in _DROPPED or (tag == "head" and element.getparent() is not None and element.getparent().tag == "html"):
            return
        if _CHROME.search(f"{element.get('class', '')} {element.get('id', '')}"[:200]):
            return
        if tag in _HEADINGS or tag == "head":
            self._flush()
            level = int(tag[1]) if tag in _HEADINGS else int((element.get("rend") or "h2")[1:] or 2)
            self._builder.add(BlockKind.HEADING, _flat(element), level=level)
        elif tag in {"ul", "ol", "list", "dl"}:
            self._flush()
            self._builder.add(BlockKind.LIST, "\n".join(_items(element, 0)))
        elif tag == "table" and not element.xpath(".//table"):
            self._flush()
            self._table(element)
        elif tag in {"pre", "code"} and ("\n" in _text(element) or tag == "pre"):
            self._flush()
            self._builder.add(BlockKind.CODE, _text(element))
        elif tag in {"br", "lb", "hr"}:
            self._inline.append("\u2028")
        elif tag in _BLOCKS or tag in {"table", "tr", "td", "th", "tbody", "thead", "li", "item", "dt", "row", "cell"}:
            self._flush()
            self._children(element, depth)
            self._flush()
        else:
            self._children(element, depth)

    def _table(self, element: Any) -> None:
        for caption in element.xpath("./caption"):
            self._builder.add(BlockKind.PARAGRAPH, _flat(caption))
        rows = [row for row in element.iter() if isinstance(row.tag, str) and row.tag in {"tr", "row"}]
        cells = [
            [cell for cell in row if isinstance(cell.tag, str) and cell.tag in {"td", "th", "cell"}] for row in rows
        ]
        cells = [row for row in cells if row]
        if not cells:
            return
        marked = [[cell.tag == "th" or cell.get("role") == "head" for cell in row] for row in cells]
        header = Header.UNSAID
        if all(marked[0]) and (len(marked) < 2 or not all(marked[1]) or len(cells[0]) > 1):
            header = Header.PRESENT
        elif marked[0][0] and not any(marked[0][1:]):
            header = Header.ABSENT if all(row[0] for row in marked) else Header.UNSAID
        self._builder.add(
            BlockKind.TABLE, "\n".join(table_lines([[_flat(c) for c in row] for row in cells], header=header))
        )

    def _say(self, text: str | None) -> None:
        if text:
            self._inline.append(_JAPANESE_BREAK.sub("", text))

    def _flush(self) -> None:
        text = _SPACE.sub(" ", "".join(self._inline))
        self._inline.clear()
        self._builder.add(BlockKind.PARAGRAPH, re.sub(r" ?\u2028 ?", "\n", text).strip())


def _items(element: Any, depth: int) -> Iterator[str]:
    """Lines of a list, nested ones indented; a definition list reads ``term: definition``."""
    number, term = 0, ""
    ordered = element.tag == "ol" or element.get("rend") == "ol"
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if child.tag == "dt":
            term = _flat(child)
            continue
        if child.tag in {"ul", "ol", "list"}:
            yield from _items(child, depth + 1)
            continue
        nested = child.xpath("./ul|./ol|./list")
        for inner in nested:
            child.remove(inner)
        text = _flat(child)
        for inner in nested:
            child.append(inner)
        number += 1
        if text:
            mark = f"{number}. " if ordered else "- "
            yield "  " * depth + (f"- {term}: {text}" if child.tag == "dd" and term else mark + text)
        for inner in nested:
            if depth < _WALK_DEPTH:
                yield from _items(inner, depth + 1)
