"""cost, gaps, stats and the estimate before a batch: over a real state database, made by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from tadasu.app.container import Container
from tadasu.app.settings_file import settings_text
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.cli import consent
from tadasu.core.answers import Reason
from tadasu.core.documents import Reader
from tadasu.core.runs import Run, SearchMode, StopReason
from tadasu.core.usage import Call, Outcome, Pricing, Stage, Tokens
from tadasu.runtime.world import FixedWorld
from tadasu.storage.runs import SqlRunBook
from tests.cli.conftest import Call as Command
from tests.storage.some_runs import abstained_run, everyday_run

GENERATE = Call(
    Stage.GENERATE,
    "openai",
    "gpt-x",
    duration_ms=900.0,
    tokens=Tokens(1000, 100),
    pricing=Pricing.PRICED,
    cost_usd=0.02,
)
UNPRICED = replace(GENERATE, model="new-1", cost_usd=None, pricing=Pricing.UNPRICED)
FAILED = replace(GENERATE, cost_usd=0.0, tokens=Tokens(), outcome=Outcome.FAILED)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose clock stands at the first hour of 2026-03-15."""
    from datetime import UTC, datetime

    made = Container.__init__

    def init(self: Container, *arguments: object) -> None:
        made(self, *arguments)  # type: ignore[arg-type]
        self.clock = FixedWorld(start=datetime(2026, 3, 15, 1, tzinfo=UTC))

    monkeypatch.setattr(Container, "__init__", init)
    return create_workspace(tmp_path / "ws", settings_text()).root


def save(place: Path, *runs: Run) -> None:
    book = SqlRunBook.open(place / ".tadasu" / "state.db")
    for run in runs:
        book.save(run)
    book.close()


def run_of(
    number: int, *calls: Call, day: str = "2026-03-14", query: str = "", web: bool = False, **changes: object
) -> Run:
    run = everyday_run(f"run-{number:04d}", created_at=f"{day}T20:00:00.000+00:00")
    rounds = (*run.rounds, replace(run.rounds[0], number=2, mode=SearchMode.WEB)) if web else run.rounds
    run = replace(run, calls=calls, rounds=rounds, stop=StopReason.CORRECT, question=query or run.question)
    return replace(run, query=query or run.query, **changes)  # type: ignore[arg-type]


def test_cost_adds_up_to_the_sum_of_the_runs_by_everything(call: Command, place: Path) -> None:
    runs = [run_of(1, GENERATE, FAILED), run_of(2, GENERATE, UNPRICED, day="2026-03-15"), run_of(3, day="2026-01-01")]
    save(place, *runs)
    for by in ("day", "model", "stage", "provider", "tenant"):
        found = call("-w", place, "cost", "--by", by, "--json").json
        assert sum(row["usd"] for row in found["rows"]) == pytest.approx(0.04)
        assert sum(row["unpriced"] for row in found["rows"]) == 1
        assert (found["total"]["runs"], found["total"]["calls"], found["total"]["failed"]) == (2, 4, 1)
        assert found["total"]["usd"] == pytest.approx(sum(run.cost.usd for run in runs))
    assert [row["name"] for row in call("-w", place, "cost", "--json").json["rows"]] == ["2026-03-14", "2026-03-15"]
    assert call("-w", place, "cost", "--since", "2026-01-01", "--json").json["total"]["runs"] == 3


