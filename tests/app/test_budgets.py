"""Limits and the ledger over real parts: a small workspace, a real HTTP server for the chat model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.app.assets import models_folder
from tadasu.app.budgets import limits_of
from tadasu.app.chat import chat_settings
from tadasu.app.findings import Health
from tadasu.app.price_findings import price_finding
from tadasu.app.prices import matching, money_of, pair_price, search_price
from tadasu.app.settings import load_settings
from tadasu.app.settings_file import settings_text
from tadasu.app.spending import By, spending
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.documents import Reader
from tadasu.core.events import Event, TextReleased
from tadasu.core.runs import Run
from tadasu.core.usage import Currency, Outcome, Pricing, Stage
from tadasu.testing.chat_server import ChatServer, Fail, Say

ASKED = {
    "en": ("How long is the warranty period for the KPT-340?", "The warranty period for the KPT-340 is 24 months. [1]"),
    "ja": ("PHM-7の保証期間は何年ですか。", "PHM-7の保証期間は納入日から3年です。[1]"),
}
DOCUMENTS = {
    "warranty.md": "# Warranty\n\nThe warranty period for the KPT-340 pressure transmitter is 24 months from delivery.\n",
    "保証.md": "# 保証\n\nPHM-7の保証期間は、納入日から3年です。\n",
}
USAGE = (1000, 100)
COST = (1000 * 2.0 + 100 * 8.0) / 1e6


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("TADASU_") and name != "TADASU_DATA":
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = create_workspace(tmp_path_factory.mktemp("budgets") / "ws", settings_text()).root
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    tadasu = Tadasu.open(folder)
    tadasu.container.encoder = _encoder()
    tadasu.sync.ingest(*(folder / name for name in DOCUMENTS))
    tadasu.sync.close()
    return folder


@pytest.fixture
def place(root: Path) -> Iterator[Path]:
    """The workspace without the runs of other tests; its documents and models stay."""
    yield root
    for file in (root / ".tadasu").glob("state.db*"):
        file.unlink()


def opened(place: Path, server: ChatServer, *, price: bool = True, llm: bool = False, **settings: Any) -> Tadasu:
    chat = {"provider": "openai", "model": "house-1", "base_url": server.base_url, "max_tokens": 100}
    priced = {"price_in": 2.0, "price_out": 8.0} if price else {}
    # The first tier alone grades here, and the encoder is loaded once for all tests.
    tadasu = Tadasu.open(place, chat=chat | priced, grading={"grader": "llm" if llm else "features"}, **settings)
    tadasu.container.encoder = _encoder()
    return tadasu


@cache
def _encoder() -> OnnxEncoder:
    return OnnxEncoder.load(models_folder() / "encoder", threads=1)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a65_a_streamed_answer_costs_what_it_costs_unstreamed_also_when_the_reader_walks_away(
    place: Path, language: str
) -> None:
    question, reply = ASKED[language]
    heard: list[Event] = []

    def leave(event: Event) -> None:
        if isinstance(event, TextReleased):
            raise BrokenPipeError

    with ChatServer([Say(reply, usage=USAGE, piece=3)] * 3) as server:
        async with opened(place, server) as tadasu:
            silent = await tadasu.ask(question)
            streamed = await tadasu.ask(question, listen=heard.append)
            with pytest.raises(BrokenPipeError):
                await tadasu.ask(question, listen=leave)
            left = tadasu.trace("last")
    assert left.id not in {silent.id, streamed.id}
    assert [event for event in heard if isinstance(event, TextReleased)]
    for run in (silent, streamed, left):
        assert run.answer.text == silent.answer.text
        assert run.cost == silent.cost
        assert run.cost.usd == pytest.approx(COST)
        assert _paid(run) == [(Stage.GENERATE, 1000, 100, Outcome.OK, Pricing.PRICED)]
        stages = {Stage.EMBED, Stage.RETRIEVE, Stage.GRADE, Stage.STRIP, Stage.GENERATE, Stage.CHECK}
        assert stages <= {call.stage for call in run.calls}
        assert all(call.duration_ms > 0.0 for call in run.calls)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a65_an_answer_that_is_broken_off_counts_for_its_day(place: Path, language: str) -> None:
    question, reply = ASKED[language]

    def stop(event: Event) -> None:
        if isinstance(event, TextReleased):
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    with ChatServer([Say("\n\n".join([reply] * 40), usage=USAGE, piece=5)]) as server:
        async with opened(place, server) as tadasu:
            with pytest.raises(asyncio.CancelledError):
                await asyncio.create_task(tadasu.ask(question, listen=stop))
            found = spending(tadasu.container)
    assert found.total.runs == 0
    assert found.broken_off.count == 1
    assert found.broken_off.usd > 0.0
    assert found.broken_off.calls >= 5


def _paid(run: Run) -> list[tuple[Stage, int, int, Outcome, Pricing]]:
    return [
        (call.stage, call.tokens.input, call.tokens.output, call.outcome, call.pricing)
        for call in run.calls
        if call.pricing is not Pricing.LOCAL
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_limit_of_money_stops_the_call_and_the_evidence_is_quoted(place: Path, language: str) -> None:
    question, reply = ASKED[language]
    with ChatServer([Say(reply, usage=USAGE)]) as server:
        async with opened(place, server, budget={"money": 0.0005}) as tadasu:
            run = await tadasu.ask(question)
        assert server.requests == []
    assert run.answer.reason is None
    assert run.cost.usd == 0.0
    assert "the budget does not allow the chat model, so the evidence is quoted instead" in run.answer.warnings
    assert any("writing the answer: budget.money is $0.0005, $0 used" in warning for warning in run.warnings)


async def test_a_day_in_yen_ends_when_its_money_does(place: Path) -> None:
    question, reply = ASKED["ja"]
    settings: dict[str, Any] = {
        "budget": {"day_money": 1.0, "time_zone": "Asia/Tokyo"},
        "prices": {"currency": "JPY", "jpy_per_usd": 150.0},
    }
    with ChatServer([Say(reply, usage=USAGE)] * 9) as server:
        async with opened(place, server, **settings) as tadasu:
            runs = [await tadasu.ask(question) for _ in range(4)]
            found = spending(tadasu.container, by=By.DAY)
    assert [round(run.cost.usd * 150, 2) for run in runs] == [0.42, 0.42, 0.0, 0.0]
    assert any("budget.day_money is ¥1.000, ¥0.840 used" in warning for warning in runs[2].warnings)
    assert any("Asia/Tokyo" in warning for warning in runs[2].warnings)
    assert found.total.usd == pytest.approx(sum(run.cost.usd for run in runs))
    assert found.money.shown(found.total.usd) == "¥0.840"
    assert found.broken_off.count == 0


async def test_a_day_without_calls_left_answers_nothing_and_says_why(place: Path) -> None:
    with ChatServer([Say(ASKED["en"][1], usage=USAGE)] * 2) as server:
        async with opened(place, server, budget={"day_calls": 5}) as tadasu:
            await tadasu.ask(ASKED["en"][0])
            run = await tadasu.ask(ASKED["en"][0])
    assert run.answer.reason is not None
    assert run.answer.reason.value == "budget_spent"
    assert run.verdict.value == "budget_spent"
    assert "budget.day_calls is 5" in run.rounds[-1].error


@pytest.mark.parametrize(("unpriced", "asked"), [("refuse", 0), ("say", 1)])
async def test_a65_a_model_without_a_price_is_refused_under_a_limit_of_money_or_said_to_be_unpriced(
    place: Path, unpriced: str, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tadasu.providers.prices.is_local", lambda _: False)
    with ChatServer([Say(ASKED["en"][1], usage=USAGE)]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        async with opened(place, server, price=False, budget={"money": 1.0}, prices={"unpriced": unpriced}) as tadasu:
            run = await tadasu.ask(ASKED["en"][0])
        assert len(server.requests) == asked
    assert run.answer.reason is None
    assert run.cost.unpriced_calls == asked
    assert any("house-1 has no known price" in warning for warning in run.warnings) is (asked == 0)


async def test_a63_failed_calls_are_in_the_ledger_and_in_the_sums(place: Path) -> None:
    with ChatServer([Fail(500), Fail(500), Fail(500), Fail(500), Fail(500)]) as server:
        async with opened(place, server) as tadasu:
            run = await tadasu.ask(ASKED["en"][0])
            found = spending(tadasu.container, by=By.STAGE)
    failed = [call for call in run.calls if call.outcome is Outcome.FAILED]
    assert {call.stage for call in failed} == {Stage.GENERATE}
    assert all("provider_unreachable" in call.error for call in failed)
    assert found.total.failed == len(failed) == len(server.requests)
    assert found.total.calls == len(run.calls)
    assert tadasu.container.reader == Reader()


def test_prices_come_from_the_own_setting_then_the_table_and_in_either_currency() -> None:
    prices = {
        "currency": "JPY",
        "jpy_per_usd": 150.0,
        "models": {
            "house-*": {"input": 300.0, "output": 600.0},
            "abroad": {"input": 1, "output": 2, "currency": "USD"},
        },
        "searches": {"brave": 750.0},
        "pairs": {"rerank-*": 300.0},
    }
    settings = load_settings(None, prices=prices, chat={"model": "House-1"})
    priced = chat_settings(settings)
    assert (priced.price_in, priced.price_out) == (2.0, 4.0)
    abroad = chat_settings(load_settings(None, prices=prices, chat={"model": "abroad"}))
    assert (abroad.price_in, abroad.price_out) == (1.0, 2.0)
    own = chat_settings(load_settings(None, prices=prices, chat={"model": "house-1", "price_in": 7, "price_out": 8}))
    assert (own.price_in, own.price_out) == (7.0, 8.0)
    assert (search_price(settings, "brave"), search_price(settings, "tavily")) == (5.0, None)
    assert pair_price(settings, "rerank-ja-2") == 2.0
    assert money_of(settings).currency is Currency.JPY
    assert limits_of(load_settings(None, prices=prices, budget={"money": 300})).usd == pytest.approx(2.0)
    assert matching({"*": 1, "a*": 2, "abc": 3}, "ABC") == 3


async def test_a_search_that_costs_something_is_known_to_the_day_and_one_that_does_not_leaves_no_trace(
    place: Path,
) -> None:
    with ChatServer([Say("nothing that can be read", usage=USAGE)]) as server:
        async with opened(place, server) as tadasu:
            await tadasu.search(ASKED["en"][0])
            assert spending(tadasu.container).broken_off.count == 0
        async with opened(place, server, llm=True) as tadasu:
            await tadasu.search(ASKED["en"][0])
            found = spending(tadasu.container)
    assert server.requests
    assert (found.broken_off.count, found.total.runs) == (1, 0)
    assert found.broken_off.usd == pytest.approx(len(server.requests) * COST)


@pytest.mark.parametrize(
    ("settings", "health", "words"),
    [
        ({}, Health.OK, "No part of the settings costs anything."),
        ({"chat": {"provider": "openai", "model": "no-such-9"}}, Health.WARNING, "said to be unpriced"),
        (
            {"chat": {"provider": "openai", "model": "no-such-9"}, "budget": {"day_money": 1}},
            Health.WARNING,
            "its calls are refused",
        ),
        (
            {"chat": {"provider": "openai", "model": "no-such-9", "price_in": 1, "price_out": 1}},
            Health.OK,
            "Everything that costs something has a price",
        ),
        ({"web": {"provider": "tavily"}}, Health.WARNING, "said to be unpriced"),
        ({"web": {"provider": "folder"}}, Health.OK, "No part of the settings costs anything."),
    ],
)
def test_the_doctor_says_what_costs_something_and_has_no_price(
    settings: dict[str, Any], health: Health, words: str
) -> None:
    found = price_finding(load_settings(None, **settings))
    assert found.health is health
    assert words in found.template
