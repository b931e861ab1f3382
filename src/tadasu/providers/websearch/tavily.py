"""Tavily: ``POST https://api.tavily.com/search`` with a bearer key.

Source: https://docs.tavily.com/documentation/api-reference/endpoint/search (body, reply, statuses 432 and 433 for a
spent plan). Prices: one credit a basic search.
"""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.ports import WebSearchSettings
from tadasu.providers.websearch.reading import Row, page, rows_at
from tadasu.providers.websearch.service import ApiSearch, Method, Query, Reading, SearchApi


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The body. Snippets only, by the depth that costs one credit; Japanese questions prefer pages of Japan."""
    del settings
    where = {"country": "japan"} if query.language == "ja" else {}
    return {
        "query": query.words,
        "max_results": query.limit,
        "search_depth": "basic",
        "topic": "general",
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    } | where


def read(reply: object) -> Reading:
    """``{"results": [{"title", "url", "content", "published_date"}]}``; errors are ``{"detail": {"error"}}``."""
    return rows_at(reply, "results", provider="tavily"), _page


def _page(row: Row) -> WebPage | None:
    return page(row, url="url", title="title", snippet="content", dated=row.get("published_date"))


TAVILY = SearchApi(
    name="tavily",
    address="https://api.tavily.com",
    path="/search",
    key_variable="TAVILY_API_KEY",
    ask=ask,
    read=read,
    most=20,
    method=Method.POST,
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: tavily``; raises SettingsInvalid where the address cannot be one."""
    return ApiSearch(TAVILY, settings)
