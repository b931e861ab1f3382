from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.usage import Call, Charge, Currency, Money, Pricing, Stage, Tokens, Used, total
from tadasu.errors import BudgetSpent, PriceUnknown
from tadasu.ports import Allowance, Ledger, Purse
from tadasu.runtime.budget import Budget, Limits, spending
from tadasu.runtime.ledger import RunLedger, Stopwatch, timed
from tadasu.runtime.world import FixedWorld


def test_each_limit_says_no_before_the_spend_and_names_limit_use_and_need() -> None:
    world = FixedWorld()
    ledger = RunLedger(world)
    budget = Budget(Limits(seconds=2, calls=2, usd=0.01), ledger)
    budget.check("a search", usd=0.01)
    with pytest.raises(BudgetSpent, match=r"not allow the answer: budget.money is \$0.0100, \$0 used, \$0.0110 more"):
        budget.check("the answer", usd=0.011)
    ledger.record(Call(Stage.GRADE, "x", cost_usd=0.0))
    ledger.record(Call(Stage.GRADE, "x", cost_usd=None, pricing=Pricing.UNPRICED))
    with pytest.raises(BudgetSpent, match="not allow grading: budget.calls is 2, 2 used, 1 more needed"):
        budget.check("grading")
    world.advance(2.0)
    assert budget.seconds_left == 0.0
    with pytest.raises(BudgetSpent, match=r"budget.seconds is 2 s, 2.0 s used") as caught:
        budget.check("grading")
    assert caught.value.hint == "Raise budget.seconds in tadasu.toml."


def test_limits_are_said_in_the_currency_that_was_chosen() -> None:
    budget = Budget(Limits(usd=0.01, money=Money(Currency.JPY, 150.0)), RunLedger(FixedWorld()))
    with pytest.raises(BudgetSpent, match=r"budget.money is ¥1.500, ¥0 used, ¥3.000 more needed"):
        budget.check("the answer", usd=0.02)


def test_calls_that_are_under_way_count_before_they_are_written_down() -> None:
    budget = Budget(Limits(calls=3), ledger := RunLedger(FixedWorld()))
    budget.record(Call(Stage.GRADE, "x"))
    assert len(ledger.calls) == 1
    budget.check("grading", under_way=1)
    with pytest.raises(BudgetSpent, match="budget.calls is 3, 3 used"):
        budget.check("grading", under_way=2)


def test_a_budget_is_a_ledger_that_knows_its_limits() -> None:
    world = FixedWorld()
    budget = Budget(Limits(seconds=2), RunLedger(world))
    world.advance(0.5)
    assert isinstance(budget, Allowance)
    assert isinstance(budget, Purse)
    assert not isinstance(RunLedger(world), Allowance | Purse)
    assert (budget.elapsed_ms(), budget.seconds_left) == (500.0, 1.5)


async def test_what_is_held_leaves_no_room_until_its_line_takes_its_place() -> None:
    budget = Budget(Limits(usd=1.0, tokens=100), RunLedger(FixedWorld()))
    async with budget.hold(Charge("the first", usd=0.6, tokens=60)) as ledger:
        with pytest.raises(BudgetSpent, match=r"budget.money is \$1.0000, \$0.6000 used, \$0.5000 more needed"):
            async with budget.hold(Charge("the second", usd=0.5)):
                pytest.fail("it does not fit beside the first")
        with pytest.raises(BudgetSpent, match="budget.tokens is 100, 60 used, 41 more needed"):
            async with budget.hold(Charge("the second", tokens=41)):
                pytest.fail("it does not fit beside the first")
        ledger.record(Call(Stage.GENERATE, "x", tokens=Tokens(10, 5), cost_usd=0.1, pricing=Pricing.PRICED))
        assert budget.held == Used()
        async with budget.hold(Charge("the second", usd=0.5, tokens=41)):
            assert budget.held == Used(1, 41, 0.5)
    assert budget.used == Used(1, 15, 0.1)
    assert [str(one.details["setting"]) for one in budget.refusals] == ["budget.money", "budget.tokens"]