@pytest.mark.parametrize(
    ("lang", "head", "note"),
    [
        ("en", "together: $0.0400 · 2 questions", "1 calls have no known price"),
        ("ja", "合計: $0.0400・質問 2 件", "1 回の呼び出しは価格不明"),
    ],
)
def test_cost_is_a_table_of_80_columns_in_both_languages(
    call: Command, place: Path, lang: str, head: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    save(place, run_of(1, GENERATE, FAILED), run_of(2, GENERATE, UNPRICED))
    shown = call("-w", place, "cost", "--by", "model", "--lang", lang)
    assert shown.code == 0
    assert head in shown.out
    assert note in shown.out
    assert "gpt-x" in shown.out
    assert max(map(len, shown.out.splitlines()[:5])) <= 80


def test_cost_speaks_the_chosen_currency_and_zone(call: Command, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_PRICES__CURRENCY", "JPY")
    monkeypatch.setenv("TADASU_PRICES__JPY_PER_USD", "150")
    monkeypatch.setenv("TADASU_BUDGET__TIME_ZONE", "+09:00")
    save(place, run_of(1, GENERATE))
    found = call("-w", place, "cost", "--json").json
    assert (found["rows"][0]["name"], found["currency"], found["rows"][0]["cost"]) == ("2026-03-15", "JPY", 3.0)
    assert "¥3.000" in call("-w", place, "cost").out
    assert "¥3.000" in call("-w", place, "trace", "last").out


def test_cost_as_csv_can_be_read_back_and_holds_no_formula(call: Command, place: Path) -> None:
    save(place, run_of(1, GENERATE, replace(GENERATE, model="=HYPERLINK(1)")))
    rows = list(csv.DictReader(io.StringIO(call("-w", place, "cost", "--by", "model", "--csv").out)))
    assert {row["model"] for row in rows} == {"gpt-x", "'=HYPERLINK(1)"}
    assert sum(float(row["cost_usd"]) for row in rows) == pytest.approx(0.04)


@pytest.mark.parametrize("command", ["cost", "gaps"])
@pytest.mark.parametrize(("lang", "words"), [("en", "tadasu ask"), ("ja", "質問するか")])
def test_nothing_asked_says_what_to_do(call: Command, place: Path, command: str, lang: str, words: str) -> None:
    shown = call("-w", place, command, "--lang", lang)
    assert shown.code == 0
    assert words in shown.out
    assert "--since" in shown.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("cost", "--by", "colour"),
        ("cost", "--since", "yesterday"),
        ("gaps", "--since", "2026-03-02", "--until", "2026-03-01"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(call: Command, place: Path, arguments: Sequence[str]) -> None:
    shown = call("-w", place, *arguments)
    assert shown.code == 2
    assert "input_invalid" in shown.err


WARRANTY = (
    "How long is the warranty of the KPT-340?",
    "What is the warranty period of the KPT-340?",
    "KPT-340の保証期間は何年ですか",
)
TRAINS = (
    "Which trains go to Aarhus on Sunday?",
    "オーフス行きの日曜の電車は何時ですか",
    "When does the Sunday train to Aarhus leave?",
)


def asked_about_two_things(place: Path) -> None:
    runs = [run_of(number, GENERATE, query=query) for number, query in enumerate(WARRANTY * 2)]
    runs += [run_of(20 + number, query=query, web=True) for number, query in enumerate(TRAINS * 2)]
    gone = replace(
        abstained_run("run-0040", reason=Reason.INSUFFICIENT), query=TRAINS[0], created_at=runs[0].created_at
    )
    chat = replace(abstained_run("run-0041", reason=Reason.NO_QUESTION), query="Hello!", created_at=runs[0].created_at)
    before = [
        run_of(50 + number, query=query, day="2026-02-01", web=number == 0) for number, query in enumerate(TRAINS)
    ]
    hidden = run_of(60, query=TRAINS[0], web=True, reader=Reader(groups=frozenset({"board"})))
    save(place, *runs, gone, chat, *before, hidden)


def test_gaps_are_the_topics_that_the_documents_do_not_answer(call: Command, place: Path) -> None:
    asked_about_two_things(place)
    found = call("-w", place, "gaps", "--json").json
    (topic,) = found["topics"]
    assert (topic["gap"]["count"], topic["gap"]["questions"]) == (7, 7)
    assert (topic["fallback"]["count"], topic["abstained"]["count"]) == (6, 1)
    assert (topic["before"]["count"], topic["before"]["questions"]) == (1, 3)
    assert topic["mark"] == "surely_needs_work"
    assert {example["question"] for example in topic["examples"]} <= set(TRAINS)
    assert topic["examples"][0]["times"] >= 3
    assert "Aarhus" in topic["words"]
    assert (found["overall"]["gap"]["count"], found["overall"]["gap"]["questions"]) == (7, 13)
    assert found["set_aside"] == 1
    assert call("-w", place, "gaps", "--json").json == found


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("the documents need work", "7 of 7 questions: 100%", "↗ before: 33% of 3", "times)")),
        ("ja", ("文書の見直しが必要", "質問 7 件中 7 件: 100%", "↗ 前の期間: 3 件中 33%", "回）")),
    ],
)
def test_gaps_are_said_in_both_languages(call: Command, place: Path, lang: str, words: Sequence[str]) -> None:
    asked_about_two_things(place)
    shown = call("-w", place, "gaps", "--lang", lang).out
    assert [part for part in words if part not in shown] == []


