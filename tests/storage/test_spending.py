"""Budgets of a day over the real state database, sums over ledgers, and the migration that made both possible."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine

import tadasu.storage.migrations
from tadasu.core.documents import Reader
from tadasu.core.runs import Run, SearchMode
from tadasu.core.usage import Call, Charge, Outcome, Pricing, Stage, Tokens, Used, total
from tadasu.errors import BudgetSpent, DayBudgetSpent
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.day_budget import DayLimits, DayRules
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld
from tadasu.storage.database import alone, open_database
from tadasu.storage.runs import SqlRunBook, write_run
from tadasu.storage.spending import By, SqlDayBook, SqlSpending
from tests.storage.some_runs import everyday_run

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Engine]:
    engine = open_database(tmp_path / "state.db")
    yield engine
    engine.dispose()


def paid(usd: float | None = 0.25, **changes: object) -> Call:
    pricing = Pricing.UNPRICED if usd is None else Pricing.PRICED
    call = Call(Stage.GENERATE, "openai", "gpt-x", duration_ms=900.0, tokens=Tokens(100, 20), pricing=pricing)
    return replace(call, cost_usd=usd, **changes)  # type: ignore[arg-type]


def run_of(number: int, *calls: Call, moment: datetime = NOON, tenant: str = "default", groups: str = "") -> Run:
    run = everyday_run(f"run-{number:04d}", created_at=moment.isoformat(timespec="milliseconds"))
    return replace(run, calls=calls, reader=Reader(tenant=tenant, groups=frozenset(groups.split())))


def share(rules: DayRules, key: str, *, tenant: str = "default", moment: datetime = NOON) -> Budget:
    return Budget(Limits(), RunLedger(FixedWorld()), day=rules.of_run(key, tenant=tenant, moment=moment))


async def test_a_day_is_over_its_money_before_the_spend_and_says_when_it_ends(state: Engine) -> None:
    SqlRunBook(state).save(run_of(1, paid(0.75)))
    rules = DayRules(SqlDayBook(state), overall=DayLimits(usd=1.0), zone=ZoneInfo("Asia/Tokyo"))
    budget = share(rules, "run-0002")
    async with budget.hold(Charge("the answer", usd=0.25)):
        pass
    with pytest.raises(DayBudgetSpent) as caught:
        async with budget.hold(Charge("the answer", usd=0.26)):
            pytest.fail("it does not fit")
    assert str(caught.value) == (
        "The budget of the day does not allow the answer: budget.day_money is $1.0000, $0.7500 used, $0.2600 more "
        "needed. The day ends at 2026-03-02 00:00 Asia/Tokyo."
    )
    async with budget.hold(Charge("what costs nothing")):
        pass
    late = share(rules, "run-0003", moment=NOON + timedelta(hours=3))  # midnight in Tokyo
    async with late.hold(Charge("the answer", usd=1.0)):
        pass


async def test_what_other_runs_hold_counts_and_their_saving_puts_the_true_cost_in_its_place(state: Engine) -> None:
    rules = DayRules(SqlDayBook(state), overall=DayLimits(usd=1.0))
    first, second = share(rules, "run-0001"), share(rules, "run-0002")
    async with first.hold(Charge("a", usd=0.8)):
        with pytest.raises(DayBudgetSpent, match=r"\$0.8000 used"):
            async with second.hold(Charge("b", usd=0.3)):
                pytest.fail("it does not fit")
    SqlRunBook(state).save(run_of(1, paid(0.1)))
    async with second.hold(Charge("b", usd=0.9)):
        pass
    assert SqlSpending(state).broken_off(tenant=None, begins=None, ends=None).count == 1  # the second, not saved yet


async def test_a_tenant_has_a_limit_of_its_own(state: Engine) -> None:
    rules = DayRules(SqlDayBook(state), overall=DayLimits(usd=1.0), per_tenant=DayLimits(usd=0.5))
    SqlRunBook(state).save(run_of(1, paid(0.45), tenant="acme"))
    with pytest.raises(DayBudgetSpent, match=r"budget.tenant_day_money is \$0.5000, \$0.4500 used"):
        async with share(rules, "run-0002", tenant="acme").hold(Charge("a", usd=0.1)):
            pytest.fail("it does not fit")
    async with share(rules, "run-0003", tenant="other").hold(Charge("a", usd=0.5)):
        pass
    with pytest.raises(DayBudgetSpent, match="budget.day_money"):
        async with share(rules, "run-0004", tenant="third").hold(Charge("a", usd=0.1)):
            pytest.fail("it does not fit")


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        (DayLimits(calls=1), "budget.day_calls is 1, 1 used"),
        (DayLimits(seconds=0.04), "budget.day_seconds is 0.04 s"),
    ],
)
async def test_a_day_without_room_for_another_question_says_so_at_every_step(
    state: Engine, limits: DayLimits, setting: str
) -> None:
    SqlRunBook(state).save(run_of(1, paid()))
    budget = share(DayRules(SqlDayBook(state), overall=limits), "run-0002")
    await budget.begin()
    with pytest.raises(BudgetSpent, match=setting):
        budget.check("search 1")
    assert [one.code for one in budget.refusals] == ["day_budget_spent"]


async def test_a65_what_a_run_that_was_broken_off_took_counts_for_its_day(state: Engine) -> None:
    ledger = RunLedger(FixedWorld())
    rules = DayRules(SqlDayBook(state))
    budget = Budget(Limits(), ledger, day=rules.of_run("run-0001", tenant="default", moment=NOON))
    ledger.record(paid(0.5))
    budget.break_off()
    limited = DayRules(SqlDayBook(state), overall=DayLimits(usd=0.6))
    with pytest.raises(DayBudgetSpent, match=r"\$0.5000 used"):
        async with share(limited, "run-0002").hold(Charge("a", usd=0.2)):
            pytest.fail("it does not fit")
    gone = SqlSpending(state).broken_off(tenant="default", begins=None, ends=None)
    assert (gone.count, gone.calls, gone.usd) == (1, 1, 0.5)


async def test_a_book_that_cannot_be_written_allows_nothing_and_loses_no_run(
    state: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quick = open_database(tmp_path / "state.db", busy_seconds=0.05)
    rules = DayRules(SqlDayBook(quick), overall=DayLimits(usd=1.0))
    budget = share(rules, "run-0001")
    with alone(state):
        with pytest.raises(BudgetSpent, match="what is left of the day cannot be looked up"):
            async with budget.hold(Charge("a", usd=0.1)):
                pytest.fail("nobody knows whether it fits")
        budget.record(paid())
        budget.break_off()
    assert "run-0001" in caplog.text
    quick.dispose()


def _spend(place: str, worker: int, calls: int) -> int:
    """How many of `calls` calls at 0.1 dollars one process may make."""
    engine = open_database(place, busy_seconds=30.0)
    book, made = SqlDayBook(engine), 0
    day = DayRules(book, overall=DayLimits(usd=1.0)).of_run(f"run-{worker}", tenant="default", moment=NOON)
    import asyncio

    for _ in range(calls):
        try:
            asyncio.run(day.take(Charge("a call", usd=0.1), used=Used(made + 1, 0, 0.1 * (made + 1))))
        except DayBudgetSpent:
            continue
        made += 1
    engine.dispose()
    return made


def test_two_processes_never_go_over_together(tmp_path: Path) -> None:
    place = tmp_path / "state.db"
    open_database(place).dispose()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        made = pool.starmap(_spend, [(str(place), worker, 8) for worker in range(2)])
    assert sum(made) == 10
    assert max(made) <= 8


BOOK = (
    (paid(0.25), Call(Stage.GRADE, "local", "cascade", items=10, cached=7, duration_ms=30.0)),
    (paid(None), paid(0.5, attempt=2), paid(0.0, outcome=Outcome.FAILED, tokens=Tokens())),
    (paid(0.125, model="gpt-y", outcome=Outcome.CANCELLED),),
    (),
)


@pytest.fixture
def book(state: Engine) -> list[Run]:
    moments = (NOON, NOON + timedelta(hours=13), NOON, NOON)
    runs = [
        run_of(
            number, *calls, moment=moment, tenant="other" if number == 2 else "default", groups="board" * (number % 2)
        )
        for number, (calls, moment) in enumerate(zip(BOOK, moments, strict=True))
    ]
    for run in runs:
        SqlRunBook(state).save(run)
    return runs


@pytest.mark.parametrize("by", By)
def test_every_table_adds_up_to_the_sum_of_the_runs(state: Engine, book: list[Run], by: By) -> None:
    spending = SqlSpending(state)
    rows = spending.sums(by, tenant=None, begins=None, ends=None)
    calls = [call for run in book for call in run.calls]
    cost = total(calls)
    assert sum(row.usd for row in rows) == pytest.approx(cost.usd) == pytest.approx(sum(run.cost.usd for run in book))
    assert sum(row.unpriced for row in rows) == cost.unpriced_calls == 1
    assert sum(row.calls for row in rows) == len(calls)
    assert sum(row.failed for row in rows) == 2
    assert sum(row.retried for row in rows) == 1
    assert sum(row.cached for row in rows) == 7
    assert sum(row.input_tokens + row.output_tokens for row in rows) == 480
    whole = spending.total(tenant=None, begins=None, ends=None)
    assert (whole.runs, whole.calls, whole.unpriced) == (4, 6, 1)
    assert whole.usd == pytest.approx(cost.usd)


def test_rows_are_named_and_ordered(state: Engine, book: list[Run]) -> None:
    spending = SqlSpending(state)
    names = {by: [row.name for row in spending.sums(by, tenant=None, begins=None, ends=None)] for by in By}
    assert names[By.DAY] == ["2026-03-01", "2026-03-02"]
    assert names[By.MODEL] == ["gpt-x", "gpt-y", "cascade"]
    assert names[By.STAGE] == ["generate", "grade"]
    assert names[By.TENANT] == ["default", "other"]
    tokyo = spending.sums(By.DAY, tenant=None, begins=None, ends=None, zone=ZoneInfo("Asia/Tokyo"))
    assert [(row.name, row.calls) for row in tokyo] == [("2026-03-01", 3), ("2026-03-02", 3)]


def test_a_tenant_and_a_period_narrow_the_sums_and_groups_do_not(state: Engine, book: list[Run]) -> None:
    spending = SqlSpending(state)
    own = spending.total(tenant="default", begins=None, ends=None)
    assert own.runs == 3
    assert own.usd == pytest.approx(0.75)
    later = spending.total(tenant=None, begins=NOON + timedelta(hours=1), ends=None)
    assert (later.runs, later.calls) == (1, 3)
    earlier = spending.total(tenant=None, begins=NOON, ends=NOON + timedelta(hours=13))
    assert (earlier.runs, earlier.calls) == (3, 3)


def old_database(place: Path, *runs: Run) -> None:
    """A database of the first form with `runs`, as that version wrote them."""
    engine = create_engine(f"sqlite:///{place}")
    config = Config()
    config.set_main_option("script_location", str(Path(next(iter(tadasu.storage.migrations.__path__)))))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    with sqlite3.connect(place) as db:
        for run in runs:
            record = write_run(run)
            values = (
                run.id,
                run.created_at,
                run.reader.tenant,
                "",
                "answered",
                "",
                "correct",
                "ja",
                41.0,
                0.25,
                0,
                record,
            )
            db.execute(
                "INSERT INTO runs (id, created_at, tenant, session, status, reason, verdict, language, duration_ms,"
                " cost_usd, unpriced_calls, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            for position, call in enumerate(run.calls):
                row = (run.id, position, call.stage.value, call.provider, call.model, call.tokens.input, call.cost_usd)
                db.execute(
                    "INSERT INTO run_calls (run_id, position, stage, provider, model, input_tokens, cost_usd, started_ms,"
                    " duration_ms, output_tokens, pricing, outcome, attempt, items, error)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 1, 0, 'priced', 'ok', 1, 1, '')",
                    row,
                )
    db.close()


def test_runs_of_the_first_form_are_counted_after_the_migration(tmp_path: Path) -> None:
    run = run_of(1, *BOOK[0])
    web = replace(run.rounds[0], number=2, mode=SearchMode.WEB)
    old_database(tmp_path / "state.db", replace(run, rounds=(*run.rounds, web)), run_of(2, *BOOK[1]))
    with sqlite3.connect(tmp_path / "state.db") as db:
        db.execute("UPDATE runs SET record = '{broken' WHERE id = 'run-0002'")
    db.close()
    engine = open_database(tmp_path / "state.db")
    with sqlite3.connect(tmp_path / "state.db") as db:
        rows = db.execute(
            "SELECT run_id, query, rounds, web, calls, tokens, cost_usd, stop_reason FROM run_facts ORDER BY run_id"
        ).fetchall()
        cached = db.execute("SELECT cached FROM run_calls WHERE run_id = 'run-0001' ORDER BY position").fetchall()
    db.close()
    assert rows[0][:7] == ("run-0001", run.query, 2, 1, 2, 120, 0.25)
    assert rows[0][7]
    assert rows[1] == ("run-0002", "", 0, 0, 0, 0, 0.25, "not_recorded")
    assert cached == [(0,), (7,)]
    book = SqlRunBook(engine)
    assert book.load("run-0001", reader=Reader()).question == run.question
    assert SqlSpending(engine).total(tenant=None, begins=None, ends=None).calls == 5
    book.save(run_of(3, paid()))
    engine.dispose()
    assert json.loads(write_run(run))["id"] == "run-0001"
