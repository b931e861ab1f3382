"""From the body of a reply to a page that may be read: its kind, its text in UTF-8, and whether it is a wall."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from tadasu.providers.fetching.charset import decode_page
from tadasu.providers.fetching.page_cache import KeptPage
from tadasu.providers.fetching.refusals import Refused, Why
from tadasu.text.walls import wall_in

HTML, PLAIN, PDF = "text/html", "text/plain", "application/pdf"
ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8"
_KINDS = {
    "text/html": HTML, "application/xhtml+xml": HTML, "text/plain": PLAIN, "text/markdown": PLAIN,
    "application/pdf": PDF, "application/x-pdf": PDF,
}  # fmt: skip
_UNSAID = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*"})
_MARKUP = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a Content-Type header says: media type in lower case, charset or an empty string."""

    media_type: str
    charset: str

    @classmethod
    def read(cls, header: str) -> Declared:
        """Tolerant of what servers send."""
        kind, _, rest = header.partition(";")
        found = re.search(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", rest, re.IGNORECASE)
        return cls(kind.strip().lower(), found[1] if found else "")


def check_kind(declared: Declared) -> None:
    """Raise Refused (MEDIA_TYPE) where the header alone says that the body is nothing for us."""
    if declared.media_type not in _KINDS and declared.media_type not in _UNSAID:
        raise Refused(Why.MEDIA_TYPE, "neither HTML, plain text nor PDF")


def readable(data: bytes, declared: Declared, *, pdf: bool) -> KeptPage:
    """`data` as a page to hand on: HTML and plain text in UTF-8 with its mark, PDF as it is. Raises Refused."""
    kind = _KINDS.get(declared.media_type, "")
    if b"%PDF-" in data[:1024] and not _MARKUP.match(data):
        kind = PDF
    elif _MARKUP.match(data):
        kind = HTML
    elif kind == PDF or not kind:
        raise Refused(Why.MEDIA_TYPE, "the content is not what the server calls it")
    if kind == PDF:
        if not pdf:
            raise Refused(Why.MEDIA_TYPE, "PDF files are not fetched (fetch.pdf)")
        return KeptPage(PDF, data)
    if not data.strip():
        raise Refused(Why.EMPTY, "nothing in it")
    text = decode_page(data, header=declared.charset).text
    if kind == HTML and (wall := wall_in(text)):
        raise Refused(Why(wall))
    if not text.strip():
        raise Refused(Why.EMPTY, "nothing in it")
    # The mark says UTF-8 louder than what the page still declares of itself.
    return KeptPage(kind, codecs.BOM_UTF8 + text.encode("utf-8", "replace"))


def wall_behind(data: bytes, declared: Declared) -> str:
    """The wall that an error page is, so that a 403 with a test for robots is called by its name; or empty."""
    try:
        return wall_in(decode_page(data, header=declared.charset).text)
    except Refused:
        return ""
