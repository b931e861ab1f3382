"""Each service as it is asked and as it answers, well and in every way gone wrong, over real HTTP."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import quote, quote_plus

import pytest

from tadasu.core.usage import Outcome, Pricing, Stage
from tadasu.errors import (
    BudgetSpent,
    KeyMissing,
    PriceUnknown,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    SettingsInvalid,
    TadasuError,
)
from tadasu.ports import WebSearchSettings
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tadasu.testing.web_dialects import FoundPage, some_pages
from tadasu.testing.web_server import WebManner, WebServer
from tests.providers.websearch.services import KEY, PROVIDERS, VARIABLE, opened, playing, searched, urls

pytestmark = pytest.mark.enable_socket

every_service = pytest.mark.parametrize("name", PROVIDERS)


# --- asking --------------------------------------------------------------------------------------

ASKED = {
    ("tavily", "en"): {"max_results": 5, "search_depth": "basic", "topic": "general", "include_answer": False}
    | {"include_raw_content": False, "include_images": False},
    ("tavily", "ja"): {"max_results": 5, "search_depth": "basic", "topic": "general", "include_answer": False}
    | {"include_raw_content": False, "include_images": False, "country": "japan"},
    ("serpapi", "en"): {"engine": "google", "hl": "en", "api_key": KEY},
    ("serpapi", "ja"): {"engine": "google", "hl": "ja", "gl": "jp", "api_key": KEY},
    ("google", "en"): {"cx": "cx-1", "num": "5", "hl": "en", "key": KEY},
    ("google", "ja"): {"cx": "cx-1", "num": "5", "hl": "ja", "gl": "jp", "key": KEY},
    ("brave", "en"): {"count": "5", "result_filter": "web", "text_decorations": "false"}
    | {"search_lang": "en", "ui_lang": "en-US"},
    ("brave", "ja"): {"count": "5", "result_filter": "web", "text_decorations": "false"}
    | {"search_lang": "jp", "ui_lang": "ja-JP", "country": "JP"},
    ("searxng", "en"): {"format": "json", "language": "en"},
    ("searxng", "ja"): {"format": "json", "language": "ja"},
    ("bing", "en"): {"count": "5", "responseFilter": "Webpages", "textDecorations": "false", "textFormat": "Raw"}
    | {"mkt": "en-US"},
    ("bing", "ja"): {"count": "5", "responseFilter": "Webpages", "textDecorations": "false", "textFormat": "Raw"}
    | {"mkt": "ja-JP", "setLang": "ja"},
}
QUERIES = {"en": 'warranty "PT-300" & 5% + more?', "ja": "保証期間 PT-300 ＆「延長」"}


@pytest.mark.parametrize(("name", "language"), ASKED)
async def test_a_service_is_asked_as_its_reference_says_and_with_our_words_exactly(
    name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    async with playing(name, key=KEY, key_variable=VARIABLE) as (web, server):
        await searched(web, QUERIES[language], language=language)
        [asked] = server.requests
    told = dict(asked.parameters)
    assert told.pop(server.dialect.words) == QUERIES[language]
    assert told == ASKED[name, language]
    assert asked.method == ("POST" if name == "tavily" else "GET")
    assert asked.path == server.dialect.path


@every_service
async def test_the_key_is_where_the_service_wants_it_and_nowhere_else(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    async with playing(name, key=KEY, key_variable=VARIABLE) as (web, server):
        assert (await searched(web)).pages
        [asked] = server.requests
    assert server.dialect.key_of(asked) == KEY
    told = [value for value in (*asked.headers.values(), *map(str, asked.parameters.values())) if KEY in value]
    assert len(told) == 1


@every_service
async def test_without_a_key_a_server_elsewhere_is_not_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    web = opened(name, base_url="https://search.example.invalid/", key_variable=VARIABLE)
    with pytest.raises(KeyMissing, match=VARIABLE) as caught:
        await searched(web)
    assert f"web.{name}.key_variable" in caught.value.hint


async def test_a_key_with_letters_that_no_header_takes_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "sk–1234")
    async with playing("brave", key_variable=VARIABLE) as (web, server):
        with pytest.raises(SettingsInvalid, match=VARIABLE) as caught:
            await searched(web)
    assert "1234" not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(("name", "most"), [("google", "10"), ("brave", "20"), ("bing", "50")])
async def test_no_more_is_asked_for_than_a_service_gives(name: str, most: str) -> None:
    async with playing(name) as (web, server):
        await searched(web, limit=500)
        assert {"google": "num"}.get(name, "count") in server.requests[0].parameters
        assert most in server.requests[0].parameters.values()


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("google_light", {"hl": "ja", "gl": "jp"}),
        ("bing", {"mkt": "ja-JP"}),
        ("duckduckgo", {"kl": "jp-jp"}),
        ("another", {}),
    ],
)
async def test_serpapi_asks_the_engine_of_the_settings(engine: str, told: dict[str, str]) -> None:
    async with playing("serpapi", engine=engine) as (web, server):
        await searched(web, "保証", language="ja")
    assert server.requests[0].parameters == {"q": "保証", "engine": engine} | told


async def test_searxng_asks_the_engines_of_the_settings() -> None:
    async with playing("searxng", engine="duckduckgo,wikipedia") as (web, server):
        await searched(web)
    assert server.requests[0].parameters["engines"] == "duckduckgo,wikipedia"


@pytest.mark.parametrize("name", ["searxng", "bing"])
def test_a_service_without_an_address_of_its_own_wants_one(name: str) -> None:
    with pytest.raises(SettingsInvalid, match=rf"web\.{name}\.base_url is not set"):
        opened(name, base_url="")


def test_google_wants_the_id_of_an_engine() -> None:
    with pytest.raises(SettingsInvalid, match=r"web\.google\.engine is not set"):
        opened("google", engine="")


@pytest.mark.parametrize(
    "address", ["ftp://x.example", "https://user:word@x.example", "x.example", "https://", "https://[::1"]
)
def test_an_address_that_is_none_is_said_at_the_start(address: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"web\.brave\.base_url"):
        opened("brave", base_url=address)


@pytest.mark.parametrize("ending", ["", "/", "/res/v1", "/res/v1/web/search", "/res/v1/web/search/"])
async def test_an_address_may_be_written_with_or_without_its_path(ending: str) -> None:
    with WebServer("brave") as server:
        web = opened("brave", base_url=server.base_url + ending)
        assert (await searched(web)).pages
        await web.close()


# --- reading -------------------------------------------------------------------------------------


@every_service
async def test_pages_come_as_text_with_their_dates(name: str) -> None:
    async with playing(name) as (web, _):
        found = await searched(web)
    english, japanese, third = found.pages
    assert (english.title, english.snippet) == ("Warranty & repairs", "The warranty is 36 months.")
    assert (japanese.title, japanese.snippet) == ("保証について", "保証期間は「24か月」です。")
    assert (english.date, japanese.date, third.date) == ("2025-03-01", "2025-04-02", "")
    assert third.body is None
    languages = ("en", "ja") if name in {"brave", "bing"} else ("und", "und")
    assert (english.language, japanese.language) == languages


@every_service
async def test_nothing_found_is_an_answer_and_no_error(name: str) -> None:
    async with playing(name, WebManner.NOTHING) as (web, _):
        found = await searched(web)
    assert list(found.pages) == []
    assert [call.outcome for call in found.ledger.calls] == [Outcome.OK]


@every_service
async def test_a_list_without_its_envelope_is_read(name: str) -> None:
    async with playing(name, WebManner.BARE_LIST) as (web, _):
        assert len((await searched(web)).pages) == 3


@every_service
async def test_only_web_addresses_come_and_each_page_once(name: str) -> None:
    addresses = [
        "javascript:alert(1)", "https://a.example/x/", "http://A.example:80/x?utm_source=mail#top", "file:///etc/passwd",
        "https://a.example/%7Ex", "https://a.example/~x", "https://a.example/x?id=2", "ftp://a.example/x", "//a.example/x",
        "https://user@bank.example/", "https://a.example/x y", "", "https://日本.example/保証", "https://xn--wgv71a.example/%E4%BF%9D%E8%A8%BC",
    ]  # fmt: skip
    pages = [FoundPage(address, f"t{n}", "s") for n, address in enumerate(addresses)]
    async with playing(name, pages=pages) as (web, _):
        found = urls((await searched(web, limit=10)).pages)
    assert found == [
        "https://a.example/x/", "https://a.example/%7Ex", "https://a.example/x?id=2", "https://日本.example/保証",
    ]  # fmt: skip


@every_service
async def test_a35_results_with_missing_keys_and_other_kinds_are_read_as_far_as_they_go(name: str) -> None:
    async with playing(name, WebManner.SOME_KEYLESS, WebManner.ODD_KINDS) as (web, _):
        first, second = await searched(web), await searched(web)
    assert urls(first.pages) == ["https://en.example.com/warranty", "https://example.org/0"]
    assert (first.pages[0].title, first.pages[0].snippet, first.pages[0].date) == ("", "", "")
    assert len(second.pages) == 3
    assert (second.pages[0].title, second.pages[0].snippet) == ("", "")


# --- what goes wrong -----------------------------------------------------------------------------

FAULTS: dict[WebManner, tuple[type[ProviderError], str]] = {
    WebManner.ACCEPTED: (ProviderLimited, "HTTP 202"),
    WebManner.LIMITED: (ProviderLimited, "HTTP 429: too many requests"),
    WebManner.LIMITED_DATE: (ProviderLimited, "HTTP 429"),
    WebManner.LIMITED_BARE: (ProviderLimited, "HTTP 429"),
    WebManner.LIMITED_DAY: (ProviderLimited, "the plan of this day is used up"),
    WebManner.BUSY: (ProviderUnreachable, "HTTP 503: overloaded"),
    WebManner.FAULT: (ProviderUnreachable, "HTTP 500"),
    WebManner.QUOTA: (ProviderLimited, "Quota exceeded"),
    WebManner.LIMIT_INSIDE: (ProviderLimited, "Rate limit reached"),
    WebManner.ERROR_INSIDE: (ProviderAnswerInvalid, "may not do this"),
    WebManner.ERROR_TEXT: (ProviderAnswerInvalid, "search error: upstream failed"),
    WebManner.NULL: (ProviderAnswerInvalid, "null instead of results"),
    WebManner.EMPTY: (ProviderAnswerInvalid, "no JSON"),
    WebManner.NO_JSON: (ProviderAnswerInvalid, "no JSON"),
    WebManner.NO_LIST: (ProviderAnswerInvalid, "is missing"),
    WebManner.NOT_A_LIST: (ProviderAnswerInvalid, "is no list"),
    WebManner.NOT_OBJECTS: (ProviderAnswerInvalid, "holds other things"),
    WebManner.KEYLESS: (ProviderAnswerInvalid, r"none of its 3 results has an http\(s\) address"),
    WebManner.FORBIDDEN: (ProviderRefused, "HTTP 403"),
    WebManner.REFUSED: (ProviderRefused, "HTTP 401"),
    WebManner.REDIRECT: (ProviderRefused, "redirects, which is not followed"),
    WebManner.CLOSED: (ProviderUnreachable, "cannot be reached"),
    WebManner.BROKEN_OFF: (ProviderUnreachable, "broke off"),
    WebManner.TOO_LONG: (ProviderAnswerInvalid, "longer than"),
}
A34 = [WebManner.ACCEPTED, WebManner.LIMITED, WebManner.LIMITED_DATE, WebManner.LIMITED_BARE, WebManner.LIMITED_DAY]
WAITS = {WebManner.LIMITED: 7, WebManner.LIMITED_DATE: 120, WebManner.LIMITED_DAY: 86_400, WebManner.BUSY: 3}


@every_service
@pytest.mark.parametrize("manner", FAULTS)
async def test_a35_every_fault_has_its_name_stands_in_the_ledger_and_tells_no_key(
    name: str, manner: WebManner, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    ledger = RunLedger(FixedWorld())
    kind, words = FAULTS[manner]
    async with playing(name, manner, key_variable=VARIABLE) as (web, server):
        with pytest.raises(kind, match=words) as caught:
            await web.search("保証 secret-question", limit=5, language="ja", ledger=ledger)
    attempts = 2 if manner is WebManner.CLOSED else 1
    assert [(call.stage, call.provider, call.outcome) for call in ledger.calls] == [
        (Stage.SEARCH, name, Outcome.FAILED)
    ] * attempts
    assert [call.attempt for call in ledger.calls] == list(range(1, attempts + 1))
    assert len(server.requests) == attempts
    told = [str(caught.value), repr(caught.value.details), caught.value.hint, caplog.text, repr(ledger.calls)]
    for text in told:
        for secret in (KEY, quote(KEY, safe=""), quote_plus(KEY), "secret-question"):
            assert secret not in text


@every_service
@pytest.mark.parametrize("manner", [*A34, WebManner.BUSY])
async def test_a34_the_wait_that_a_service_asks_for_is_told(name: str, manner: WebManner) -> None:
    async with playing(name, manner) as (web, _):
        with pytest.raises(ProviderError) as caught:
            await searched(web)
    waited = caught.value.details["retry_after_s"]
    assert isinstance(caught.value, ProviderUnreachable if manner is WebManner.BUSY else ProviderLimited)
    if manner in WAITS:
        assert isinstance(waited, float)
        assert WAITS[manner] - 60 < waited <= WAITS[manner]
    else:
        assert waited is None


@every_service
async def test_a_search_without_fault_tells_no_key_to_the_log(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    async with playing(name, key_variable=VARIABLE) as (web, server):
        await searched(web, "secret-question")
    assert server.dialect.path in caplog.text, "the client says whom it asked"
    for secret in (KEY, quote(KEY, safe=""), quote_plus(KEY), "secret-question"):
        assert secret not in caplog.text


@every_service
async def test_a_closed_connection_is_tried_once_more(name: str) -> None:
    async with playing(name, WebManner.CLOSED, WebManner.WELL) as (web, _):
        found = await searched(web)
    assert len(found.pages) == 3
    assert [(call.outcome, call.attempt) for call in found.ledger.calls] == [(Outcome.FAILED, 1), (Outcome.OK, 2)]


async def test_a_service_that_says_nothing_is_given_up_in_time() -> None:
    async with playing("tavily", WebManner.HANG, timeout_s=0.2) as (web, _):
        with pytest.raises(ProviderUnreachable, match=r"no answer within 0\.2 s"):
            await searched(web)


async def test_the_deadline_of_the_run_is_kept() -> None:
    ledger = RunLedger(FixedWorld())
    async with playing("tavily", WebManner.HANG) as (web, _):
        with pytest.raises(ProviderUnreachable, match=r"no answer within 0\.3 s"):
            await web.search("q", limit=3, language="en", ledger=Budget(Limits(seconds=0.3), ledger))
    assert len(ledger.calls) == 1


async def test_a_search_that_is_cancelled_is_in_the_ledger() -> None:
    ledger = RunLedger(FixedWorld())
    async with playing("brave", WebManner.HANG) as (web, server):
        task = asyncio.create_task(web.search("q", limit=3, language="en", ledger=ledger))
        assert await asyncio.to_thread(server.arrived.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [call.outcome for call in ledger.calls] == [Outcome.CANCELLED]


async def test_searxng_that_does_not_give_json_says_how_to_allow_it() -> None:
    async with playing("searxng", WebManner.FORBIDDEN) as (web, _):
        with pytest.raises(ProviderRefused, match=r"HTTP 403; does its settings\.yml allow the format json"):
            await searched(web)


async def test_searxng_whose_engines_are_all_silent_has_not_searched() -> None:
    for reason, kind in (("timeout", ProviderUnreachable), ("too many requests", ProviderLimited)):
        async with playing("searxng", WebManner.NOTHING) as (web, server):
            server.dialect.empty["unresponsive_engines"] = [["google", reason], ["<b>x</b>", 7], 3, []]
            try:
                with pytest.raises(kind, match=f"google: {reason}, x: 7"):
                    await searched(web)
            finally:
                server.dialect.empty["unresponsive_engines"] = []


# --- what it costs -------------------------------------------------------------------------------


@every_service
async def test_a65_a_search_has_its_price_or_is_said_to_have_none(name: str) -> None:
    async with playing(name, price=8.0) as (web, _):
        [call] = (await searched(web)).ledger.calls
        assert (call.pricing, call.cost_usd) == (Pricing.PRICED, 0.008)
    async with playing(name) as (web, _):
        [call] = (await searched(web)).ledger.calls
        assert (call.pricing, call.cost_usd) == (Pricing.LOCAL, 0.0)


async def test_a65_a_service_elsewhere_without_a_price_is_unpriced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    ledger = RunLedger(FixedWorld())
    with pytest.raises(TadasuError):
        await opened("brave", base_url="").search("q", limit=3, language="en", ledger=ledger)
    assert [(call.pricing, call.cost_usd) for call in ledger.calls] == [(Pricing.UNPRICED, None)]


@pytest.mark.parametrize("manner", [WebManner.LIMITED, WebManner.LIMIT_INSIDE, WebManner.REFUSED, WebManner.ACCEPTED])
async def test_a_search_that_was_turned_away_costs_nothing(manner: WebManner) -> None:
    ledger = RunLedger(FixedWorld())
    async with playing("brave", manner, price=8.0) as (web, _):
        with pytest.raises(ProviderError):
            await web.search("q", limit=3, language="en", ledger=ledger)
    assert [call.cost_usd for call in ledger.calls] == [0.0]


async def test_a_search_that_the_money_does_not_allow_is_not_made() -> None:
    async with playing("brave", price=8.0) as (web, server):
        with pytest.raises(BudgetSpent):
            budget = Budget(Limits(usd=0.005), RunLedger(FixedWorld()))
            await web.search("q", limit=3, language="en", ledger=budget)
    assert server.requests == []


async def test_a_run_makes_as_many_searches_as_its_limit_says() -> None:
    budget = Budget(Limits(calls=2), RunLedger(FixedWorld()))
    async with playing("brave") as (web, server):
        for _ in range(2):
            assert await web.search("q", limit=3, language="en", ledger=budget)
        with pytest.raises(BudgetSpent):
            await web.search("q", limit=3, language="en", ledger=budget)
    assert len(server.requests) == 2


async def test_a_search_without_a_price_is_refused_where_money_is_limited_and_prices_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    budget = Budget(Limits(usd=1.0, prices_needed=True), RunLedger(FixedWorld()))
    with pytest.raises(PriceUnknown, match="brave"):
        await opened("brave", base_url="").search("q", limit=3, language="en", ledger=budget)


def test_pages_of_the_server_are_as_engines_write_them() -> None:
    assert "&" in some_pages()[0].title
    assert WebSearchSettings().price is None
