"""How the web searches that Tadasu knows are asked, and the shape of what they answer, for servers that play them.

Shapes follow the services' public references, cut to what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page as the server finds it; `date` is written as the service writes dates."""

    url: str
    title: str
    snippet: str
    date: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: `raw` is all of it as it came over the wire, `parameters` what was in the query or the body."""

    method: str
    path: str
    parameters: Mapping[str, Any]
    headers: Mapping[str, str]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one service's requests and replies look like. `rows` are at `at` in the reply; `empty` is one without."""

    path: str
    key_of: Callable[[Asked], str]
    row: Callable[[FoundPage], Row]
    at: tuple[str, ...]
    empty: Row
    words: str = "q"


def _head(name: str, prefix: str = "") -> Callable[[Asked], str]:
    return lambda asked: asked.headers.get(name, "").removeprefix(prefix)


def _parameter(name: str) -> Callable[[Asked], str]:
    return lambda asked: str(asked.parameters.get(name, ""))


DIALECTS: Final[Mapping[str, Dialect]] = {
    "tavily": Dialect(
        path="/search",
        key_of=_head("authorization", "Bearer "),
        row=lambda one: {
            "url": one.url,
            "title": one.title,
            "content": one.snippet,
            "score": 0.9,
            "raw_content": None,
            "published_date": one.date,
        },
        at=("results",),
        empty={"query": "…", "answer": None, "images": [], "results": [], "response_time": 0.4},
        words="query",
    ),
    "serpapi": Dialect(
        path="/search.json",
        key_of=_parameter("api_key"),
        row=lambda one: {"position": 1, "link": one.url, "title": one.title, "snippet": one.snippet, "date": one.date},
        at=("organic_results",),
        empty={
            "search_metadata": {"id": "0", "status": "Success"},
            "search_parameters": {"engine": "google"},
            "search_information": {"organic_results_state": "Fully empty"},
            "error": "Google hasn't returned any results for this query.",
        },
    ),
    "google": Dialect(
        path="/customsearch/v1",
        key_of=_parameter("key"),
        row=lambda one: {
            "kind": "customsearch#result",
            "link": one.url,
            "title": one.title,
            "snippet": one.snippet,
            "pagemap": {"metatags": [{"og:type": "article", "article:published_time": one.date}]},
        },
        at=("items",),
        empty={"kind": "customsearch#search", "queries": {}, "searchInformation": {"totalResults": "0"}},
    ),
    "brave": Dialect(
        path="/res/v1/web/search",
        key_of=_head("x-subscription-token"),
        row=lambda one: {
            "type": "search_result",
            "url": one.url,
            "title": one.title,
            "description": one.snippet,
            "page_age": one.date,
            "language": one.language,
            "family_friendly": True,
        },
        at=("web", "results"),
        empty={"type": "search", "query": {"original": "…", "more_results_available": False}},
    ),
    "searxng": Dialect(
        path="/search",
        key_of=_head("authorization", "Bearer "),
        row=lambda one: {
            "url": one.url,
            "title": one.title,
            "content": one.snippet,
            "publishedDate": one.date or None,
            "engine": "one",
            "engines": ["one"],
        },
        at=("results",),
        empty={"query": "…", "number_of_results": 0, "results": [], "answers": [], "unresponsive_engines": []},
    ),
    "bing": Dialect(
        path="/v7.0/search",
        key_of=_head("ocp-apim-subscription-key"),
        row=lambda one: {
            "id": "…",
            "url": one.url,
            "name": one.title,
            "snippet": one.snippet,
            "datePublished": one.date,
            "language": one.language,
            "dateLastCrawled": "2026-01-01T00:00:00Z",
        },
        at=("webPages", "value"),
        empty={"_type": "SearchResponse", "queryContext": {"originalQuery": "…"}},
    ),
}
"""The services by the names of the plugins."""


def names(dialect: Dialect) -> tuple[str, str, str, str]:
    """What `dialect` calls address, title, snippet and date of a result."""
    row = dialect.row(FoundPage("1", "2", "3", "4"))
    found = {value: name for name, value in row.items() if value in ("1", "2", "3", "4")}
    return found["1"], found["2"], found["3"], found.get("4", "date")


def some_pages(count: int = 3) -> list[FoundPage]:
    """Pages in English and Japanese as engines find them: with marks, entities and dates."""
    english = FoundPage(
        "https://en.example.com/warranty", "Warranty &amp; <b>repairs</b>", "The warranty is <em>36&nbsp;months</em>.",
        "2025-03-01T08:00:00Z", "en",
    )  # fmt: skip
    japanese = FoundPage(
        "https://ja.example.jp/%E4%BF%9D%E8%A8%BC", "<b>保証</b>について", "保証期間は&#12300;24か月&#12301;です。",
        "2025-04-02T09:30:00", "ja",
    )  # fmt: skip
    more = [FoundPage(f"https://example.org/{n}", f"Page {n}", f"Text {n}.") for n in range(count)]
    return [english, japanese, *more][:count]
