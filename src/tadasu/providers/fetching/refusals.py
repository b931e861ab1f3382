"""Why a page is not used: one word each, stable, as runs keep it."""

from __future__ import annotations

import enum


class Why(enum.Enum):
    """The reasons. Their words for people are in the command line's catalogue."""

    SCHEME = "scheme"
    """No http(s) address."""
    ADDRESS = "address"
    """The address is malformed, disguised, or not a public one."""
    PORT = "port"
    DENIED = "denied"
    """On the deny list, or not on the allow list."""
    ROBOTS = "robots"
    DOMAIN_CAP = "domain_cap"
    DUPLICATE = "duplicate"
    """Another result has the same address."""
    REDIRECT = "redirect"
    """Too many redirects, one from https to http, or one to nowhere."""
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    """The server does not speak proper HTTP."""
    STATUS = "http_status"
    LIMITED = "limited"
    """429: the server asks for fewer requests."""
    GONE = "gone"
    """404 or 410."""
    TOO_LARGE = "too_large"
    BOMB = "decompression_bomb"
    ENCODING = "content_encoding"
    MEDIA_TYPE = "media_type"
    CHARSET = "charset"
    BUDGET = "budget"
    BOT_WALL = "bot_wall"
    COOKIE_WALL = "cookie_wall"
    CONSENT = "consent_page"
    JAVASCRIPT = "javascript_required"
    LOGIN_WALL = "login_wall"
    PAYWALL = "paywall"
    SOFT_404 = "soft_404"
    EMPTY = "empty"


SNIPPET_STANDS_IN = frozenset((
    Why.ROBOTS, Why.UNREACHABLE, Why.TLS, Why.TIMEOUT, Why.PROTOCOL, Why.STATUS, Why.LIMITED, Why.TOO_LARGE,
    Why.ENCODING, Why.MEDIA_TYPE, Why.CHARSET, Why.BUDGET, Why.JAVASCRIPT,
))  # fmt: skip
"""After these the search engine's snippet may still be used: the page is sound, we just do not get it."""


OF_CONTENT = frozenset((
    Why.MEDIA_TYPE, Why.CHARSET, Why.BOT_WALL, Why.COOKIE_WALL, Why.CONSENT, Why.JAVASCRIPT, Why.LOGIN_WALL,
    Why.PAYWALL, Why.SOFT_404, Why.EMPTY,
))  # fmt: skip
"""The call went well, and what came is of no use."""


class Refused(Exception):
    """A page is not used. `detail` is in our words only: nothing that a server sent is repeated in it."""

    def __init__(self, why: Why, detail: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{why.value}: {detail}" if detail else why.value)
        self.why = why
        self.detail = detail
        self.retry_after_s = retry_after_s
