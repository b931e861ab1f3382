from __future__ import annotations

import pytest

from tadasu.core.usage import Call, Pricing, Stage, total
from tadasu.errors import BudgetSpent
from tadasu.ports import Allowance
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger, timed
from tadasu.runtime.world import FixedWorld


def test_each_limit_says_no_before_the_spend_and_names_what_did_not_fit() -> None:
    world = FixedWorld()
    ledger = RunLedger(world)
    budget = Budget(Limits(seconds=2, calls=2, usd=0.01), ledger)
    budget.check("a search", usd=0.01)
    with pytest.raises(BudgetSpent, match=r"\$0.01 would be passed by the answer"):
        budget.check("the answer", usd=0.011)
    ledger.record(Call(Stage.GRADE, "x", cost_usd=0.0))
    ledger.record(Call(Stage.GRADE, "x", cost_usd=None, pricing=Pricing.UNPRICED))
    with pytest.raises(BudgetSpent, match="2 calls were made before grading"):
        budget.check("grading")
    world.advance(2.0)
    assert budget.seconds_left == 0.0
    with pytest.raises(BudgetSpent, match="2 s had passed"):
        budget.check("grading")


def test_calls_that_are_under_way_count_before_they_are_written_down() -> None:
    budget = Budget(Limits(calls=3), ledger := RunLedger(FixedWorld()))
    budget.record(Call(Stage.GRADE, "x"))
    assert len(ledger.calls) == 1
    budget.check("grading", under_way=1)
    with pytest.raises(BudgetSpent, match="3 calls were made before grading"):
        budget.check("grading", under_way=2)


def test_a_budget_is_a_ledger_that_knows_its_limits() -> None:
    world = FixedWorld()
    budget = Budget(Limits(seconds=2), RunLedger(world))
    world.advance(0.5)
    assert isinstance(budget, Allowance)
    assert not isinstance(RunLedger(world), Allowance)
    assert (budget.elapsed_ms(), budget.seconds_left) == (500.0, 1.5)


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


def test_a_fixed_world_gives_the_same_again() -> None:
    first, second = FixedWorld(seed=3), FixedWorld(seed=3)
    assert [first.token(), first.new("run"), first.uniform()] == [second.token(), second.new("run"), second.uniform()]
    assert FixedWorld(seed=4).token() != second.token()
