"""A collector on loopback: what a real exporter posts to it, decoded with the protocol's own messages."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Runs while entered; answers every post with `status`, after `wait_s`."""

    def __init__(self, *, status: int = 200, wait_s: float = 0.0) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        closing = self._closing = threading.Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.paths.append(self.path)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                message = ExportTraceServiceRequest()
                message.ParseFromString(body)
                collector.requests.append(message)
                closing.wait(wait_s)
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def spans(self) -> list[dict[str, Any]]:
        """Every span that came: name, ids in hexadecimal, times, kind, status, attributes as plain values."""
        return [
            _plain(span)
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, Any]:
        return _attributes(self.requests[0].resource_spans[0].resource.attributes)

    def wait_for(self, count: int, *, seconds: float = 5.0) -> None:
        """Until `count` spans have come."""
        until = time.monotonic() + seconds
        while len(self.spans) < count and time.monotonic() < until:
            time.sleep(0.01)


def _plain(span: Any) -> dict[str, Any]:
    return {
        "name": span.name,
        "trace": span.trace_id.hex(),
        "span": span.span_id.hex(),
        "parent": span.parent_span_id.hex(),
        "started": span.start_time_unix_nano,
        "ended": span.end_time_unix_nano,
        "kind": span.kind,
        "status": span.status.code,
        "message": span.status.message,
        "attributes": _attributes(span.attributes),
    }


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None
