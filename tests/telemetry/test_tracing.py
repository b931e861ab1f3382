from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from tadasu.telemetry.context import current_trace, trace_id_of
from tadasu.telemetry.tracing import Side, Tracing, Work, open_tracing, traces_address
from tests.telemetry.collector import Collector

SECOND = 1_000_000_000
BEGAN = 1_767_225_600 * SECOND
TRACE = trace_id_of("run-1")


def work() -> Work:
    call = Work(
        "chat m", BEGAN + SECOND, BEGAN + 2 * SECOND, {"gen_ai.operation.name": "chat", "n": 3}, side=Side.OUTSIDE
    )
    failed = Work("fetch", BEGAN + 2 * SECOND, BEGAN + 3 * SECOND, error="timeout")
    return Work(
        "run", BEGAN, BEGAN + 4 * SECOND, {"ok": True, "share": 0.5, "words": ("a", "保証")}, parts=(call, failed)
    )


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as one:
        yield one


def opened(collector: Collector, said: list[str], *, timeout_s: float = 5.0) -> Tracing:
    return open_tracing(endpoint=collector.address, version="9.9", timeout_s=timeout_s, warn=said.append)


def test_a_tree_of_work_arrives_as_spans_with_its_own_times(collector: Collector) -> None:
    said: list[str] = []
    tracing = opened(collector, said)
    tracing.send(work(), trace_id=TRACE)
    tracing.close()
    assert said == []
    assert collector.paths == ["/v1/traces"]
    assert collector.resource["service.name"] == "tadasu"
    assert collector.resource["service.version"] == "9.9"
    spans = {span["name"]: span for span in collector.spans}
    root, call, failed = spans["run"], spans["chat m"], spans["fetch"]
    assert {span["trace"] for span in collector.spans} == {TRACE}
    assert root["parent"] == ""
    assert call["parent"] == failed["parent"] == root["span"]
    assert (root["started"], root["ended"]) == (BEGAN, BEGAN + 4 * SECOND)
    assert (call["started"], call["ended"]) == (BEGAN + SECOND, BEGAN + 2 * SECOND)
    assert root["attributes"] == {"ok": True, "share": 0.5, "words": ["a", "保証"]}
    assert (root["kind"], call["kind"]) == (1, 3)  # internal, client
    assert (call["status"], failed["status"]) == (0, 2)
    assert failed["attributes"] == {"error.type": "timeout"}
    assert len({span["span"] for span in collector.spans}) == 3


def test_inside_a_span_of_the_caller_it_becomes_part_of_that_trace(collector: Collector) -> None:
    caller = TracerProvider().get_tracer("caller")
    tracing = opened(collector, [])
    with caller.start_as_current_span("request") as request:
        expected = request.get_span_context()
        assert current_trace() == f"{expected.trace_id:032x}"
        tracing.send(work(), trace_id=TRACE)
    tracing.send(work(), trace_id=TRACE)
    tracing.close()
    inside, outside = (span for span in collector.spans if span["name"] == "run")
    assert inside["trace"] == f"{expected.trace_id:032x}"
    assert inside["parent"] == f"{expected.span_id:016x}"
    assert (outside["trace"], outside["parent"]) == (TRACE, "")


def test_the_standard_variables_say_where_to_and_what_with(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=acme")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "rag")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    tracing = open_tracing(endpoint="", version="9.9", timeout_s=5.0, warn=lambda _: None)
    tracing.send(work(), trace_id=TRACE)
    tracing.close()
    assert len(collector.spans) == 3
    assert collector.headers[0]["x-tenant"] == "acme"
    assert collector.resource["service.name"] == "rag"
    assert collector.resource["deployment.environment.name"] == "test"


def test_a_sampler_of_the_environment_is_obeyed(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    tracing = opened(collector, [])
    tracing.send(work(), trace_id=TRACE)
    tracing.close()
    assert collector.spans == []


def test_nobody_at_home_is_one_warning_and_no_line_of_the_library(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said: list[str] = []
    with caplog.at_level(logging.DEBUG, logger="opentelemetry"):
        tracing = open_tracing(endpoint=f"http://127.0.0.1:{port}", version="9.9", timeout_s=0.3, warn=said.append)
        for number in range(3):
            tracing.send(work(), trace_id=trace_id_of(f"run-{number}"))
        tracing.close()
    assert len(said) == 1
    assert "no connection" in said[0] or "refused" in said[0]  # as the version of the library says it
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("status", [400, 500])
def test_a_collector_that_turns_spans_down_is_one_warning(status: int) -> None:
    said: list[str] = []
    with Collector(status=status) as collector:
        tracing = opened(collector, said, timeout_s=1.0)
        tracing.send(work(), trace_id=TRACE)
        tracing.close()
    assert len(said) == 1
    assert str(status) in said[0] or "within 1 s" in said[0]  # older libraries try again after a 500


def test_a_collector_that_never_answers_is_waited_for_no_longer_than_allowed() -> None:
    said: list[str] = []
    with Collector(wait_s=30.0) as collector:
        tracing = opened(collector, said, timeout_s=0.3)
        began = time.monotonic()
        tracing.send(work(), trace_id=TRACE)
        handed_over = time.monotonic() - began
        tracing.close()
        waited = time.monotonic() - began
    assert handed_over < 10.0  # far from the 30 s of the collector; a busy machine is slow
    assert waited < 10.0
    assert len(said) == 1


def test_other_users_of_the_library_still_hear_its_lines(caplog: pytest.LogCaptureFixture) -> None:
    with Collector() as collector:
        tracing = opened(collector, [])
        tracing.send(work(), trace_id=TRACE)
        tracing.close()
    name = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    with caplog.at_level(logging.WARNING, logger=name):
        logging.getLogger(name).warning("of somebody else")
    assert "of somebody else" in caplog.text


def test_work_that_ends_before_it_began_has_no_length(collector: Collector) -> None:
    tracing = opened(collector, [])
    tracing.send(Work("odd", BEGAN, BEGAN - 5), trace_id=TRACE)
    tracing.close()
    assert collector.spans[0]["ended"] == BEGAN


@pytest.mark.parametrize(
    "endpoint", ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"]
)
def test_an_address_is_taken_with_and_without_its_path(endpoint: str) -> None:
    assert traces_address(endpoint) == "http://c:4318/v1/traces"
    assert traces_address("https://c/otlp") == "https://c/otlp/v1/traces"


def test_no_trace_is_going_on_outside_of_any() -> None:
    assert not trace.get_current_span().get_span_context().is_valid
    assert current_trace() == ""
