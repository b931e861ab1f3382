"""Replies of web searches, read tolerantly: rows in any order and state in, clean pages out, faults by name.

A search that found nothing is an empty list; a reply that is none (a text, an error in a good envelope, a list without
addresses) is an error. The two are never mixed up: the first is an answer, the second is a failure with a name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from tadasu.core.retrieved import WebPage
from tadasu.errors import ProviderAnswerInvalid, ProviderError, ProviderLimited
from tadasu.text.dates import dates

Row: TypeAlias = Mapping[str, object]

MOST_TITLE = 300
MOST_SNIPPET = 8_000
_MOST_ADDRESS = 4_096
_TAG = re.compile(r"<[/!?a-zA-Z][^<>]*>")
_BREAKING_TAG = re.compile(r"(?i)</?(?:br|p|div|li|td|tr|h[1-6])\b[^<>]*>")
_LIMIT_WORDS = re.compile(
    r"(?i)rate.?limit|too many requests|quota|limit exceeded|exceed\w* (?:\w+ ){0,4}limit|run out of searches"
    r"|throttl|usage limit|回数制限|上限"
)
_ERROR_KEYS = ("error", "errors", "detail", "message", "Message", "fault")
_TRACKERS = re.compile(r"(?i)utm_\w+|gclid|fbclid|msclkid|yclid|mc_[ce]id|srsltid")


def rows_at(reply: object, *path: str, known_by: Sequence[str] = (), provider: str) -> list[Row]:
    """The rows of the list at `path` in `reply`, such as ``web`` and ``results``, without those that are no objects.

    Where there is no list, `known_by` names keys by which the provider's own reply is known: with one of them, nothing
    was found. A bare list of rows is taken as it is.

    Raises:
        ProviderLimited: the reply is an error that speaks of limits.
        ProviderAnswerInvalid: the reply is any other error, or is not in the agreed form.
    """
    if not isinstance(reply, (list, dict)):
        raise _unusable(reply, provider)
    found: object = reply
    for name in path if isinstance(reply, dict) else ():
        found = found.get(name) if isinstance(found, dict) else None
    rows: list[Row] = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    if rows:
        return rows
    said = said_error(reply)
    if said:
        raise fault(f"it answered with an error: {said}", provider=provider)
    if found == [] or (found is None and any(name in reply for name in known_by)):
        return []
    what = "is missing" if found is None else "holds other things" if isinstance(found, list) else "is no list"
    raise ProviderAnswerInvalid(provider=provider, reason=f"the list of results ({'.'.join(path)}) {what}")


def said_error(reply: object) -> str:
    """What `reply` says of an error, in any of the usual forms, on one line; empty where it says nothing of one."""
    if not isinstance(reply, dict):
        return ""
    for name in _ERROR_KEYS:
        said = _words(reply.get(name))
        if said:
            return said[:200]
    return ""


def fault(said: str, *, provider: str, **details: object) -> ProviderError:
    """The error that the words `said` describe: a limit, or an answer that cannot be used."""
    kind = ProviderLimited if speaks_of_limits(said) else ProviderAnswerInvalid
    return kind(provider=provider, reason=said, **details)


def speaks_of_limits(said: str) -> bool:
    """Whether the words of an error are about a rate or a quota.

    >>> speaks_of_limits("Quota exceeded for quota metric 'Queries'"), speaks_of_limits("Invalid API key")
    (True, False)
    """
    return _LIMIT_WORDS.search(said) is not None


def page(
    row: Row, *, url: str, title: str, snippet: str | Sequence[str], dated: object = None, language: object = None
) -> WebPage | None:
    """The page of one `row`, by the names of its fields; None where it has no http(s) address.

    Title and snippet lose tags, entities and control characters; what is missing or of another kind is empty. `dated`
    is the value of a date in any form.
    """
    address = usable_address(row.get(url))
    if address is None:
        return None
    names = (snippet,) if isinstance(snippet, str) else snippet
    text = next((found for name in names if (found := plain(row.get(name), most=MOST_SNIPPET))), "")
    tag = language.strip().lower().replace("_", "-").partition("-")[0] if isinstance(language, str) else ""
    return WebPage(
        url=address,
        title=plain(row.get(title), most=MOST_TITLE),
        snippet=text,
        date=iso_day(dated),
        language="ja" if tag == "jp" else tag if re.fullmatch("[a-z]{2,3}", tag) else "und",
    )


def unique(pages: Iterable[WebPage | None], *, limit: int, rows: int, provider: str) -> list[WebPage]:
    """At most `limit` of `pages`, best first, each address once.

    Raises ProviderAnswerInvalid where there were `rows` and none of them has an address that can be used.
    """
    kept: dict[str, WebPage] = {}
    for one in pages:
        if one is not None:
            kept.setdefault(address_key(one.url), one)
    if rows and not kept:
        raise ProviderAnswerInvalid(provider=provider, reason=f"none of its {rows} results has an http(s) address")
    return list(kept.values())[:limit]


def usable_address(value: object) -> str | None:
    """`value` as an address that may be shown and fetched: http or https, with a host, without a user's name in it."""
    if not isinstance(value, str):
        return None
    address = value.strip()
    if not address.isprintable() or " " in address or not 0 < len(address) <= _MOST_ADDRESS:
        return None
    with suppress(ValueError):
        parts = urlsplit(address)
        _ = parts.port
        if parts.scheme.lower() in {"http", "https"} and parts.hostname and "@" not in parts.netloc:
            return address
    return None


