"""Why a web page was not used, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tadasu.cli.answer_view import one_line
from tadasu.core.retrieved import DroppedPage

if TYPE_CHECKING:
    from tadasu.cli.frame import Frame

WORDS: Mapping[str, str] = {
    "scheme": "it is no web address",
    "address": "its address is not a public one",
    "port": "its address has a port that is not allowed",
    "denied": "the settings do not allow its domain",
    "robots": "its site does not allow programs to read it",
    "domain_cap": "there are enough pages of its domain",
    "duplicate": "another result has the same address",
    "redirect": "it redirects too often, or to where it may not",
    "unreachable": "its server cannot be reached",
    "tls": "its server could not prove who it is",
    "timeout": "its server was too slow",
    "protocol": "its server does not speak proper HTTP",
    "http_status": "its server answered with an error",
    "limited": "its server asks for fewer requests",
    "gone": "it does not exist any more",
    "too_large": "it is too large",
    "decompression_bomb": "it unpacks to an absurd size",
    "content_encoding": "it is packed in a way that cannot be read",
    "media_type": "it is neither HTML, plain text nor PDF",
    "charset": "its encoding cannot be told",
    "budget": "the budget of the run was spent",
    "bot_wall": "it is a test for robots",
    "cookie_wall": "it asks for cookies instead of showing its text",
    "consent_page": "it asks for consent instead of showing its text",
    "javascript_required": "it shows nothing without JavaScript",
    "login_wall": "it can only be read after logging in",
    "paywall": "it can only be read by subscribers",
    "soft_404": "it says that the page was not found",
    "empty": "there is no text in it",
    "unreadable": "its content cannot be read",
    "shortened": "it is long, and only a part was looked at",
    "speaks_to_model": "a part of it speaks to language models and was not used",
    "stuffed": "a part of it repeats the question without an answer and was not used",
}


def dropped_words(frame: Frame, page: DroppedPage) -> str:
    """One line: the address, why, and details as they were written down."""
    why = frame.say(WORDS[page.reason]) if page.reason in WORDS else page.reason
    detail = f" ({one_line(page.detail, 200)})" if page.detail else ""
    return f"{one_line(page.url, 200)}: {why}{detail}"
