"""What every web search does alike, as a suite of tests.

::

    class TestMySearch(WebSearchConformance):
        @pytest.fixture
        def web(self):
            return my_package.open_search(WebSearchSettings(base_url=a_server_that_plays_it, ...))

        @pytest.fixture
        def failing(self):
            return my_package.open_search(WebSearchSettings(base_url="http://127.0.0.1:9"))
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date

import pytest

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Call, Outcome, Pricing, Stage
from tadasu.errors import BudgetSpent, ProviderError, SearchFailed, TadasuError
from tadasu.ports import WebSearch
from tadasu.testing.conformance.pairs import ODD_QUESTIONS, Book

QUERIES = (("en", "warranty of the KPT-340"), ("ja", "KPT-340 保証期間"))
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+|#x[0-9a-fA-F]+);")

asked_in_each_language = pytest.mark.parametrize(("language", "query"), QUERIES, ids=[one for one, _ in QUERIES])


class NoMoney(Book):
    """A ledger of a run that may make no call any more."""

    seconds_left: float | None = 60.0

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        """Always too late."""
        del usd, under_way
        raise BudgetSpent(what=what)


class WebSearchConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `web`: a search that finds pages for `QUERIES`.

    `failing` is the same search where its service cannot be used, None where it needs none. `leaves_the_machine` is
    False for a search that calls nobody, and so spends nothing.
    """

    leaves_the_machine: bool = True

    @pytest.fixture
    def web(self) -> WebSearch:
        """Override this."""
        raise NotImplementedError("give the suite a fixture web")

    @pytest.fixture
    def failing(self) -> WebSearch | None:
        """Override this."""
        return None

    async def test_it_says_who_it_is(self, web: WebSearch) -> None:
        before = web.id
        assert isinstance(before, str)
        assert before.strip() == before != ""
        await _found(web, QUERIES[0][1])
        assert web.id == before

    @asked_in_each_language
    async def test_it_finds_pages_that_can_be_shown(self, web: WebSearch, language: str, query: str) -> None:
        assert await _found(web, query, language=language)

    @asked_in_each_language
    @pytest.mark.parametrize("limit", [1, 2, 50])
    async def test_it_gives_no_more_than_asked_for(self, web: WebSearch, language: str, query: str, limit: int) -> None:
        assert 0 < len(await _found(web, query, language=language, limit=limit)) <= limit

    async def test_the_best_ones_come_first_however_many_are_asked_for(self, web: WebSearch) -> None:
        [best] = await _found(web, QUERIES[0][1], limit=1)
        assert (await _found(web, QUERIES[0][1], limit=10))[0].url == best.url

    @pytest.mark.parametrize("language", ["", "und", "xx", "ja-JP"])
    async def test_a_language_that_it_does_not_know_is_no_fault(self, web: WebSearch, language: str) -> None:
        await _found(web, QUERIES[0][1], language=language)

    @pytest.mark.parametrize("query", ODD_QUESTIONS, ids=range(len(ODD_QUESTIONS)))
    async def test_an_odd_query_is_searched_or_refused_by_name(self, web: WebSearch, query: str) -> None:
        with suppress(ProviderError, SearchFailed):
            await _found(web, query)

    async def test_each_search_is_in_the_ledger_with_its_price(self, web: WebSearch) -> None:
        book = Book()
        await _found(web, QUERIES[0][1], book=book)
        assert [(call.stage, call.outcome) for call in book.calls] == [(Stage.SEARCH, Outcome.OK)]
        assert book.calls[0].provider == web.id
        _check_price(book.calls[0])

    async def test_searches_at_one_time_do_not_mix(self, web: WebSearch) -> None:
        alone = [[one.url for one in await _found(web, query, language=language)] for language, query in QUERIES]
        books = [Book() for _ in QUERIES]
        together = await asyncio.gather(
            *(
                _found(web, query, language=language, book=book)
                for (language, query), book in zip(QUERIES, books, strict=True)
            )
        )
        assert [[one.url for one in found] for found in together] == alone
        assert [len(book.calls) for book in books] == [1] * len(QUERIES)

    async def test_a_run_that_may_spend_nothing_makes_no_call(self, web: WebSearch) -> None:
        if not self.leaves_the_machine:
            pytest.skip("it calls nobody")
        book = NoMoney()
        with pytest.raises(BudgetSpent):
            await web.search(QUERIES[0][1], limit=3, language="en", ledger=book)
        assert book.calls == []

    async def test_a_service_that_is_gone_is_an_error_with_a_name_and_in_the_ledger(
        self, failing: WebSearch | None
    ) -> None:
        if failing is None:
            pytest.skip("it cannot fail")
        book = Book()
        with pytest.raises(TadasuError) as caught:
            await failing.search(QUERIES[0][1], limit=3, language="en", ledger=book)
        assert isinstance(caught.value, (ProviderError, SearchFailed))
        assert book.calls
        assert {(call.stage, call.outcome) for call in book.calls} == {(Stage.SEARCH, Outcome.FAILED)}
        assert all(call.error for call in book.calls)

    async def test_what_is_cancelled_is_in_the_ledger_and_can_be_asked_again(self, web: WebSearch) -> None:
        book = Book()
        task = asyncio.create_task(web.search(QUERIES[0][1], limit=3, language="en", ledger=book))
        await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert len(book.calls) <= 1, "a search that was not begun is none"
        assert await _found(web, QUERIES[0][1])


async def _found(
    web: WebSearch, query: str, *, language: str = "en", limit: int = 5, book: Book | None = None
) -> Sequence[WebPage]:
    """What was found, after a look that every page is as the port promises it."""
    pages = await web.search(query, limit=limit, language=language, ledger=book or Book())
    assert isinstance(pages, Sequence)
    assert len(pages) <= limit
    for page in pages:
        assert isinstance(page, WebPage)
        assert page.url.startswith(("http://", "https://"))
        assert page.url.isprintable()
        assert not _TAG.search(page.title + page.snippet), "tags and entities are removed"
        if page.date:
            date.fromisoformat(page.date[:10])
        assert page.language
    assert len({page.url for page in pages}) == len(pages)
    return pages


def _check_price(call: Call) -> None:
    assert (call.cost_usd is None) is (call.pricing is Pricing.UNPRICED), "no price is no zero"
    if call.pricing is Pricing.LOCAL:
        assert call.cost_usd == 0.0
