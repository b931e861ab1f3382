"""Finished pieces of work as OpenTelemetry spans, sent by OTLP over HTTP without ever holding up who did the work.

The only file that imports opentelemetry's SDK; it belongs to the extra ``telemetry``.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

Attribute = str | bool | int | float | Sequence[str]

_TRACES = "v1/traces"
_LIBRARY_LOGS = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.exporter.otlp.common.http",
    "opentelemetry.sdk._shared_internal",
    "opentelemetry.sdk.trace.export",
)


class Side(enum.Enum):
    """Where the work was done."""

    HERE = SpanKind.INTERNAL
    OUTSIDE = SpanKind.CLIENT


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work that is over, with its parts. Times are nanoseconds since 1970.

    `error` is the kind of its failure, a short word; `detail` explains it and is sent where it is given.
    """

    name: str
    started_ns: int
    ended_ns: int
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    side: Side = Side.HERE
    error: str = ""
    detail: str = ""
    parts: tuple[Work, ...] = ()


class Tracing:
    """Turns work into spans. `send` returns at once; what cannot be delivered is dropped, and `warn` hears it once."""

    def __init__(self, tracer: Tracer, *, ids: _Ids | None = None, close: Callable[[], None] = lambda: None) -> None:
        self._tracer = tracer
        self._ids = ids
        self._close = close
        self._lock = threading.Lock()

    def send(self, work: Work, *, trace_id: str) -> None:
        """Hand over `work` with its parts.

        Where the caller is inside a span, it becomes part of that trace; else of the trace `trace_id` (32 hexadecimal
        digits), unless the tracer is somebody else's, who gives out ids himself.
        """
        with self._lock:
            if self._ids is not None:
                self._ids.next_trace = int(trace_id, 16)
            self._span(work, None)

    def close(self) -> None:
        """Deliver what waits, for the time that was allowed, and stop."""
        self._close()

    def _span(self, work: Work, parent: Context | None) -> None:
        span = self._tracer.start_span(
            work.name,
            context=parent,
            kind=work.side.value,
            attributes=dict(work.attributes),
            start_time=work.started_ns,
        )
        if work.error:
            span.set_attribute("error.type", work.error)
            span.set_status(Status(StatusCode.ERROR, work.detail or None))
        inside = trace.set_span_in_context(span)
        for part in work.parts:
            self._span(part, inside)
        span.end(end_time=max(work.ended_ns, work.started_ns))


def open_tracing(*, endpoint: str, version: str, timeout_s: float, warn: Callable[[str], None]) -> Tracing:
    """Spans to the collector at `endpoint` (``http://host:4318``), or where the OTEL_* variables say when it is empty.

    `timeout_s` bounds each delivery, tries included, and the wait of `close`. `warn` hears once why spans were lost.
    """
    exporter = OTLPSpanExporter(endpoint=traces_address(endpoint) if endpoint else None, timeout=timeout_s)
    ids = _Ids()
    provider = TracerProvider(
        resource=Resource.create({"service.version": version}).merge(_named()),
        id_generator=ids,
        shutdown_on_exit=False,
    )
    bounded = _Quiet(exporter, warn)
    provider.add_span_processor(BatchSpanProcessor(bounded))

    def close() -> None:
        # The SDK's own shutdown waits half a minute; whoever asked a question is waiting for the prompt.
        ending = threading.Thread(target=provider.shutdown, name="tadasu-spans", daemon=True)
        ending.start()
        ending.join(timeout_s)
        if ending.is_alive():
            bounded.give_up(f"no answer within {timeout_s:g} s")

    return Tracing(provider.get_tracer("tadasu", version), ids=ids, close=close)


def host_tracing(version: str) -> Tracing | None:
    """Spans through the tracer provider that this program has set up for itself; None where it has none."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        return None
    return Tracing(provider.get_tracer("tadasu", version))


def traces_address(endpoint: str) -> str:
    """Where traces go, from a collector's address with or without the path.

    >>> traces_address("http://localhost:4318"), traces_address("http://localhost:4318/v1/traces")
    ('http://localhost:4318/v1/traces', 'http://localhost:4318/v1/traces')
    """
    plain = endpoint.rstrip("/")
    return plain if plain.endswith(_TRACES) else f"{plain}/{_TRACES}"


def _named() -> Resource:
    """The service's name: OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES, else ours."""
    chosen = Resource.create().attributes.get("service.name")
    unnamed = not isinstance(chosen, str) or chosen.startswith("unknown_service")
    return Resource({"service.name": "tadasu"} if unnamed else {})


class _Ids(IdGenerator):
    """Span ids by chance, the trace id as told."""

    def __init__(self) -> None:
        self.next_trace = 0
        self._chance = random.SystemRandom()

    def generate_span_id(self) -> int:
        return self._chance.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        return self.next_trace or self._chance.getrandbits(128) or 1


class _Quiet(SpanExporter):
    """An exporter whose failures are one warning of ours, and no lines of the library's."""

    def __init__(self, inner: SpanExporter, warn: Callable[[str], None]) -> None:
        self._inner = inner
        self._warn = warn
        self._warned = False
        self._given_up = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._given_up:
            return SpanExportResult.FAILURE
        with _overheard() as said:
            try:
                result = self._inner.export(spans)
            except Exception as problem:  # noqa: BLE001 - whatever the exporter raises, the work is done and stands
                result = SpanExportResult.FAILURE
                said.append(f"{type(problem).__name__}: {problem}")
        if result is not SpanExportResult.SUCCESS:
            self._once(_why(said))
        return result

    def give_up(self, reason: str) -> None:
        """Send nothing more."""
        self._given_up = True
        self._once(reason)
        with _overheard():
            self._inner.shutdown()

    def shutdown(self) -> None:
        if not self._given_up:
            self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def _once(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(reason)


def _why(said: Sequence[str]) -> str:
    """The library's first line without what it says about itself: the last one only says that it stopped trying."""
    if not said:
        return "the collector refused them"
    if "due to timeout" in said[0]:
        return "no connection, or no answer in time"
    transient = re.match(r"Transient error (.*) encountered while exporting", said[0], re.DOTALL)
    return " ".join((transient[1] if transient else said[0]).split())[:300]


_here = threading.local()


class _Overhear(logging.Filter):
    """Keeps what the library logs while our exporter works in this thread; other users of it are not touched."""

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(_here, "said", None)
        if said is None:
            return True
        said.append(record.getMessage())
        return False


_overhear = _Overhear()


@contextlib.contextmanager
def _overheard() -> Iterator[list[str]]:
    for name in _LIBRARY_LOGS:
        logging.getLogger(name).addFilter(_overhear)  # adding it twice changes nothing
    _here.said = []
    try:
        yield _here.said
    finally:
        _here.said = None