def address_key(address: str) -> str:
    """What two addresses of one page have in common: not scheme, case of the host, fragment, trackers, escapes.

    >>> address_key("HTTPS://Example.com:443/a/?utm_source=x#top") == address_key("http://example.com/a")
    True
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    with suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    path = quote(unquote(parts.path), safe="/").rstrip("/")
    pairs = sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKERS.fullmatch(pair[0]))
    # A fragment with an exclamation mark names another page of an application.
    fragment = parts.fragment if parts.fragment.startswith(("!", "/")) else ""
    return f"{host}{port}{path}?{urlencode(pairs)}#{fragment}"


def plain(value: object, *, most: int) -> str:
    """`value` as one line of text without tags, entities and control characters; several texts are joined by " … ".

    >>> plain("<b>A&amp;B</b>&#39;s  price\\n&lt; 5", most=100), plain(None, most=100)
    ("A&B's price < 5", '')
    """
    if isinstance(value, list):
        return " … ".join(text for one in value if (text := plain(one, most=most)))[:most]
    if not isinstance(value, str):
        return ""
    text = value[: 4 * most]
    for _ in range(5):  # an entity may hide a tag, and a tag another one; five layers are more than anybody means well
        before, text = text, html.unescape(_TAG.sub("", _BREAKING_TAG.sub(" ", text)))
        if text == before:
            break
    kept = "".join(" " if char.isspace() else char for char in text if char.isprintable() or char.isspace())
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def iso_day(value: object) -> str:
    """The day that `value` names, in any form that leaves no doubt, as ``YYYY-MM-DD``; empty where it names none.

    >>> iso_day("Tue, 11 Mar 2025 07:00:00 GMT"), iso_day("2025年3月3日"), iso_day("3 days ago"), iso_day("2025-02-30")
    ('2025-03-11', '2025-03-03', '', '')
    """
    if not isinstance(value, str):
        return ""
    for found in dates(value[:100]):
        with suppress(ValueError):
            return date(found.year, found.month, found.day).isoformat()
    return ""


def _unusable(reply: object, provider: str) -> ProviderError:
    if isinstance(reply, str):
        return fault(f"it answered with a text: {_words(reply)[:200]}", provider=provider)
    told = "null" if reply is None else f"a {type(reply).__name__}"
    return ProviderAnswerInvalid(provider=provider, reason=f"it answered with {told} instead of results")


def _words(said: object) -> str:
    """The words in `said`, whatever holds them."""
    if isinstance(said, list):
        return "; ".join(text for one in said if (text := _words(one)))
    if isinstance(said, dict):
        inner = next((said[name] for name in ("message", "error", "detail", "msg", "code") if said.get(name)), None)
        return _words(inner)
    if isinstance(said, str):
        return plain(said, most=1_000)
    return str(said) if isinstance(said, (int, float)) and not isinstance(said, bool) and said else ""