def test_stats_tell_rounds_reasons_and_stages_of_a_period(call: Command, place: Path) -> None:
    save(place, run_of(1, GENERATE, FAILED, web=True), run_of(2, GENERATE), run_of(3, UNPRICED, day="2026-01-01"))
    found = call("-w", place, "stats", "--since", "2026-03-01", "--json").json["runs"]
    assert (found["runs"], found["rounds"], found["stops"]) == (2, {"1": 1, "2": 1}, {"correct": 2})
    stage = found["stages"]["generate"]
    assert (stage["runs"], stage["calls"], stage["failed"], stage["total_ms"]) == (2, 3, 1, 2700.0)
    assert stage["cost"]["usd"] == pytest.approx(0.04)
    assert call("-w", place, "stats", "--json").json["runs"]["cost"]["unpriced_calls"] == 1
    shown = call("-w", place, "stats", "--lang", "ja").out
    assert "終了の理由: 良い根拠あり 3" in shown
    assert "generate" in shown


def paid(place: Path, monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    chat = {"PROVIDER": "openai", "MODEL": "house-1", "BASE_URL": "https://llm.example/v1", **more}
    for name, value in chat.items():
        monkeypatch.setenv(f"TADASU_CHAT__{name}", value)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"question": query}) + "\n" for query in WARRANTY), encoding="utf-8")
    return path


@pytest.mark.parametrize(("lang", "words"), [("en", "Agree beforehand with --yes"), ("ja", "--yes を付けてください")])
def test_a_batch_that_may_cost_something_is_not_begun_where_nobody_agrees(
    call: Command, place: Path, questions: Path, monkeypatch: pytest.MonkeyPatch, lang: str, words: str
) -> None:
    paid(place, monkeypatch, PRICE_IN="2", PRICE_OUT="8")
    shown = call("-w", place, "ask", "--batch", questions, "--lang", lang)
    assert shown.code == 2
    assert "$0.0199" in shown.err  # 3 × (1,724 tokens in at $2 and 400 out at $8 per million)
    assert words in shown.err
    assert shown.out == ""


def test_an_unpriced_model_wants_to_be_agreed_to_as_well(
    call: Command, place: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid(place, monkeypatch)
    shown = call("-w", place, "ask", "--batch", questions)
    assert shown.code == 2
    assert "without a known price and in no amount: openai/house-1" in shown.err


@pytest.mark.parametrize(("answer", "code", "begun"), [(True, 0, 3), (False, 130, 0)])
def test_at_a_terminal_it_is_asked_and_yes_answers_for_scripts(
    call: Command, place: Path, questions: Path, monkeypatch: pytest.MonkeyPatch, answer: bool, code: int, begun: int
) -> None:
    asked: list[str] = []

    async def ask(_: Tadasu, question: str, **__: object) -> Run:
        asked.append(question)
        return run_of(100 + len(asked), query=question)

    monkeypatch.setattr(Tadasu, "ask", ask)
    paid(place, monkeypatch)
    monkeypatch.setattr(consent, "_terminal", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: answer)
    shown = call("-w", place, "ask", "--batch", questions)
    assert (shown.code, len(asked)) == (code, begun)
    assert call("-w", place, "ask", "--batch", questions, "--yes").code == 0
    assert len(asked) == begun + 3


def test_an_estimate_is_the_median_of_runs_with_the_present_settings(
    call: Command, place: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid(place, monkeypatch)
    present = Tadasu.open(place).container.settings_hash
    costs = (0.01, 0.02, 0.5)
    for number, usd in enumerate(costs):
        save(place, run_of(number, replace(GENERATE, cost_usd=usd), settings=present, duration_ms=2000.0))
    save(place, run_of(9, replace(GENERATE, cost_usd=9.0), settings="other"))
    shown = call("-w", place, "ask", "--batch", questions, "--concurrency", "2")
    assert "3 questions: about $0.0600 and 3 s; median of 3 earlier runs, at most $1.5000" in shown.err


def test_what_costs_nothing_is_begun_without_a_word(call: Command, place: Path, questions: Path) -> None:
    shown = call("-w", place, "ask", "--batch", questions, "--out", questions.with_suffix(".out"))
    assert "questions: about" not in shown.err
    assert "consent_missing" not in shown.err


def test_every_reason_for_the_end_and_every_mark_has_words_in_both_languages() -> None:
    from tadasu.app.gaps import Mark, Share
    from tadasu.cli.frame import Frame
    from tadasu.cli.gaps import _mark
    from tadasu.cli.stats import _STOPS
    from tadasu.text.messages import translate

    assert set(_STOPS) == {stop.value for stop in StopReason}
    shares = {share.mark: share for share in (Share(0, 1), Share(1, 10), Share(7, 20), Share(5, 12), Share(90, 100))}
    assert set(shares) == set(Mark)
    words = [*_STOPS.values(), *(_mark(Frame(lang="en"), share) for share in shares.values())]
    assert [text for text in words if translate(text, "ja") == text] == []
