"""Brave: ``GET https://api.search.brave.com/res/v1/web/search`` with the key as ``X-Subscription-Token``.

Source: https://api-dashboard.search.brave.com/app/documentation/web-search (parameters, codes of countries and
languages, headers, replies). Brave writes Japanese as ``jp``, and refuses ``ja``.
"""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.ports import WebSearchSettings
from tadasu.providers.http import KeyForm
from tadasu.providers.websearch.reading import Row, page, rows_at
from tadasu.providers.websearch.service import ApiSearch, Query, Reading, SearchApi

_REGIONS = {
    "en": {"search_lang": "en", "ui_lang": "en-US"},
    "ja": {"search_lang": "jp", "ui_lang": "ja-JP", "country": "JP"},
}


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The parameters: web pages only, without marks around the words found."""
    del settings
    fixed = {"count": query.limit, "result_filter": "web", "text_decorations": "false"}
    return {"q": query.words, **fixed, **_REGIONS.get(query.language, {})}


def read(reply: object) -> Reading:
    """``{"web": {"results": [{"title", "url", "description", "page_age", "language"}]}}``; ``web`` may be missing."""
    return rows_at(reply, "web", "results", known_by=("type", "query"), provider="brave"), _page


def _page(row: Row) -> WebPage | None:
    dated, language = row.get("page_age") or row.get("age"), row.get("language")
    snippet = ("description", "extra_snippets")
    return page(row, url="url", title="title", snippet=snippet, dated=dated, language=language)


BRAVE = SearchApi(
    name="brave",
    address="https://api.search.brave.com",
    path="/res/v1/web/search",
    key_variable="BRAVE_API_KEY",
    ask=ask,
    read=read,
    most=20,
    key_form=KeyForm(header="x-subscription-token", prefix=""),
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: brave``; raises SettingsInvalid where the address cannot be one."""
    return ApiSearch(BRAVE, settings)
