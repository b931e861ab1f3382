"""What is told about runs, to whom, as the settings chose: spans, counters, log lines. None of it can cost a run."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from tadasu import __version__
from tadasu.app.run_words import asked_the_web, stop_of
from tadasu.app.sections.running import LogForm
from tadasu.app.settings import Settings
from tadasu.core.events import Event, Listener, RoundEnded, RunEnded, RunStarted, ignore
from tadasu.errors import ExtraMissing
from tadasu.providers.presets import SECRET_VARIABLES
from tadasu.telemetry.context import bind_run, no_run, trace_id_of

if TYPE_CHECKING:
    from tadasu.app.run_spans import SpanForm
    from tadasu.core.runs import Round, Run
    from tadasu.runtime.scheduling.happenings import Happening
    from tadasu.runtime.scheduling.scheduler import Sight
    from tadasu.telemetry.logs import JsonLogs
    from tadasu.telemetry.metrics import Meters, MetricsServer
    from tadasu.telemetry.tracing import Tracing

_log = logging.getLogger("tadasu.telemetry")
_runs = logging.getLogger("tadasu.runs")
_calls = logging.getLogger("tadasu.calls")

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_FEATURE = "sending traces"


class Telemetry:
    """Started by the first question. Where nothing is configured, nothing is loaded and nothing is done."""

    def __init__(self, settings: Settings, *, environment: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._chosen = settings.telemetry
        self._environment = os.environ if environment is None else environment
        self._logs: JsonLogs | None = None
        self._server: MetricsServer | None = None
        self._tracing: Tracing | None = None
        self._started = False
        self._lock = threading.Lock()
        self._warned: set[str] = set()
        self._looks: list[Callable[[], Iterable[Sight]]] = []

    @cached_property
    def meters(self) -> Meters:
        """The counters of this process, for a server to mount; runs count from when this is first asked for."""
        from tadasu.app.call_metrics import FAMILIES, show_line
        from tadasu.app.run_metrics import run_meters

        meters = run_meters(besides=FAMILIES)
        meters.before_showing(lambda: show_line(meters, self._seen))
        return meters

    def _seen(self) -> Iterator[Sight]:
        for look in self._looks:
            yield from look()

    def happened(self, happening: Happening) -> None:
        """A listener for the scheduler of outside calls."""
        kind = happening.kind.value
        if kind.startswith("circuit") and _calls.isEnabledFor(logging.INFO):
            _calls.info(kind.replace("_", " "), extra={"provider": happening.errand.provider})
        if "meters" in self.__dict__:
            from tadasu.app.call_metrics import count_happening  # loaded with the meters

            count_happening(self.meters, happening)

    def look_at(self, look: Callable[[], Iterable[Sight]]) -> None:
        """Show who waits and which circuits are open, as `look` (the scheduler's) sees it when somebody asks."""
        self._looks.append(look)

    @contextmanager
    def watching(self, listen: Listener = ignore) -> Iterator[Listener]:
        """A listener for one run, which tells `listen` too.

        Raises ExtraMissing where the settings want what is not installed.
        """
        self.start()

        def heard(event: Event) -> None:
            listen(event)
            try:
                self._hear(event)
            except Exception as problem:  # noqa: BLE001 - whatever goes wrong in telling, the answer stands
                self._warn("telemetry", f"A run could not be reported ({type(problem).__name__}: {problem}).")

        with no_run():
            yield heard

    def start(self) -> None:
        """Begin what the settings chose; again and again is the same as once, from several threads too."""
        with self._lock:
            if not self._started:
                self._begin()
                self._started = True

    def _begin(self) -> None:
        if self._chosen.logs is LogForm.JSON:
            from tadasu.telemetry.logs import JsonLogs, Redaction

            self._logs = JsonLogs(sys.stderr, redact=Redaction(self._secrets()))
        if self._chosen.prometheus_port is not None:
            self._serve(self._chosen.prometheus_port)
        self._tracing = self._open_tracing()

    def close(self) -> None:
        """Deliver what waits, for `telemetry.timeout_s` at the most, and stop."""
        if self._tracing is not None:
            self._tracing.close()
        if self._server is not None:
            self._server.close()
        if self._logs is not None:
            self._logs.close()
        self._logs = self._server = self._tracing = None
        self._started = False

    def _hear(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            bind_run(event.run_id)
        elif isinstance(event, RoundEnded):
            self._log_round(event.round)
        elif isinstance(event, RunEnded):
            if "meters" in self.__dict__:
                from tadasu.app.run_metrics import count_run

                count_run(self.meters, event.run)
            if self._tracing is not None:
                from tadasu.app.run_spans import work_of  # loaded with the tracing

                self._tracing.send(work_of(event.run, self._form), trace_id=trace_id_of(event.run.id))
            self._log_run(event.run)

    @cached_property
    def _form(self) -> SpanForm:
        from tadasu.app.run_spans import SpanForm
        from tadasu.providers.registry import plugin_names

        return SpanForm(__version__, chat=frozenset(plugin_names("tadasu.chat")), content=self._chosen.content)

    def _log_round(self, one: Round) -> None:
        if not _runs.isEnabledFor(logging.INFO):
            return
        about: dict[str, object] = {
            "round": one.number,
            "mode": one.mode.value,
            "verdict": one.verdict.value,
            "action": one.action.kind.value,
            "candidates": len(one.candidates),
            "duration_ms": round(one.duration_ms, 3),
        }
        if self._chosen.content:
            about |= {"query": one.query, "error": one.error}
        _runs.info("round ended", extra=about)

    def _log_run(self, run: Run) -> None:
        if not _runs.isEnabledFor(logging.INFO):
            return
        cost = run.cost
        about: dict[str, object] = {
            "run_id": run.id,
            "status": run.answer.status.value,
            "reason": None if run.answer.reason is None else run.answer.reason.value,
            "verdict": run.verdict.value if run.rounds else None,
            "stop_reason": stop_of(run),
            "rounds": len(run.rounds),
            "web_fallback": asked_the_web(run),
            "language": run.language,
            "duration_ms": round(run.duration_ms, 3),
            "calls": len(run.calls),
            "cost_usd": cost.usd,
            "unpriced_calls": cost.unpriced_calls,
        }
        if self._chosen.content:
            about |= {"question": run.question, "answer": run.answer.text}
        _runs.info("run ended", extra=about)

    def _serve(self, port: int) -> None:
        host = self._chosen.prometheus_host
        try:
            self._server = self.meters.serve(host=host, port=port)
        except (OSError, OverflowError) as problem:
            self._warn("metrics", f"Metrics are not served: {host}:{port} cannot be listened on ({problem}).")

    def _open_tracing(self) -> Tracing | None:
        """Where spans go: our own setting, else what this program has set up itself, else what the environment says."""
        named = bool(self._chosen.endpoint)
        if not named and self._environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
            return None
        told = any(self._environment.get(name) for name in _ENDPOINTS)
        if not named and not told and "opentelemetry.sdk.trace" not in sys.modules:
            return None
        try:
            import tadasu.app.run_spans  # noqa: F401 - now, and not in the middle of the first run
            from tadasu.telemetry.tracing import host_tracing, open_tracing
        except ModuleNotFoundError as missing:
            package = (missing.name or "").partition(".")[0]
            if named:
                raise ExtraMissing(feature=_FEATURE, package=package, extra="telemetry") from missing
            if told:
                self._warn(
                    "traces", "The environment names a collector of traces; for that, install tadasu[telemetry]."
                )
            return None
        if not named:
            host = host_tracing(__version__)
            if host is not None or not told or self._environment.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp":
                return host
        return open_tracing(
            endpoint=self._chosen.endpoint,
            version=__version__,
            timeout_s=self._chosen.timeout_s,
            warn=lambda reason: self._warn("traces", f"Traces could not be delivered and are dropped: {reason}"),
        )

    def _secrets(self) -> Iterator[str]:
        """The values of every variable that a setting names as the place of a secret, and of the usual ones."""
        named = _named_secrets(self._settings.model_dump())
        for variable in dict.fromkeys((*SECRET_VARIABLES, *named)):
            yield self._environment.get(variable, "")

    def _warn(self, about: str, text: str) -> None:
        """Say it once."""
        if about not in self._warned:
            self._warned.add(about)
            _log.warning("%s", text)


def _named_secrets(table: Mapping[str, object]) -> Iterator[str]:
    """Every variable that a setting of `table`, or of a table within it, names as the place of a secret."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _named_secrets(value)
        elif isinstance(value, str) and value and str(name).endswith(("key_variable", "url_variable")):
            yield value
