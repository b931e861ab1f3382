"""Rerank endpoints over real HTTP on loopback: right answers, wrong answers, none."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, logit_of
from tadasu.core.usage import Outcome, Pricing, Stage, Tokens
from tadasu.core.vectors import PassageText
from tadasu.errors import (
    BudgetSpent,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    SettingsInvalid,
    TadasuError,
)
from tadasu.ports import ScorerSettings
from tadasu.providers.rerank import MOST_PAIRS, RerankScorer, open_scorer, read_scores
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.scorer_server import Dialect, Manner, ScorerServer, overlap
from tests.answering.grading.scorers import Book

pytestmark = pytest.mark.enable_socket

QUESTION = "What is the range of the PT-300?"
PASSAGES = [
    PassageText("The cafeteria opens at noon.", (), "Cafeteria"),
    PassageText("The range of the PT-300 is 0 to 50 bar.", (), "PT-300"),
    PassageText("PT-300の測定範囲は0〜50 barです。", (), "PT-300"),
    PassageText("What the range is, nobody knows.", ()),
]


@asynccontextmanager
async def reranking(
    *manners: Manner, server_options: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[tuple[RerankScorer, ScorerServer]]:
    scale = settings.pop("scale", ScoreScale.PROBABILITY)
    with ScorerServer(manners or (Manner.WELL,), **{"scale": scale} | (server_options or {})) as server:
        # A machine under load may take long; where a time-out is tested, it is set.
        options = {"timeout_s": 60.0} | settings
        scorer = open_scorer(ScorerSettings(scale=scale, base_url=server.base_url, **options))
        try:
            yield scorer, server
        finally:
            await scorer.close()


def right(passages: Sequence[PassageText] = PASSAGES) -> list[float]:
    return [overlap(QUESTION, f"{one.title}\n{one.text}" if one.title else one.text) for one in passages]


def scores(given_: Sequence[PairScore]) -> list[float]:
    return [one.score for one in given_]


@pytest.mark.parametrize("manner", [Manner.WELL, Manner.REVERSED, Manner.EXTRA, Manner.STRICT])
@pytest.mark.parametrize("dialect", list(Dialect))
async def test_scores_are_matched_by_index_whatever_their_order(manner: Manner, dialect: Dialect) -> None:
    async with reranking(manner, server_options={"dialect": dialect}, model="rr-1") as (scorer, server):
        assert scores(await scorer.score(QUESTION, PASSAGES, ledger=Book())) == pytest.approx(right())
        assert scores(await scorer.score(QUESTION, PASSAGES[::-1], ledger=Book())) == pytest.approx(right()[::-1])
    sent = server.requests[-1]
    assert sent["model"] == "rr-1"
    assert sent["query"] == QUESTION
    documents = sent["texts" if dialect is Dialect.TEI else "documents"]
    assert documents[-1] == "Cafeteria\nThe cafeteria opens at noon."


async def test_what_a_server_has_refused_is_not_sent_again() -> None:
    async with reranking(Manner.STRICT) as (scorer, server):
        book = Book()
        await scorer.score(QUESTION, PASSAGES, ledger=book)
        await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert ["return_documents" in body for body in server.requests] == [True, False, False]
    assert [call.outcome for call in book.calls] == [Outcome.FAILED, Outcome.OK, Outcome.OK]


@pytest.mark.parametrize(("manner", "dialect"), [(Manner.STRICT, Dialect.COHERE), (Manner.WELL, Dialect.TEI)])
async def test_questions_that_learn_it_at_the_same_time_are_all_answered(manner: Manner, dialect: Dialect) -> None:
    async with reranking(manner, server_options={"dialect": dialect}) as (scorer, _):
        found = await asyncio.gather(*(scorer.score(QUESTION, PASSAGES, ledger=Book()) for _ in range(6)))
    assert all(scores(one) == pytest.approx(right()) for one in found)


async def test_the_dialect_with_texts_is_learnt_once_and_asked_for_the_declared_scale() -> None:
    options = {"dialect": Dialect.TEI}
    async with reranking(server_options=options, scale=ScoreScale.LOGIT) as (scorer, server):
        for _ in range(2):
            found = scores(await scorer.score(QUESTION, PASSAGES, ledger=Book()))
            assert found == pytest.approx([logit_of(one, ScoreScale.PROBABILITY) for one in right()])
    assert ["texts" in body for body in server.requests] == [False, True, True]
    assert server.requests[1]["raw_scores"] is True
    async with reranking(server_options=options) as (scorer, server):
        await scorer.score(QUESTION, PASSAGES, ledger=Book())
    assert server.requests[-1]["raw_scores"] is False


@pytest.mark.parametrize(
    ("manner", "word"),
    [
        (Manner.MISSING, "holds no score for it"),
        (Manner.DOUBLED, "holds 2 scores for it"),
        (Manner.STRAY, "holds no score for it (1 of its 4 results name no passage)"),
        (Manner.TEXT, "is no number: '0.9'"),
        (Manner.NAN, "is no finite number: nan"),
        (Manner.NULL, "is no number: None"),
        (Manner.BEYOND, "is 7.5, and a probability lies in [0, 1]"),
    ],
)
async def test_one_bad_row_costs_one_score(manner: Manner, word: str) -> None:
    async with reranking(manner) as (scorer, _):
        found = await scorer.score(QUESTION, PASSAGES, ledger=Book())
    assert [one.failed for one in found] == [True, False, False, False]
    assert word in found[0].reason
    assert scores(found)[1:] == pytest.approx(right()[1:])


async def test_a_short_reply_scores_what_it_holds() -> None:
    async with reranking(Manner.SHORT, Manner.NOTHING) as (scorer, _):
        found = await scorer.score(QUESTION, PASSAGES, ledger=Book())
        assert [one.failed for one in found] == [False, False, True, True]
        assert scores(found)[:2] == pytest.approx(right()[:2])
        assert all(one.failed and one.reason for one in await scorer.score(QUESTION, PASSAGES, ledger=Book()))


@pytest.mark.parametrize(
    ("manner", "error", "word"),
    [
        (Manner.ONE_BASED, ProviderAnswerInvalid, "count from 1"),
        (Manner.NO_LIST, ProviderAnswerInvalid, "no list of results"),
        (Manner.NO_JSON, ProviderAnswerInvalid, "no JSON"),
        (Manner.EMPTY, ProviderAnswerInvalid, "no JSON"),
        (Manner.TOO_LONG, ProviderAnswerInvalid, "longer than"),
        (Manner.BROKEN_OFF, ProviderUnreachable, "broke off"),
        (Manner.CLOSED, ProviderUnreachable, "disconnected"),
        (Manner.HANG, ProviderUnreachable, "within 0.3 s"),
        (Manner.DRIP, ProviderUnreachable, "within 0.3 s"),
        (Manner.FAULT, ProviderUnreachable, "HTTP 500: the model ran out of memory"),
        (Manner.BUSY, ProviderUnreachable, "HTTP 503"),
        (Manner.LIMITED, ProviderLimited, "HTTP 429: too many requests"),
        (Manner.REFUSED, ProviderRefused, "HTTP 401"),
        (Manner.REDIRECT, ProviderRefused, "redirects, which is not followed"),
    ],
)
async def test_every_fault_has_its_name(manner: Manner, error: type[TadasuError], word: str) -> None:
    book = Book()
    patience = 0.3 if manner in {Manner.HANG, Manner.DRIP} else 30.0
    async with reranking(manner, timeout_s=patience) as (scorer, server):
        with pytest.raises(error) as caught:
            await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert word in str(caught.value)
    assert server.base_url in str(caught.value)
    attempts = 2 if manner is Manner.CLOSED else 1
    assert [call.attempt for call in book.calls] == list(range(1, attempts + 1))
    assert all(call.outcome is Outcome.FAILED and word in call.error for call in book.calls)


async def test_the_wait_that_is_asked_for_is_kept() -> None:
    async with reranking(Manner.LIMITED, Manner.BUSY) as (scorer, _):
        for wait in (7.0, 3.0):
            with pytest.raises(TadasuError) as caught:
                await scorer.score(QUESTION, PASSAGES, ledger=Book())
            assert caught.value.details["retry_after_s"] == wait
            assert caught.value.retryable


async def test_a_closed_connection_is_tried_once_more_and_both_are_written_down() -> None:
    book = Book()
    async with reranking(Manner.CLOSED, Manner.WELL) as (scorer, _):
        assert scores(await scorer.score(QUESTION, PASSAGES, ledger=book)) == pytest.approx(right())
    assert [(call.attempt, call.outcome) for call in book.calls] == [(1, Outcome.FAILED), (2, Outcome.OK)]


async def test_nobody_listens() -> None:
    with ScorerServer() as server:
        address = server.base_url
    book = Book()
    scorer = open_scorer(ScorerSettings(scale=ScoreScale.LOGIT, base_url=address, price=2.0))
    with pytest.raises(ProviderUnreachable):
        await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert [(call.outcome, call.cost_usd) for call in book.calls] == [(Outcome.FAILED, 0.0)]
    await scorer.close()


async def test_one_connection_serves_many_questions() -> None:
    async with reranking() as (scorer, server):
        for _ in range(5):
            await scorer.score(QUESTION, PASSAGES, ledger=Book())
        assert server.connections == 1


async def test_questions_may_be_asked_side_by_side() -> None:
    async with reranking() as (scorer, server):
        found = await asyncio.gather(
            *(scorer.score(QUESTION, PASSAGES[start:], ledger=Book()) for start in (0, 1, 2, 3) * 3)
        )
        connections = server.connections
        await scorer.score(QUESTION, PASSAGES, ledger=Book())
        assert server.connections == connections <= 12
    for start, one in zip((0, 1, 2, 3) * 3, found, strict=True):
        assert scores(one) == pytest.approx(right()[start:])


async def test_the_key_is_sent_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RERANK_KEY", "sk-very-secret")
    caplog.set_level(logging.DEBUG)
    book = Book()
    async with reranking(server_options={"key": "sk-very-secret"}, key_variable="RERANK_KEY") as (scorer, _):
        assert scores(await scorer.score(QUESTION, PASSAGES, ledger=book)) == pytest.approx(right())
    async with reranking(Manner.REFUSED, key_variable="RERANK_KEY") as (scorer, _):
        with pytest.raises(ProviderRefused) as caught:
            await scorer.score(QUESTION, PASSAGES, ledger=book)
    told = f"{caught.value} {caught.value.details} {caplog.text} {book.calls} {scorer.id}"
    assert "HTTP 401" in told
    assert "sk-very-secret" not in told


async def test_a_key_that_is_missing_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RERANK_KEY", raising=False)
    book = Book()
    settings = ScorerSettings(
        scale=ScoreScale.LOGIT, base_url="https://rerank.invalid/v1", key_variable="RERANK_KEY", price=2.0
    )
    with pytest.raises(KeyMissing) as caught:
        await open_scorer(settings).score(QUESTION, PASSAGES, ledger=book)
    assert "RERANK_KEY" in str(caught.value)
    assert "scorer.key_variable" in caught.value.hint
    assert [call.cost_usd for call in book.calls] == [0.0]
    async with reranking(key_variable="RERANK_KEY") as (scorer, _):  # on this machine no key is needed
        await scorer.score(QUESTION, PASSAGES, ledger=book)


@pytest.mark.parametrize(
    ("price", "pricing", "cost"), [(None, Pricing.LOCAL, 0.0), (2.0, Pricing.PRICED, 4 * 2.0 / 1000)]
)
async def test_a_call_is_written_down_with_its_pairs_and_cost(
    price: float | None, pricing: Pricing, cost: float
) -> None:
    book = Book()
    async with reranking(model="rr-1", price=price) as (scorer, _):
        await scorer.score(QUESTION, PASSAGES, ledger=book)
    [call] = book.calls
    assert (call.stage, call.provider, call.model, call.items) == (Stage.GRADE, "rerank", "rr-1", 4)
    assert (call.outcome, call.pricing, call.tokens) == (Outcome.OK, pricing, Tokens(input=42))
    assert call.cost_usd == pytest.approx(cost)
    assert call.started_ms == 12.5
    assert call.duration_ms > 0


async def test_what_was_refused_costs_nothing_and_what_may_have_been_done_its_price() -> None:
    book = Book()
    async with reranking(Manner.FAULT, Manner.REFUSED, Manner.NO_JSON, price=1000.0) as (scorer, _):
        for _ in range(3):
            with pytest.raises(TadasuError):
                await scorer.score(QUESTION, PASSAGES, ledger=book)
    async with reranking(Manner.DRIP, price=1000.0, timeout_s=0.5) as (scorer, _):
        with pytest.raises(ProviderUnreachable):
            await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert [call.cost_usd for call in book.calls] == [0.0, 0.0, 4.0, 4.0]


async def test_a_service_elsewhere_without_a_price_is_unpriced() -> None:
    book = Book()
    settings = ScorerSettings(scale=ScoreScale.LOGIT, base_url="http://rerank.invalid", timeout_s=2)
    scorer = open_scorer(settings)
    with pytest.raises(ProviderUnreachable):
        await scorer.score(QUESTION, PASSAGES, ledger=book)
    assert [(call.pricing, call.cost_usd) for call in book.calls] == [(Pricing.UNPRICED, None)]
    await scorer.close()


async def test_a_question_that_is_taken_back_is_written_down_as_cancelled() -> None:
    book = Book()
    async with reranking(Manner.HANG) as (scorer, _):
        task = asyncio.create_task(scorer.score(QUESTION, PASSAGES, ledger=book))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [call.outcome for call in book.calls] == [Outcome.CANCELLED]


async def test_many_pairs_go_in_several_requests_and_one_lost_request_costs_its_own() -> None:
    passages = [PassageText(f"Range number {number}.") for number in range(MOST_PAIRS + 8)]
    async with reranking(Manner.WELL, Manner.FAULT, Manner.WELL) as (scorer, server):
        found = await scorer.score(QUESTION, passages, ledger=Book())
        assert [len(body["documents"]) for body in server.requests] == [MOST_PAIRS, 8]
        assert [one.failed for one in found] == [False] * MOST_PAIRS + [True] * 8
        assert "HTTP 500" in found[-1].reason
        again = await scorer.score(QUESTION, passages, ledger=Book())
    assert scores(again) == pytest.approx(right(passages))


async def test_a_long_passage_is_read_in_windows_and_the_best_counts() -> None:
    filler = "This sentence says nothing at all about it. "
    answer = "The range of the PT-300 is 0 to 50 bar. "
    text = filler * 30 + answer + filler * 30
    borders = [(at, at + len(filler)) for at in range(0, 30 * len(filler), len(filler))]
    start = 30 * len(filler)
    borders.append((start, start + len(answer)))
    borders += [(at, at + len(filler)) for at in range(start + len(answer), len(text), len(filler))]
    long = PassageText(text, tuple(borders), "PT-300")
    async with reranking(max_tokens=256) as (scorer, server):
        found = await scorer.score(QUESTION, [PASSAGES[0], long], ledger=Book())
        whole = await scorer.score(QUESTION, [PASSAGES[1]], ledger=Book())
    assert len(server.requests[0]["documents"]) > 3
    assert all(len(one) < 256 * 3 for one in server.requests[0]["documents"])
    assert found[0].hit is None
    assert found[1].hit is not None
    assert answer in found[1].hit.of(text)
    assert found[1].score >= whole[0].score - 0.1


async def test_a_long_passage_with_an_unscored_window_has_no_score() -> None:
    text = "圧力計の測定範囲。" * 200
    async with reranking(Manner.MISSING) as (scorer, _):
        [found] = await scorer.score("測定範囲は？", [PassageText(text)], ledger=Book())
    assert found.failed


async def test_an_empty_passage_is_not_sent() -> None:
    async with reranking() as (scorer, server):
        found = await scorer.score(QUESTION, [PassageText(""), PASSAGES[1], PassageText(" \n")], ledger=Book())
        assert [one.failed for one in found] == [True, False, True]
        assert [one.failed for one in await scorer.score(QUESTION, [PassageText("")], ledger=Book())] == [True]
        assert await scorer.score(QUESTION, [], ledger=Book()) == []
    assert len(server.requests) == 1
    assert len(server.requests[0]["documents"]) == 1


async def test_text_that_is_no_text_is_sent_readably() -> None:
    odd = [PassageText("half \ud83d a pair"), PassageText("\x00\x1b[31m"), PassageText('"}],"results":[]'), PASSAGES[1]]
    async with reranking() as (scorer, server):
        found = await scorer.score("range \udc00?", odd, ledger=Book())
    assert not any(one.failed for one in found)
    assert server.requests[0]["documents"][0] == "half ? a pair"


async def test_the_limits_of_the_run_hold_before_and_during_a_call() -> None:
    ledger = RunLedger(SystemClock())
    async with reranking(price=1000.0) as (scorer, server):
        with pytest.raises(BudgetSpent):
            await scorer.score(QUESTION, PASSAGES, ledger=Budget(Limits(usd=3.0), ledger))
        assert server.requests == []
        await scorer.score(QUESTION, PASSAGES, ledger=Budget(Limits(usd=4.0), ledger))
        with pytest.raises(BudgetSpent):
            await scorer.score(QUESTION, PASSAGES, ledger=Budget(Limits(usd=7.0), ledger))
    async with reranking(Manner.HANG) as (scorer, _):
        with pytest.raises(ProviderUnreachable, match="no answer within"):
            await scorer.score(QUESTION, PASSAGES, ledger=Budget(Limits(seconds=0.5), RunLedger(SystemClock())))
    assert [call.cost_usd for call in ledger.calls] == [4.0]


def test_an_undeclared_scale_is_refused_at_opening_with_what_to_write() -> None:
    with pytest.raises(SettingsInvalid) as caught:
        open_scorer(ScorerSettings(base_url="http://127.0.0.1:1"))
    assert caught.value.details["key"] == "scorer.scale"
    assert 'scale = "probability"' in str(caught.value)
    assert 'scale = "logit"' in str(caught.value)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("", "is not set"),
        ("rerank.example.com/v1", "no address"),
        ("ftp://host/x", "no address"),
        ("http://", "no address"),
        ("http://[::1", "no address"),
        ("http://host:port/", "no address"),
        ("https://me:secret@host/v1", "key_variable"),
    ],
)
def test_an_address_that_is_none_is_refused_at_opening(url: str, word: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        open_scorer(ScorerSettings(scale=ScoreScale.LOGIT, base_url=url))
    assert caught.value.details["key"] == "scorer.base_url"
    assert word in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/rerank"),
        ("/", "/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v2/", "/v2/rerank"),
        ("/v1/rerank", "/v1/rerank"),
        ("/a?version=1", "/a/rerank?version=1"),
    ],
)
async def test_the_address_may_end_at_its_base_or_at_its_path(base: str, path: str) -> None:
    with ScorerServer() as server:
        scorer = open_scorer(ScorerSettings(scale=ScoreScale.PROBABILITY, base_url=f"{server.base_url}{base}"))
        if "?" in path:
            with pytest.raises(ProviderRefused, match="404"):
                await scorer.score(QUESTION, PASSAGES, ledger=Book())
        else:
            await scorer.score(QUESTION, PASSAGES, ledger=Book())
        assert scorer._service._http._url == f"{server.base_url}{path}"
        await scorer.close()


def test_ids_tell_apart_what_may_score_differently() -> None:
    usual = ScorerSettings(scale=ScoreScale.LOGIT, base_url="http://127.0.0.1:1", model="m")
    ids = {
        open_scorer(settings).id
        for settings in (
            usual,
            ScorerSettings(scale=ScoreScale.PROBABILITY, base_url="http://127.0.0.1:1", model="m"),
            ScorerSettings(scale=ScoreScale.LOGIT, base_url="http://127.0.0.1:2", model="m"),
            ScorerSettings(scale=ScoreScale.LOGIT, base_url="http://127.0.0.1:1", model="n"),
            ScorerSettings(scale=ScoreScale.LOGIT, base_url="http://127.0.0.1:1", model="m", max_tokens=256),
        )
    }
    assert len(ids) == 5
    assert open_scorer(usual).id == open_scorer(usual).id


_numbers = st.one_of(st.floats(), st.integers(), st.text(max_size=2), st.none(), st.booleans())
_rows = st.one_of(
    st.builds(
        lambda index, score: {"index": index, "relevance_score": score},
        st.one_of(st.integers(-2, 6), _numbers),
        _numbers,
    ),
    st.dictionaries(st.sampled_from(["index", "score", "relevance_score"]), _numbers),
    _numbers,
)


@given(rows=st.lists(_rows, max_size=8), count=st.integers(0, 5), scale=st.sampled_from(list(ScoreScale)))
def test_any_rows_give_each_document_its_own_score_or_a_reason(rows: list[Any], count: int, scale: ScoreScale) -> None:
    try:
        found = read_scores({"results": rows}, count, scale=scale, provider="there")
    except ProviderAnswerInvalid:
        told = [row["index"] for row in rows if isinstance(row, dict) and type(row.get("index")) is int]
        assert (min(told), max(told)) == (1, count)
        return
    assert len(found) == count
    for index, one in enumerate(found):
        own = [row for row in rows if isinstance(row, dict) and type(row.get("index")) is int and row["index"] == index]
        if one.failed:
            assert one.reason
        else:
            assert len(own) == 1
            assert one.score == own[0].get("relevance_score", own[0].get("score"))
            assert math.isfinite(one.score)


@pytest.mark.parametrize("indices", [[1, 2, 3], [3, 1], [2, 3, 1], [1, 3, 3]])
def test_indices_that_count_from_one_are_refused_even_where_some_are_missing(indices: list[int]) -> None:
    with pytest.raises(ProviderAnswerInvalid, match="count from 1"):
        read_scores([{"index": one, "score": 0.5} for one in indices], 3, scale=ScoreScale.LOGIT, provider="there")


def test_a_window_keeps_its_offset() -> None:
    from tadasu.providers.rerank import _best

    passage = PassageText("0123456789")
    parts = [(Span(0, 6), PairScore(0.2)), (Span(4, 10), PairScore(0.8))]
    assert _best(parts, passage) == PairScore(0.8, hit=Span(4, 10))
