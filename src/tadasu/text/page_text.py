"""What a reader sees of an HTML page, roughly and in linear time: enough to recognise pages that say nothing."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

_TAG = re.compile(r"(/?)([A-Za-z][A-Za-z0-9-]*)")
_UNSEEN = frozenset({"script", "style", "template", "svg", "nav", "footer", "select", "iframe", "object", "title"})
_BLOCKS = frozenset((
    "p", "div", "section", "article", "main", "header", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol",
    "dl", "dt", "dd", "br", "hr", "tr", "td", "th", "table", "form", "button", "label", "body", "figure",
    "figcaption", "blockquote", "pre", "noscript", "aside", "a", "input", "summary", "details",
))  # fmt: skip
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class PageText:
    """The title, the lines that are seen, those shown only without JavaScript, and what else tells about a page."""

    title: str = ""
    lines: list[str] = field(default_factory=list)
    without_scripts: list[str] = field(default_factory=list)
    scripts: int = 0
    password: bool = False


def page_text(page: str, *, most: int = 400_000) -> PageText:
    """`page`, of which the first `most` characters are read, as its text; tags need not be closed or nested well."""
    found = PageText()
    parts: dict[str, list[str]] = {"": [], "noscript": [], "title": []}
    skipping, place = "", ""
    first, *pieces = page[:most].split("<")
    parts[""].append(first)
    for piece in pieces:
        tag = _TAG.match(piece)
        if tag is None:
            # No tag: a comment, a doctype, or a sign in the text.
            text = piece.partition(">")[2] if piece[:1] in {"!", "?", "/"} else f"<{piece}"
            if not skipping:
                parts[place].append(text)
            continue
        closing, name = bool(tag[1]), tag[2].lower()
        text = piece.partition(">")[2]
        if skipping:
            if closing and name == skipping:
                skipping = ""
                parts[place].append(text)
            continue
        if name == "script" and not closing:
            found.scripts += 1
        if name == "input" and "password" in piece[:300].lower():
            found.password = True
        if name == "title" and not closing:
            if not found.title:
                found.title = _flat(text)
            skipping = name
            continue
        if name in _UNSEEN and not closing:
            skipping = name
            continue
        if name == "noscript":
            place = "" if closing else "noscript"
        parts[place].append("\n" + text if name in _BLOCKS else text)
    found.lines = _lines("".join(parts[""]))
    found.without_scripts = _lines("".join(parts["noscript"]))
    return found


def _lines(text: str) -> list[str]:
    return [line for raw in text.split("\n") if (line := _flat(raw))]


def _flat(text: str) -> str:
    return _SPACE.sub(" ", html.unescape(text)).strip()
