"""SerpApi: ``GET https://serpapi.com/search.json`` with the key as ``api_key``.

Sources: https://serpapi.com/search-api (parameters), https://serpapi.com/duckduckgo-search-api, https://serpapi.com/
bing-search-api (their regions), https://serpapi.com/api-status-and-error-codes. The setting ``engine`` names the search
engine that is asked: google (the default), google_light, bing, duckduckgo.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.ports import WebSearchSettings
from tadasu.providers.http import KeyForm
from tadasu.providers.websearch.reading import Row, page, rows_at, said_error
from tadasu.providers.websearch.service import ApiSearch, Query, Reading, SearchApi

_REGIONS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "google": {"en": {"hl": "en"}, "ja": {"hl": "ja", "gl": "jp"}},
    "google_light": {"en": {"hl": "en"}, "ja": {"hl": "ja", "gl": "jp"}},
    "bing": {"en": {"mkt": "en-US"}, "ja": {"mkt": "ja-JP"}},
    "duckduckgo": {"en": {"kl": "us-en"}, "ja": {"kl": "jp-jp"}},
}
_FOUND_NOTHING = re.compile(r"(?i)hasn.t returned any results|no results")


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The parameters: the words, the engine, and its region for the language."""
    engine = settings.engine or "google"
    return {"engine": engine, "q": query.words, **_REGIONS.get(engine, {}).get(query.language, {})}


def read(reply: object) -> Reading:
    """``{"organic_results": [{"position", "title", "link", "snippet", "date"}]}``.

    A search without results has a sentence in ``error`` and the status Success.
    """
    if isinstance(reply, dict) and _FOUND_NOTHING.search(said_error(reply)):
        return [], _page
    return rows_at(
        reply, "organic_results", known_by=("search_metadata", "search_parameters"), provider="serpapi"
    ), _page


def _page(row: Row) -> WebPage | None:
    return page(row, url="link", title="title", snippet=("snippet", "snippet_highlighted_words"), dated=row.get("date"))


SERPAPI = SearchApi(
    name="serpapi",
    address="https://serpapi.com",
    path="/search.json",
    key_variable="SERPAPI_API_KEY",
    ask=ask,
    read=read,
    most=100,
    key_form=KeyForm(parameter="api_key"),
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: serpapi``; raises SettingsInvalid where the address cannot be one."""
    return ApiSearch(SERPAPI, settings)