async def test_calls_at_once_never_go_over_together() -> None:
    budget = Budget(Limits(usd=1.0), ledger := RunLedger(FixedWorld()))
    begun, most = 0, 0

    async def one() -> None:
        nonlocal begun, most
        async with budget.hold(Charge("a call", usd=0.3)) as held:
            begun += 1
            most = max(most, begun)
            await asyncio.sleep(0)
            begun -= 1
            held.record(Call(Stage.GENERATE, "x", cost_usd=0.3, pricing=Pricing.PRICED))

    outcomes = await asyncio.gather(*(one() for _ in range(9)), return_exceptions=True)
    assert sum(isinstance(one, BudgetSpent) for one in outcomes) == 6
    assert most == 3
    assert total(ledger.calls).usd == pytest.approx(0.9)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), max_size=12), st.floats(0.0, 3.0))
async def test_where_estimates_are_upper_ones_a_limit_is_never_passed(
    calls: list[tuple[float, float]], limit: float
) -> None:
    budget = Budget(Limits(usd=limit, calls=None), ledger := RunLedger(FixedWorld()))

    async def one(estimate: float, share: float) -> None:
        async with spending(budget, Charge("a call", usd=estimate)) as held:
            await asyncio.sleep(0)
            held.record(Call(Stage.GENERATE, "x", cost_usd=estimate * share, pricing=Pricing.PRICED))

    await asyncio.gather(*(one(*call) for call in calls), return_exceptions=True)
    assert total(ledger.calls).usd <= limit + 1e-9
    assert budget.held == Used()


@pytest.mark.parametrize("needed", [True, False])
async def test_a65_a_call_without_a_price_is_refused_or_said_to_be_unpriced_never_counted_as_nothing(
    needed: bool,
) -> None:
    budget = Budget(Limits(usd=1.0, prices_needed=needed), ledger := RunLedger(FixedWorld()))
    charge = Charge("the answer", usd=None, provider="openai", model="new-1")
    if needed:
        with pytest.raises(PriceUnknown, match="openai: new-1 has no known price") as caught:
            async with budget.hold(charge):
                pytest.fail("it was not refused")
        assert "[prices]" in caught.value.hint
        assert ledger.calls == ()
    else:
        async with budget.hold(charge) as held:
            held.record(Call(Stage.GENERATE, "openai", "new-1", pricing=Pricing.UNPRICED, cost_usd=None))
        assert total(ledger.calls).unpriced_calls == 1


async def test_a_ledger_without_limits_takes_every_call() -> None:
    ledger = RunLedger(FixedWorld())
    async with spending(ledger, Charge("a call", usd=1e9)) as same:
        assert same is ledger
        plain: Ledger = same
        plain.record(Call(Stage.GENERATE, "x"))
    assert len(ledger.calls) == 1


def test_the_ledger_holds_failed_calls_too_and_counts_unpriced_apart() -> None:
    world = FixedWorld()
    ledger = RunLedger(world)
    with pytest.raises(ValueError, match="no"), timed(ledger, Stage.EMBED, provider="local"):
        world.advance(0.25)
        raise ValueError("no")
    ledger.record(Call(Stage.GENERATE, "x", cost_usd=None, pricing=Pricing.UNPRICED))
    ledger.record(Call(Stage.GENERATE, "x", cost_usd=0.5, pricing=Pricing.PRICED))
    failed = ledger.calls[0]
    assert (failed.outcome.value, failed.error, failed.duration_ms) == ("failed", "ValueError: no", 250.0)
    assert str(total(ledger.calls)) == "$0.5000 + 1 unpriced calls"


def test_work_in_pieces_is_one_line_and_no_work_is_none() -> None:
    world = FixedWorld()
    ledger = RunLedger(world)
    watch = Stopwatch(ledger, Stage.CHECK, provider="local", model="grounding")
    watch.finish()
    assert not list(ledger.calls)
    for _ in range(3):
        world.advance(1.0)
        with watch:
            world.advance(0.25)
    watch.finish()
    line = ledger.calls[-1]
    assert (line.stage, line.started_ms, line.duration_ms, line.items) == (Stage.CHECK, 1000.0, 750.0, 3)


def test_a_fixed_world_gives_the_same_again() -> None:
    first, second = FixedWorld(seed=3), FixedWorld(seed=3)
    assert [first.token(), first.new("run"), first.uniform()] == [second.token(), second.new("run"), second.uniform()]
    assert FixedWorld(seed=4).token() != second.token()
