"""Who fails, is limited or finds nothing makes room for the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import BudgetSpent, ProviderLimited, ProviderUnreachable, SearchFailed
from tadasu.ports import Ledger, WebSearch
from tadasu.providers.websearch.chain import LONGEST_REST_S, REST_S, SearchChain
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.rules import BreakerRules, Rations, RetryRules, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.scheduling.wrappers import ScheduledWebSearch
from tadasu.runtime.world import FixedWorld
from tadasu.testing.web_server import WebManner, WebServer
from tests.providers.websearch.services import KEY, VARIABLE, playing, searched, urls

pytestmark = pytest.mark.enable_socket

QUESTIONS = [("en", "warranty PT-300"), ("ja", "PT-300 保証期間")]


class Plugin:
    """A provider that does what it is told to."""

    def __init__(self, name: str, does: Callable[[], object]) -> None:
        self.id = name
        self.asked = 0
        self.does = does

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        self.asked += 1
        return self.does()  # type: ignore[return-value]


def raising(error: Exception) -> Callable[[], object]:
    def does() -> object:
        raise error

    return does


@asynccontextmanager
async def chained(
    *parts: tuple[str, Sequence[WebManner]], world: FixedWorld | None = None
) -> AsyncIterator[tuple[SearchChain, list[WebServer]]]:
    """A chain of services, each over a server of its own."""
    async with AsyncExitStack() as stack:
        made = [await stack.enter_async_context(playing(name, *manners)) for name, manners in parts]
        yield SearchChain([web for web, _ in made], clock=world or FixedWorld()), [server for _, server in made]


A34 = [
    WebManner.ACCEPTED, WebManner.LIMITED, WebManner.LIMITED_DATE, WebManner.LIMITED_BARE, WebManner.LIMITED_DAY,
    WebManner.BUSY,
]  # fmt: skip
A35 = [
    WebManner.ERROR_TEXT, WebManner.ERROR_INSIDE, WebManner.LIMIT_INSIDE, WebManner.KEYLESS, WebManner.NULL,
    WebManner.EMPTY, WebManner.NO_JSON, WebManner.NO_LIST, WebManner.NOT_A_LIST, WebManner.NOT_OBJECTS,
]  # fmt: skip


@pytest.mark.parametrize(
    "manner", [*A34, *A35, WebManner.FAULT, WebManner.QUOTA, WebManner.REFUSED, WebManner.REDIRECT]
)
@pytest.mark.parametrize(("language", "query"), QUESTIONS)
async def test_a34_a35_the_next_provider_answers_and_the_ledger_holds_every_attempt(
    manner: WebManner, language: str, query: str
) -> None:
    async with chained(("tavily", [manner]), ("brave", [WebManner.WELL])) as (web, servers):
        found = await searched(web, query, language=language)
    assert len(found.pages) == 3
    assert [(call.stage, call.provider, call.outcome) for call in found.ledger.calls] == [
        (Stage.SEARCH, "tavily", Outcome.FAILED),
        (Stage.SEARCH, "brave", Outcome.OK),
    ]
    assert [server.words for server in servers] == [[query], [query]]


@pytest.mark.parametrize(
    ("manner", "rest"),
    [
        (WebManner.LIMITED, 7),
        (WebManner.LIMITED_DAY, 86_400),
        (WebManner.BUSY, 3),
        (WebManner.LIMITED_BARE, REST_S),
        (WebManner.ACCEPTED, REST_S),
    ],
)
async def test_a34_who_asked_for_a_wait_is_not_asked_before_it_is_over(manner: WebManner, rest: float) -> None:
    world = FixedWorld()
    parts = ("serpapi", [manner, WebManner.WELL]), ("brave", [WebManner.WELL])
    async with chained(*parts, world=world) as (web, (first, second)):
        await searched(web)
        world.advance(rest - 0.5)
        resting = await searched(web)
        assert [call.provider for call in resting.ledger.calls] == ["brave"]
        assert (len(first.requests), len(second.requests)) == (1, 2)
        world.advance(1.0)
        assert [call.provider for call in (await searched(web)).ledger.calls] == ["serpapi"]
        assert (len(first.requests), len(second.requests)) == (2, 2)


@pytest.mark.parametrize("manner", [WebManner.FAULT, WebManner.NO_JSON, WebManner.REFUSED, WebManner.NOTHING])
async def test_a_failure_without_a_wait_is_tried_again_next_time(manner: WebManner) -> None:
    async with chained(("bing", [manner, WebManner.WELL]), ("brave", [WebManner.WELL])) as (web, (first, _)):
        await searched(web)
        assert [call.provider for call in (await searched(web)).ledger.calls] == ["bing"]
        assert len(first.requests) == 2


async def test_no_wait_is_longer_than_a_day() -> None:
    world = FixedWorld()
    error = SearchFailed(where="x", reason="come back later", retry_after_s=1e9)
    late = Plugin("late", raising(error))
    web = SearchChain([late], clock=world)
    for seconds in (0.0, LONGEST_REST_S - 1, 2.0):
        world.advance(seconds)
        with pytest.raises(SearchFailed):
            await searched(web)
    assert late.asked == 2


async def test_when_all_fail_the_error_names_each_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ("tavily", [WebManner.LIMITED_DAY]), ("google", [WebManner.REFUSED]), ("searxng", [WebManner.NO_JSON])
    ledger = RunLedger(FixedWorld())
    async with chained(*parts) as (web, _):
        with pytest.raises(SearchFailed) as caught:
            await web.search("q", limit=3, language="en", ledger=ledger)
        assert str(caught.value) == (
            "The search in web failed (tavily: HTTP 429: the plan of this day is used up; "
            "google: HTTP 401: invalid credentials: none; searxng: the reply is no JSON)."
        )
        with pytest.raises(
            SearchFailed, match="tavily: it asked not to be called for another 86400 s; google: HTTP 401"
        ):
            await searched(web)
    assert [call.outcome for call in ledger.calls] == [Outcome.FAILED] * 3


async def test_a_missing_key_makes_room_too_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    async with playing("tavily", base_url="https://search.example.invalid", key_variable=VARIABLE) as (keyless, _):
        async with playing("brave") as (brave, _):
            assert len((await searched(SearchChain([keyless, brave], clock=FixedWorld()))).pages) == 3
        with pytest.raises(SearchFailed, match=f"tavily: .*{VARIABLE} is not set"):
            await searched(SearchChain([keyless], clock=FixedWorld()))


async def test_who_finds_nothing_makes_room_and_is_believed_where_nobody_finds_anything() -> None:
    async with chained(("tavily", [WebManner.NOTHING]), ("brave", [WebManner.WELL])) as (web, _):
        found = await searched(web)
        assert (len(found.pages), len(found.ledger.calls)) == (3, 2)
    async with chained(("tavily", [WebManner.NOTHING]), ("brave", [WebManner.FAULT])) as (web, _):
        found = await searched(web)
        assert (list(found.pages), len(found.ledger.calls)) == ([], 2)


async def test_the_first_that_answers_is_the_only_one_asked() -> None:
    async with chained(("tavily", [WebManner.WELL]), ("brave", [WebManner.WELL])) as (web, (first, second)):
        assert urls((await searched(web, limit=2)).pages) == [page.url for page in first.pages[:2]]
        assert second.requests == []


async def test_a_spent_budget_ends_the_chain() -> None:
    async with chained(("tavily", [WebManner.FAULT]), ("brave", [WebManner.WELL])) as (web, (_, second)):
        with pytest.raises(BudgetSpent):
            budget = Budget(Limits(calls=1), RunLedger(FixedWorld()))
            await web.search("q", limit=3, language="en", ledger=budget)
        assert second.requests == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("search failed: 429", "str instead of a list of pages"),
        ({"error": "limited"}, "dict instead of a list of pages"),
        ([{"title": "no address"}], "a list with dict instead of pages"),
        ([None], "a list with NoneType instead of pages"),
        (None, "NoneType instead of a list of pages"),
    ],
)
async def test_a35_a_plugin_that_returns_anything_else_is_a_failure_by_name(given: object, told: str) -> None:
    page = WebPage("https://a.example/", "A")
    broken, sound = Plugin("broken", lambda: given), Plugin("sound", lambda: (page,))
    assert await _pages([broken, sound]) == [page]
    with pytest.raises(SearchFailed, match=f"broken: TypeError: {told}"):
        await _pages([broken])


async def test_a_plugin_that_raises_anything_makes_room_and_tells_no_query() -> None:
    page = WebPage("https://a.example/", "A")
    text = f"connection to https://x.example/search?q=abc&api_key={KEY} failed"
    broken, sound = Plugin("broken", raising(OSError(text))), Plugin("sound", lambda: [page, page])
    assert await _pages([broken, sound], limit=1) == [page]
    with pytest.raises(SearchFailed, match="broken: OSError: connection to") as caught:
        await _pages([broken])
    assert "secret" not in str(caught.value)
    assert "abc" not in str(caught.value)


async def test_pages_of_a_plugin_that_are_nowhere_on_the_web_are_left_out() -> None:
    pages = [WebPage("file:///etc/passwd", "A"), WebPage("https://a.example/", "B")]
    assert await _pages([Plugin("some", lambda: pages)]) == pages[1:]


def test_a_chain_of_nobody_is_a_mistake_of_the_programmer() -> None:
    with pytest.raises(ValueError, match="at least one"):
        SearchChain([], clock=FixedWorld())


async def _pages(providers: Sequence[WebSearch], *, limit: int = 5) -> list[WebPage]:
    return list((await searched(SearchChain(providers, clock=FixedWorld()), limit=limit)).pages)


@pytest.mark.parametrize(("language", "query"), QUESTIONS)
@pytest.mark.parametrize("manner", [WebManner.FAULT, WebManner.CLOSED, WebManner.LIMITED_BARE])
async def test_a34_behind_the_scheduler_a_provider_that_keeps_failing_is_left_alone_and_the_next_one_answers(
    manner: WebManner, language: str, query: str
) -> None:
    world = FixedWorld()
    scheduler = CallScheduler(
        rations=Rations(),
        store=LocalLimits(world),
        clock=world,
        chance=world,
        rules=Rules(RetryRules(attempts=1), BreakerRules(faults=2, pause_s=30.0)),
    )
    async with playing("tavily", manner) as (bad, server), playing("brave") as (good, _):
        web = SearchChain([ScheduledWebSearch(one, scheduler) for one in (bad, good)], clock=world)
        asked = []
        for _ in range(6):
            assert len((await searched(web, query, language=language)).pages) == 3
            asked.append(len(server.requests))
    begun = 2 if manner is WebManner.CLOSED else 1
    # Two faults in a row open the circuit; one "too many" is believed at once.
    assert asked == ([begun] * 6 if manner is WebManner.LIMITED_BARE else [begun, *[2 * begun] * 5])


OUTCOMES = ("pages", "nothing", "limited", "limited for 60 s", "gone", "broken", "raises")


def doing(outcome: str, name: str) -> Callable[[], object]:
    """What a provider does that comes to `outcome`."""
    match outcome:
        case "pages":
            return lambda: [WebPage(f"https://{name}.example/", name)]
        case "nothing":
            return list
        case "limited":
            return raising(ProviderLimited(provider=name, reason="too many"))
        case "limited for 60 s":
            return raising(ProviderLimited(provider=name, reason="too many", retry_after_s=60.0))
        case "gone":
            return raising(ProviderUnreachable(provider=name, reason="refused"))
        case "broken":
            return lambda: "an error"
    return raising(RuntimeError("a bug"))


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=4), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.0, 5.0, 20.0, 59.0, 61.0]), min_size=1, max_size=5),
)
async def test_in_every_world_the_first_that_may_be_asked_and_finds_pages_answers(
    scripts: list[list[str]], pauses: list[float]
) -> None:
    world, rests = FixedWorld(), dict.fromkeys(range(len(scripts)), 0.0)
    plugins = [Plugin(f"p{number}", list) for number in range(len(scripts))]
    chain = SearchChain(plugins, clock=world)
    for turn, pause in enumerate(pauses):
        world.advance(pause)
        before, awake = [plugin.asked for plugin in plugins], {n for n in rests if rests[n] <= world.elapsed()}
        outcomes = [script[turn % len(script)] for script in scripts]
        for plugin, outcome in zip(plugins, outcomes, strict=True):
            plugin.does = doing(outcome, plugin.id)
        expected: list[int] = []
        for number, outcome in enumerate(outcomes):
            if number in awake:
                expected.append(number)
                rests[number] = world.elapsed() + {"limited": REST_S, "limited for 60 s": 60.0}.get(outcome, 0.0)
                if outcome == "pages":
                    break
        said = [outcomes[number] for number in expected]
        try:
            found = await _found(chain)
        except SearchFailed as error:
            assert "pages" not in said
            assert "nothing" not in said
            assert all(f"{plugin.id}: " in str(error) for plugin in plugins)  # noqa: PT017
        else:
            assert found == ([f"https://p{expected[-1]}.example/"] if "pages" in said else [])
            assert {"pages", "nothing"} & set(said)
        asked = [after.asked - earlier for after, earlier in zip(plugins, before, strict=True)]
        assert asked == [int(number in expected) for number in range(len(plugins))]


async def _found(chain: SearchChain) -> list[str]:
    return urls((await searched(chain)).pages)
