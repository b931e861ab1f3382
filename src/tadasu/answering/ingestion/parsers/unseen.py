"""What a browser does not show of a page: elements hidden by style or attribute, and characters that nobody sees.

By inline styles and plain rules of the page's own style sheets; a sheet elsewhere is not fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tadasu.text.disguises import visible

_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|(?<![\w-])opacity:0*(?:\.0+)?(?![.\d])"
    r"|font-size:0*(?:\.0+)?(?:px|pt|em|rem|%|;|$)"
    r"|font-size:[01](?:\.\d+)?px|text-indent:-\d{3,}|(?:left|top|right|bottom):-\d{3,}"
    r"|clip:rect\(0[^)]*\)|clip-path:inset\((?:50|100)%"
    r"|transform:(?:scale\(0|translate[xy]?\(-\d{3,})|color:transparent"
)
_NO_SIZE = re.compile(r"(?:max-)?(?:height|width):[01](?:px|em|rem|%)?(?:;|$)")
_OVERFLOW = re.compile(r"overflow(?:-[xy])?:(?:hidden|clip)")
_COLOUR = re.compile(r"(?<![\w-])color:([^;!]+)")
_GROUND = re.compile(r"background(?:-color)?:([^;!]+)")
_NAMED = {"white": "fff", "black": "000"}
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_PLAIN_SELECTOR = re.compile(r"(?P<tag>[a-z][a-z0-9]*)?(?:#(?P<id>[\w-]+)|\.(?P<cls>[\w-]+))?", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MOST_RULES = 2000


def drop_unseen(tree: Any) -> None:
    """Take out of `tree` (lxml) what its readers do not see; the text around stays where it is."""
    for element in list(_hidden_by_sheet(tree)) + [one for one in tree.iter() if _hides_itself(one)]:
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.iter():
        if isinstance(element.tag, str) and element.text:
            element.text = visible(element.text)
        if element.tail:
            element.tail = visible(element.tail)


def _hides_itself(element: Any) -> bool:
    if not isinstance(element.tag, str) or element.tag in {"html", "body"}:
        return False
    if element.tag == "details" or "hidden" in element.attrib or element.get("aria-hidden") == "true":
        return element.tag != "details"
    style = element.get("style")
    return bool(style) and _hides(style)


def _hides(style: str) -> bool:
    said = re.sub(r"\s+", "", style.lower()).replace("!important", "")
    if _HIDING.search(said) or (_NO_SIZE.search(said) and _OVERFLOW.search(said)):
        return True
    ink, ground = _COLOUR.search(said), _GROUND.search(said)
    if ink is None:
        return False
    colour = _colour(ink[1])
    # Paper is white unless something says otherwise.
    return colour == (_colour(ground[1]) if ground else "ffffff")


def _colour(value: str) -> str:
    value = _NAMED.get(value, value).lstrip("#")
    if match := re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,[\d.]+)?\)", value):
        return "".join(f"{min(int(part), 255):02x}" for part in match.groups())
    return "".join(c * 2 for c in value) if re.fullmatch(r"[0-9a-f]{3}", value) else value


def _hidden_by_sheet(tree: Any) -> Iterator[Any]:
    """Elements that a rule with a plain selector (tag, class or id) hides."""
    rules = 0
    for sheet in tree.iter("style"):
        for selectors, style in _RULE.findall(_COMMENT.sub("", sheet.text or "")):
            rules += 1
            if rules > _MOST_RULES:
                return
            if not _hides(style):
                continue
            for selector in selectors.split(","):
                found = _PLAIN_SELECTOR.fullmatch(selector.strip())
                if found and any(found.groups()):
                    yield from _selected(tree, found["tag"], found["id"], found["cls"])


def _selected(tree: Any, tag: str | None, name: str | None, cls: str | None) -> list[Any]:
    if tag and tag.lower() in {"html", "body"}:
        return []
    return [
        element
        for element in tree.iter(tag.lower() if tag else None)
        if isinstance(element.tag, str)
        and (not name or element.get("id") == name)
        and (not cls or cls in element.get("class", "").split())
    ]
