"""Any service that speaks Bing Web Search v7: ``GET base_url`` with the key as ``Ocp-Apim-Subscription-Key``.

Source: https://learn.microsoft.com/previous-versions/bing/search-apis/bing-web-search/reference (headers, parameters,
replies). Microsoft closed its own service in August 2025, so there is no address by default; ``base_url`` is the whole
address, such as https://search.example.com/v7.0/search.
"""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.ports import WebSearchSettings
from tadasu.providers.http import KeyForm
from tadasu.providers.websearch.reading import Row, page, rows_at
from tadasu.providers.websearch.service import ApiSearch, Query, Reading, SearchApi

_MARKETS = {"en": {"mkt": "en-US"}, "ja": {"mkt": "ja-JP", "setLang": "ja"}}


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The parameters: web pages only, without marks around the words found."""
    del settings
    fixed = {"count": query.limit, "responseFilter": "Webpages", "textDecorations": "false", "textFormat": "Raw"}
    return {"q": query.words, **fixed, **_MARKETS.get(query.language, {})}


def read(reply: object) -> Reading:
    """``{"webPages": {"value": [{"name", "url", "snippet", "datePublished", "language"}]}}``; missing where empty."""
    return rows_at(reply, "webPages", "value", known_by=("_type", "queryContext"), provider="bing"), _page


def _page(row: Row) -> WebPage | None:
    dated, language = row.get("datePublished"), row.get("language")
    return page(row, url="url", title="name", snippet="snippet", dated=dated, language=language)


BING = SearchApi(
    name="bing",
    address="",
    path="",
    key_variable="BING_SEARCH_KEY",
    ask=ask,
    read=read,
    most=50,
    key_form=KeyForm(header="ocp-apim-subscription-key", prefix=""),
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: bing``; raises SettingsInvalid where `base_url` is none."""
    return ApiSearch(BING, settings)
