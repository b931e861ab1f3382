from __future__ import annotations

import asyncio

import pytest

from tadasu.app.settings import load_settings
from tadasu.app.telemetry import Telemetry
from tadasu.core.limits import Ration
from tadasu.core.usage import Priority, Stage
from tadasu.errors import ProviderLimited, ProviderUnreachable
from tadasu.ports import Errand
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.scheduling.rules import BreakerRules, Rations, RetryRules, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.world import SystemChance, SystemClock

SEARCH = Errand("tavily", Stage.SEARCH, "a search", priority=Priority.HIGH)


@pytest.fixture
def telemetry() -> Telemetry:
    telemetry = Telemetry(load_settings(None), environment={})
    telemetry.meters.text()  # from here on everything is counted
    return telemetry


def scheduler(telemetry: Telemetry) -> CallScheduler:
    """A real one: one call at a time, no second attempt, the circuit opens after two faults."""
    clock = SystemClock()
    made = CallScheduler(
        rations=Rations(Ration(in_flight=1)),
        store=LocalLimits(clock),
        clock=clock,
        chance=SystemChance(),
        rules=Rules(retry=RetryRules(attempts=1), breaker=BreakerRules(faults=2, pause_s=60.0)),
        listen=telemetry.happened,
    )
    telemetry.look_at(made.look)
    return made


def shown(telemetry: Telemetry, name: str) -> dict[str, float]:
    """Label values → value of one sample name."""
    return {",".join(labels.values()): value for sample, labels, value in telemetry.meters.samples() if sample == name}


async def test_who_waits_and_who_is_under_way_is_seen_while_it_is_so(telemetry: Telemetry) -> None:
    made, ledger = scheduler(telemetry), RunLedger(SystemClock())
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(_: int) -> None:
        begun.set()
        await go_on.wait()

    calls = [asyncio.create_task(made.call(SEARCH, work, ledger=ledger)) for _ in range(3)]
    await begun.wait()
    await asyncio.sleep(0)
    assert shown(telemetry, "tadasu_calls_in_flight") == {"tavily": 1.0}
    assert shown(telemetry, "tadasu_calls_waiting") == {"tavily": 2.0}
    go_on.set()
    await asyncio.gather(*calls)
    assert shown(telemetry, "tadasu_calls_in_flight") == shown(telemetry, "tadasu_calls_waiting") == {"tavily": 0.0}
    assert shown(telemetry, "tadasu_queue_seconds_count") == {"tavily,high": 3.0}


async def test_a_circuit_that_opens_is_seen_and_the_calls_that_it_refuses_are_counted(telemetry: Telemetry) -> None:
    made, ledger = scheduler(telemetry), RunLedger(SystemClock())

    async def fails(_: int) -> None:
        raise ProviderUnreachable(provider="tavily", reason="down")

    for _ in range(2):
        with pytest.raises(ProviderUnreachable):
            await made.call(SEARCH, fails, ledger=ledger)
    assert shown(telemetry, "tadasu_circuit_open") == {"tavily": 1.0}
    assert shown(telemetry, "tadasu_circuit_opened_total") == {"tavily": 1.0}
    with pytest.raises(ProviderUnreachable):
        await made.call(SEARCH, fails, ledger=ledger)
    assert shown(telemetry, "tadasu_refused_turns_total") == {"tavily,provider_unreachable": 1.0}


async def test_a_provider_that_asks_for_fewer_calls_is_counted(telemetry: Telemetry) -> None:
    made, ledger = scheduler(telemetry), RunLedger(SystemClock())

    async def limited(_: int) -> None:
        raise ProviderLimited(provider="tavily", reason="HTTP 429", retry_after_s=0.0)

    with pytest.raises(ProviderLimited):
        await made.call(SEARCH, limited, ledger=ledger)
    assert shown(telemetry, "tadasu_rate_limited_total") == {"tavily": 1.0}


async def test_hosts_of_pages_are_not_named(telemetry: Telemetry) -> None:
    made, ledger = scheduler(telemetry), RunLedger(SystemClock())

    async def work(_: int) -> None:
        pass

    for host in ("a.example.org", "b.example.org"):
        await made.call(Errand(host, Stage.FETCH, "a page"), work, ledger=ledger)
    assert "example" not in telemetry.meters.text()
    assert shown(telemetry, "tadasu_queue_seconds_count") == {"web,normal": 2.0}
    assert shown(telemetry, "tadasu_circuit_open") == {"other": 0.0}
