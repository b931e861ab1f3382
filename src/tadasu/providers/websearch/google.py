"""Google Custom Search: ``GET https://www.googleapis.com/customsearch/v1`` with ``key`` and the engine's id as ``cx``.

Source: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list (parameters, at most 10 results) and
https://developers.google.com/custom-search/v1/reference/rest/v1/Search (reply). Languages are preferred (``hl`` and
``gl``), not required (``lr``): a Japanese question may well have its answer on an English page.
"""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.errors import SettingsInvalid
from tadasu.ports import WebSearchSettings
from tadasu.providers.http import KeyForm
from tadasu.providers.websearch.reading import Row, page, rows_at
from tadasu.providers.websearch.service import ApiSearch, Query, Reading, SearchApi

_REGIONS = {"en": {"hl": "en"}, "ja": {"hl": "ja", "gl": "jp"}}
_DATES = ("article:published_time", "datepublished", "date", "og:updated_time", "article:modified_time")


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The parameters."""
    return {"q": query.words, "cx": settings.engine, "num": query.limit, **_REGIONS.get(query.language, {})}


def read(reply: object) -> Reading:
    """``{"items": [{"title", "link", "snippet", "pagemap"}]}``; without results there are no ``items``."""
    known_by = ("kind", "queries", "searchInformation")
    return rows_at(reply, "items", known_by=known_by, provider="google"), _page


def _page(row: Row) -> WebPage | None:
    return page(row, url="link", title="title", snippet=("snippet", "htmlSnippet"), dated=_dated(row))


def _dated(row: Row) -> object:
    """The date that the page states of itself, among its meta tags."""
    pagemap = row.get("pagemap")
    tags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    first = tags[0] if isinstance(tags, list) and tags else None
    return next((first[name] for name in _DATES if first.get(name)), None) if isinstance(first, dict) else None


GOOGLE = SearchApi(
    name="google",
    address="https://www.googleapis.com",
    path="/customsearch/v1",
    key_variable="GOOGLE_API_KEY",
    ask=ask,
    read=read,
    most=10,
    key_form=KeyForm(parameter="key"),
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: google``.

    Raises SettingsInvalid where the engine's id is missing or the address cannot be one.
    """
    if not settings.engine:
        reason = "is not set; write the id (cx) of your Programmable Search Engine"
        raise SettingsInvalid(where="tadasu.toml", key="web.google.engine", reason=reason)
    return ApiSearch(GOOGLE, settings)
