from __future__ import annotations

import sys

import pytest

from tadasu.app.findings import Health
from tadasu.app.sections.running import TelemetrySection
from tadasu.app.telemetry_findings import telemetry_findings
from tests.app.test_telemetry import free_port
from tests.telemetry.collector import Collector


def test_without_a_collector_there_is_nothing_to_say() -> None:
    assert telemetry_findings(TelemetrySection(), network=True) == []


def test_a_collector_that_listens_is_well() -> None:
    with Collector() as collector:
        (found,) = telemetry_findings(TelemetrySection(endpoint=collector.address), network=True)
        assert collector.requests == []  # nothing is sent to find out
    assert (found.check, found.health, found.details) == ("traces", Health.OK, {"where": collector.address})


@pytest.mark.parametrize("path", ["", "/v1/traces"])
def test_nobody_there_is_a_warning_and_unasked_where_the_network_is_off(path: str) -> None:
    chosen = TelemetrySection(endpoint=f"http://user:hunter2@127.0.0.1:{free_port()}{path}")
    (found,) = telemetry_findings(chosen, network=True)
    assert found.health is Health.WARNING
    assert "hunter2" not in repr(found)
    (unasked,) = telemetry_findings(chosen, network=False)
    assert unasked.health is Health.OK
    assert "hunter2" not in repr(unasked)


def test_a_port_that_is_none_is_a_warning() -> None:
    (found,) = telemetry_findings(TelemetrySection(endpoint="http://127.0.0.1:99999999"), network=True)
    assert found.health is Health.WARNING


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    (found,) = telemetry_findings(TelemetrySection(endpoint="http://127.0.0.1:4318"), network=True)
    assert found.health is Health.ERROR
    assert found.details["extra"] == "telemetry"
