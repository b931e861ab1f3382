"""SearXNG, on a server of one's own: ``GET /search?format=json``; no key.

Source: https://docs.searxng.org/dev/search_api.html. The format has to be allowed in its settings.yml (``search:
formats: [html, json]``), else it answers 403. The setting ``engine`` names the engines that it shall ask, with commas
between them, such as ``duckduckgo,wikipedia``; empty: as it is set up.
"""

from __future__ import annotations

from collections.abc import Mapping

from tadasu.core.retrieved import WebPage
from tadasu.errors import ProviderUnreachable
from tadasu.ports import WebSearchSettings
from tadasu.providers.websearch.reading import Row, fault, page, plain, rows_at, speaks_of_limits
from tadasu.providers.websearch.service import ApiSearch, Query, Reading, SearchApi


def ask(query: Query, settings: WebSearchSettings) -> Mapping[str, object]:
    """The parameters. A number of results cannot be asked for."""
    language = {"language": query.language} if query.language in {"en", "ja"} else {}
    engines = {"engines": settings.engine} if settings.engine else {}
    return {"q": query.words, "format": "json", **language, **engines}


def read(reply: object) -> Reading:
    """``{"results": [{"title", "url", "content", "publishedDate"}], "unresponsive_engines": [[engine, reason]]}``.

    Nothing found, and engines that did not answer: that is no search.
    """
    rows = rows_at(reply, "results", known_by=("query",), provider="searxng")
    silent = _silent(reply) if not rows and isinstance(reply, dict) else ""
    if silent:
        said = f"its engines did not answer: {silent}"
        if speaks_of_limits(silent):
            raise fault(said, provider="searxng")
        raise ProviderUnreachable(provider="searxng", reason=said, billable=False)
    return rows, _page


def _silent(reply: Mapping[str, object]) -> str:
    given = reply.get("unresponsive_engines")
    pairs = [one for one in given if isinstance(one, list) and one] if isinstance(given, list) else []
    return ", ".join(plain([str(part) for part in pair[:2]], most=100).replace(" … ", ": ") for pair in pairs[:10])


def _page(row: Row) -> WebPage | None:
    return page(row, url="url", title="title", snippet="content", dated=row.get("publishedDate") or row.get("pubdate"))


SEARXNG = SearchApi(
    name="searxng",
    address="",
    path="/search",
    key_variable="",
    ask=ask,
    read=read,
    most=50,
    advice={403: "does its settings.yml allow the format json (search: formats: [html, json])?"},
)


def open_search(settings: WebSearchSettings) -> ApiSearch:
    """The plugin behind ``tadasu.websearch: searxng``; raises SettingsInvalid where `base_url` is none."""
    return ApiSearch(SEARXNG, settings)
