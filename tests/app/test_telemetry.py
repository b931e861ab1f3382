from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadasu.app import run_metrics
from tadasu.app.settings import Settings, load_settings
from tadasu.app.telemetry import Telemetry
from tadasu.core.events import Event, Listener, RoundEnded, RunEnded, RunStarted, TextReleased
from tadasu.core.runs import Run
from tadasu.errors import SettingsInvalid
from tadasu.telemetry.context import current_run, trace_id_of
from tadasu.telemetry.metrics import Family, Meters
from tests.cli.samples import abstained, answered
from tests.telemetry.collector import Collector


def settings(**telemetry: object) -> Settings:
    return load_settings(None, telemetry=telemetry)


def told(telemetry: Telemetry, run: Run, *, listen: Listener | None = None) -> None:
    """Let `run` happen before `telemetry`."""
    with telemetry.watching(listen or (lambda _: None)) as heard:
        heard(RunStarted(run.id, run.created_at))
        for one in run.rounds:
            heard(RoundEnded(one))
        heard(TextReleased(run.answer.text))
        heard(RunEnded(run))


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as one:
        yield one


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_run_is_told_to_collector_log_and_counters_alike(
    collector: Collector, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    telemetry = Telemetry(settings(endpoint=collector.address, logs="json", prometheus_port=port), environment={})
    heard: list[Event] = []
    run = answered()
    told(telemetry, run, listen=heard.append)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        scraped = reply.read().decode()
    telemetry.close()
    assert [type(event) for event in heard] == [RunStarted, RoundEnded, RoundEnded, TextReleased, RunEnded]
    assert 'tadasu_run_seconds_count{status="answered"} 1.0' in scraped
    trace = trace_id_of(run.id)
    assert {span["trace"] for span in collector.spans} == {trace}
    assert [span["name"] for span in collector.spans].count("invoke_agent tadasu") == 1
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["round ended", "round ended", "run ended"]
    assert {(line["run_id"], line["trace_id"]) for line in lines} == {(run.id, trace)}
    assert lines[-1]["status"] == "answered"
    assert lines[-1]["rounds"] == 2


def test_texts_stay_at_home_unless_they_are_asked_for(collector: Collector, capsys: pytest.CaptureFixture[str]) -> None:
    run = answered("保証期間は何年ですか", query="製品の保証期間", text="保証は24か月です。")
    for content in (False, True):
        telemetry = Telemetry(settings(endpoint=collector.address, logs="json", content=content), environment={})
        told(telemetry, run)
        telemetry.close()
        outside = capsys.readouterr().err + repr(collector.spans)
        assert (run.question in outside, run.answer.text in outside, run.query in outside) == (content,) * 3


def test_nothing_configured_loads_nothing_and_says_nothing() -> None:
    program = (
        "import sys\n"
        "from tadasu.app.settings import load_settings\n"
        "from tadasu.app.telemetry import Telemetry\n"
        "from tadasu.core.events import RunStarted\n"
        "telemetry = Telemetry(load_settings(None), environment={})\n"
        "with telemetry.watching() as heard:\n"
        "    heard(RunStarted('run-1', '2026-01-01T00:00:00+00:00'))\n"
        "telemetry.close()\n"
        "heavy = {'opentelemetry', 'prometheus_client', 'structlog'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


async def test_runs_side_by_side_do_not_mix_up_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry(settings(logs="json"), environment={})
    log = logging.getLogger("tadasu.somewhere")

    async def one(number: int) -> None:
        with telemetry.watching() as heard:
            heard(RunStarted(f"run-{number}", "2026-01-01T00:00:00+00:00"))
            await asyncio.sleep(0)
            await asyncio.to_thread(log.info, "number %s", number)

    await asyncio.gather(*map(one, range(8)))
    telemetry.close()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == 8
    assert all(line["event"] == f"number {line['run_id'].removeprefix('run-')}" for line in lines)


def test_a_run_that_breaks_off_leaves_no_run_bound() -> None:
    telemetry = Telemetry(settings(), environment={})
    with pytest.raises(RuntimeError), telemetry.watching() as heard:
        heard(RunStarted("run-1", "2026-01-01T00:00:00+00:00"))
        assert current_run() == "run-1"
        raise RuntimeError
    assert current_run() == ""


def test_whatever_goes_wrong_in_telling_costs_no_run_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry(settings(), environment={})

    class Broken(Meters):
        def add(self, family: Family, *values: str, amount: float = 1.0) -> None:
            raise RuntimeError("no room")

    telemetry.__dict__["meters"] = Broken(run_metrics.FAMILIES)
    told(telemetry, answered())
    told(telemetry, answered())
    assert [record.getMessage() for record in caplog.records] == [
        "A run could not be reported (RuntimeError: no room)."
    ]


def test_what_the_listener_of_the_caller_raises_is_his_own() -> None:
    def broken(_: Event) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        told(Telemetry(settings(), environment={}), answered(), listen=broken)


def test_a_port_that_is_taken_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        telemetry = Telemetry(settings(prometheus_port=port), environment={})
        told(telemetry, answered())
        telemetry.close()
    (record,) = caplog.records
    assert f"127.0.0.1:{port}" in record.getMessage()


def test_nobody_at_the_collector_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry(settings(endpoint=f"http://127.0.0.1:{free_port()}", timeout_s=0.2), environment={})
    told(telemetry, answered())
    told(telemetry, abstained())
    telemetry.close()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("tadasu")]
    assert len(ours) == 1
    assert ours[0].startswith("Traces could not be delivered and are dropped")


def test_the_environment_alone_turns_traces_on_and_off(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(**variables: str) -> int:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        before = len(collector.spans)
        telemetry = Telemetry(settings())
        told(telemetry, answered())
        telemetry.close()
        return len(collector.spans) - before

    assert sent() == 0
    assert sent(OTEL_EXPORTER_OTLP_ENDPOINT=collector.address) > 0
    assert sent(OTEL_TRACES_EXPORTER="none") == 0
    assert sent(OTEL_TRACES_EXPORTER="otlp", OTEL_SDK_DISABLED="true") == 0


def test_secrets_of_the_settings_are_nowhere_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"OPENAI_API_KEY": "correct-horse-battery", "TADASU_REDIS_URL": "redis://cache.internal:6379/7"}
    telemetry = Telemetry(settings(logs="json"), environment=environment)
    telemetry.start()
    logging.getLogger("tadasu.providers").warning("refused: %s at %s", *environment.values())
    telemetry.close()
    assert "refused: *** at ***" in capsys.readouterr().err


def test_secrets_of_roles_and_of_accounts_are_nowhere_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    chat = {"roles": {"grade": {"provider": "openai", "model": "m", "key_variable": "CHEAP_KEY"}}}
    environment = {"CHEAP_KEY": "cheap-horse-battery", "AWS_SECRET_ACCESS_KEY": "far-horse-battery"}
    telemetry = Telemetry(load_settings(None, telemetry={"logs": "json"}, chat=chat), environment=environment)
    telemetry.start()
    logging.getLogger("tadasu.providers").warning("refused: %s at %s", *environment.values())
    telemetry.close()
    assert "refused: *** at ***" in capsys.readouterr().err


def test_it_can_be_closed_and_begun_again(collector: Collector) -> None:
    telemetry = Telemetry(settings(endpoint=collector.address), environment={})
    for _ in range(2):
        told(telemetry, answered())
        telemetry.close()
        telemetry.close()
    assert [span["name"] for span in collector.spans].count("invoke_agent tadasu") == 2


@pytest.mark.parametrize(
    "bad",
    [
        {"endpoint": "localhost:4318"},
        {"prometheus_port": 0},
        {"prometheus_port": 70_000},
        {"logs": "xml"},
        {"timeout_s": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsInvalid, match=f"telemetry.{next(iter(bad))}"):
        settings(**bad)


_WITHOUT = (
    "import sys\n"
    "sys.modules['opentelemetry'] = None\n"
    "from tadasu.app.settings import load_settings\n"
    "from tadasu.app.telemetry import Telemetry\n"
    "from tadasu.errors import TadasuError\n"
    "telemetry = Telemetry(load_settings(None, telemetry={'endpoint': sys.argv[1]}))\n"
    "try:\n"
    "    with telemetry.watching():\n"
    "        print('answered')\n"
    "except TadasuError as error:\n"
    "    print(error.code, error)\n"
)


@pytest.mark.parametrize(
    ("endpoint", "variable", "out", "err"),
    [
        ("http://127.0.0.1:4318", "", "extra_missing", ""),
        ("", "http://127.0.0.1:4318", "answered", "install tadasu[telemetry]"),
        ("", "", "answered", ""),
    ],
)
def test_without_the_extra_a_setting_is_refused_and_the_environment_is_a_warning(
    endpoint: str, variable: str, out: str, err: str
) -> None:
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": variable}
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, endpoint], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.startswith(out)
    assert err in done.stderr
    assert "Traceback" not in done.stderr


_HOST = (
    "from opentelemetry import trace\n"
    "from opentelemetry.sdk.trace import TracerProvider\n"
    "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
    "from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter\n"
    "from tadasu.app.settings import load_settings\n"
    "from tadasu.app.telemetry import Telemetry\n"
    "from tests.app.test_telemetry import told\n"
    "from tests.cli.samples import answered\n"
    "kept, provider = InMemorySpanExporter(), TracerProvider()\n"
    "provider.add_span_processor(SimpleSpanProcessor(kept))\n"
    "trace.set_tracer_provider(provider)\n"
    "telemetry = Telemetry(load_settings(None), environment={})\n"
    "with trace.get_tracer('host').start_as_current_span('request'):\n"
    "    told(telemetry, answered())\n"
    "telemetry.close()\n"
    "with trace.get_tracer('host').start_as_current_span('after'):\n"
    "    pass\n"
    "spans = kept.get_finished_spans()\n"
    "ours = {one.name: one for one in spans}\n"
    "inside = ours['invoke_agent tadasu'].parent.span_id == ours['request'].context.span_id\n"
    "print(inside, 'after' in ours, len({one.context.trace_id for one in spans}))\n"
)


def test_a_program_that_traces_already_gets_our_spans_inside_its_own_and_keeps_its_provider() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _HOST], capture_output=True, text=True, cwd=root, check=False)
    assert (done.stdout.split(), done.stderr) == (["True", "True", "2"], "")


def test_many_threads_begin_it_once(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry(settings(prometheus_port=free_port()), environment={})
    threads = [threading.Thread(target=told, args=(telemetry, answered())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 'tadasu_run_seconds_count{status="answered"} 8.0' in telemetry.meters.text()
    telemetry.close()
    assert caplog.records == []  # a second server on the port would have warned
