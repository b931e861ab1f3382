"""Chat models, scorers and web searches behind the scheduler: attempts, ledgers, priorities, and no text twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from contextvars import Context

import pytest

from tadasu.core.limits import Ration
from tadasu.core.retrieved import WebPage
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Call, Outcome, Priority, Stage
from tadasu.core.vectors import PassageText
from tadasu.errors import BudgetSpent, ProviderError, ProviderLimited, ProviderUnreachable
from tadasu.ports import ChatDelta, ChatModel, Claim, Errand, Ledger, Message, ScorerSettings
from tadasu.providers.billing import BilledChat
from tadasu.providers.registry import ChatSettings
from tadasu.providers.rerank import open_scorer
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.happenings import Kind
from tadasu.runtime.scheduling.rules import BreakerRules, RetryRules, Rules
from tadasu.runtime.scheduling.wrappers import ScheduledChat, ScheduledChecker, ScheduledScorer, ScheduledWebSearch
from tadasu.runtime.world import SystemClock
from tadasu.testing.scorer_server import Manner, ScorerServer
from tests.runtime.scheduling.virtual_time import LoopClock, run_virtual
from tests.runtime.scheduling.world import Deadline, Heard, ledger, scheduler

DOWN = ProviderUnreachable(provider="scripted", reason="down")
LIMITED = ProviderLimited(provider="scripted", reason="HTTP 429", retry_after_s=3.0)
TEXTS = {"en": "The warranty is three years.", "ja": "保証は三年です。"}
PAIRS = [PassageText("The warranty is three years."), PassageText("昼休みは正午からです。")]


async def _said(chat: ChatModel, ledger: Ledger) -> str:
    stream = chat.stream([Message("user", "?")], max_tokens=50, temperature=0.0, ledger=ledger, stage=Stage.GENERATE)
    return "".join([delta.text async for delta in stream])


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_reply_comes_through_and_every_attempt_stays_in_the_ledger_with_its_number(language: str) -> None:
    async def main() -> tuple[str, tuple[Call, ...], float]:
        run = ledger()
        chat = ScheduledChat(ScriptedChat([DOWN, LIMITED, TEXTS[language]]), scheduler(), provider="scripted")
        return await _said(chat, run), run.calls, asyncio.get_running_loop().time()

    text, calls, took = run_virtual(main())
    assert text == TEXTS[language]
    assert [(call.attempt, call.outcome) for call in calls] == [
        (1, Outcome.FAILED),
        (2, Outcome.FAILED),
        (3, Outcome.OK),
    ]
    assert took >= 3.0


class _BreaksOff:
    """Says half of it, then fails; well the second time."""

    id = "half/model"

    def __init__(self) -> None:
        self.calls = 0

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        self.calls += 1
        yield ChatDelta(text="The warranty is ")
        if self.calls == 1:
            raise DOWN
        yield ChatDelta(text="three years.")


def test_once_text_has_been_passed_on_a_call_is_not_tried_again() -> None:
    async def main() -> tuple[list[str], int]:
        inner, heard = _BreaksOff(), list[str]()
        stream = ScheduledChat(inner, scheduler(), provider="half").stream(
            [Message("user", "?")], max_tokens=9, temperature=0.0, ledger=ledger(), stage=Stage.GENERATE
        )
        with pytest.raises(ProviderUnreachable):
            async for delta in stream:
                heard.append(delta.text)
        return heard, inner.calls

    assert run_virtual(main()) == (["The warranty is "], 1)


def test_a_reader_that_walks_away_gives_the_place_back() -> None:
    async def main() -> list[tuple[int, int]]:
        office = scheduler(Ration(1, None))
        chat = ScheduledChat(ScriptedChat(lambda _: "a long reply", cuts=1), office, provider="scripted")
        run = ledger()
        reply = chat.stream([Message("user", "?")], max_tokens=9, temperature=0.0, ledger=run, stage=Stage.GENERATE)
        async with aclosing(reply) as stream:
            async for _ in stream:
                break
        assert await asyncio.wait_for(_said(chat, run), 1.0) == "a long reply"
        assert [call.outcome for call in run.calls] == [Outcome.CANCELLED, Outcome.OK]
        return [(sight.waiting, sight.in_flight) for sight in office.look()]

    assert run_virtual(main()) == [(0, 0)]


def test_replies_that_are_read_count_as_in_flight_until_they_end() -> None:
    async def main() -> float:
        chat = ScheduledChat(_Slow(), scheduler(Ration(5, None)), provider="slow")
        await asyncio.gather(*(_said(chat, ledger()) for _ in range(10)))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(0.4)


def test_a_reply_that_begins_closes_the_circuit_before_it_has_ended() -> None:
    async def main() -> str:
        rules = Rules(RetryRules(attempts=1), BreakerRules(faults=1, pause_s=5.0))
        office = scheduler(rules=rules)
        with pytest.raises(ProviderUnreachable):
            async with office.turn(Errand("slow", Stage.GENERATE, "a call"), ledger=ledger()):
                raise DOWN
        await asyncio.sleep(5.0)
        chat = ScheduledChat(_Slow(), office, provider="slow")
        reply = chat.stream([Message("user", "?")], max_tokens=9, temperature=0.0, ledger=ledger(), stage=Stage.GRADE)
        async with aclosing(reply):
            assert (await anext(reply)).text == "so "
            return await asyncio.create_task(_said(chat, ledger()), context=Context())

    assert run_virtual(main()) == "so slow"


class _Slow:
    """A reply takes 200 ms, half of them after its first words."""

    id = "slow/model"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        await asyncio.sleep(0.1)
        yield ChatDelta(text="so ")
        await asyncio.sleep(0.1)
        yield ChatDelta(text="slow", finish="stop")


def test_priority_and_tenant_travel_with_the_ledger_and_are_normal_where_it_does_not_say() -> None:
    heard = Heard()

    async def main() -> None:
        chat = ScheduledChat(ScriptedChat(lambda _: "yes"), scheduler(listen=heard), provider="scripted")
        run = RunLedger(LoopClock())
        await _said(chat, Budget(Limits(), run, priority=Priority.LOW, tenant="acme"))
        await _said(chat, run)

    run_virtual(main())
    errands = [one.errand for one in heard.of(Kind.STARTED)]
    assert [(one.priority, one.tenant) for one in errands] == [(Priority.LOW, "acme"), (Priority.NORMAL, "")]
    assert all(one.stage is Stage.GENERATE and one.provider == "scripted" and one.tokens > 50 for one in errands)


def test_each_attempt_is_held_against_the_budget_and_one_too_many_is_refused_before_it_is_made() -> None:
    async def main() -> tuple[int, int]:
        inner, run = ScriptedChat([DOWN, DOWN, "never"]), RunLedger(LoopClock())
        billed = BilledChat(inner, ChatSettings(model="script"))
        chat = ScheduledChat(billed, scheduler(), provider="scripted")
        with pytest.raises(BudgetSpent):
            await _said(chat, Budget(Limits(calls=2), run))
        return len(inner.requests), len(run.calls)

    assert run_virtual(main()) == (2, 2)


# --- scorers -----------------------------------------------------------------------------------------


async def test_a_scoring_service_that_fails_over_http_is_asked_again_and_its_attempts_are_numbered() -> None:
    rules = Rules(RetryRules(base_s=0.01), BreakerRules())
    with ScorerServer(manners=[Manner.FAULT, Manner.CLOSED, Manner.FAULT, Manner.WELL]) as server:
        inner = open_scorer(ScorerSettings(scale=ScoreScale.LOGIT, base_url=server.base_url))
        scorer = ScheduledScorer(inner, scheduler(rules=rules, clock=SystemClock()), provider="rerank")
        run = RunLedger(SystemClock())
        scores = await scorer.score("How long is the warranty?", PAIRS, ledger=run)
        await scorer.close()
    assert len(scores) == 2
    assert not any(score.failed for score in scores)
    assert (scorer.id, scorer.scale) == (inner.id, ScoreScale.LOGIT)
    # The scorer itself tries again where the connection was closed: that is an attempt too.
    assert [(call.attempt, call.outcome) for call in run.calls] == [
        (1, Outcome.FAILED),
        (2, Outcome.FAILED),
        (3, Outcome.FAILED),
        (4, Outcome.OK),
    ]


class _Scorer:
    id = "fake-1"
    scale = ScoreScale.PROBABILITY

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> list[PairScore]:
        await asyncio.sleep(90.0)
        return [PairScore(0.5)] * len(passages)


def test_scoring_that_outlasts_the_run_is_broken_off() -> None:
    async def main() -> float:
        scorer = ScheduledScorer(_Scorer(), scheduler(), provider="fake")
        with pytest.raises(BudgetSpent):
            await scorer.score("?", PAIRS, ledger=Deadline(5.0))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(5.0)


# --- checkers ----------------------------------------------------------------------------------------


class _Checker:
    id = "oracle-1"

    def __init__(self, *errors: ProviderError) -> None:
        self._errors = list(errors)

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        error = self._errors.pop(0) if self._errors else None
        ledger.record(Call(Stage.CHECK, "oracle", outcome=Outcome.FAILED if error else Outcome.OK))
        if error is not None:
            raise error
        return [0.75] * len(claims)


def test_a_checker_that_was_not_reached_is_asked_again() -> None:
    async def main() -> tuple[Sequence[float], list[tuple[int, Outcome]], str]:
        inner = _Checker(ProviderUnreachable(provider="oracle", reason="no route"))
        checker = ScheduledChecker(inner, scheduler(), provider="oracle")
        run = RunLedger(SystemClock())
        found = await checker.support([Claim("It is.", "It is."), Claim("It was.", "It is.")], ledger=run)
        await checker.close()
        return found, [(call.attempt, call.outcome) for call in run.calls], checker.id

    assert run_virtual(main()) == ([0.75, 0.75], [(1, Outcome.FAILED), (2, Outcome.OK)], "oracle-1")


# --- web searches ------------------------------------------------------------------------------------


class _Web:
    id = "tavily"

    def __init__(self, *errors: ProviderError) -> None:
        self._errors = list(errors)
        self.closed = False

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        error = self._errors.pop(0) if self._errors else None
        ledger.record(Call(Stage.SEARCH, self.id, outcome=Outcome.FAILED if error else Outcome.OK))
        if error is not None:
            raise error
        return [WebPage(url="https://example.org/", title=query, snippet=language)]

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(("query", "language"), [("warranty pump", "en"), ("ポンプ 保証", "ja")])
def test_a_search_is_tried_again_and_is_asked_what_was_asked(query: str, language: str) -> None:
    async def main() -> tuple[Call, ...]:
        inner, run = _Web(DOWN), ledger()
        web = ScheduledWebSearch(inner, scheduler(), provider="")
        pages = await web.search(query, limit=3, language=language, ledger=run)
        assert [(page.title, page.snippet) for page in pages] == [(query, language)]
        await web.close()
        assert (web.id, inner.closed) == ("tavily", True)
        return run.calls

    assert [(call.attempt, call.outcome) for call in run_virtual(main())] == [(1, Outcome.FAILED), (2, Outcome.OK)]


def test_an_impatient_search_makes_room_for_the_next_provider_and_does_not_wait_in_a_closed_line() -> None:
    async def main() -> float:
        office = scheduler()
        hasty = ScheduledWebSearch(_Web(LIMITED), office, retry=RetryRules(attempts=2, longest_wait_s=1.0))
        for _ in range(2):
            with pytest.raises(ProviderLimited):
                await hasty.search("q", limit=3, language="en", ledger=ledger())
        hasty_took = asyncio.get_running_loop().time()
        patient = ScheduledWebSearch(_Web(), office)
        await patient.search("q", limit=3, language="en", ledger=ledger())
        assert asyncio.get_running_loop().time() == pytest.approx(3.0, abs=0.01)
        return hasty_took

    assert run_virtual(main()) == 0.0
