"""A small HTTP server on loopback that speaks a chat protocol from a script: OpenAI's, or another dialect.

It lets a test drive a real client over real HTTP: streamed and whole replies, usage, errors, waits, broken streams.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tadasu.testing.chat_acts import Act, Fail, Fault, Hang, Raw, Say
from tadasu.testing.chat_dialects import JSON, Dialect, OpenAIDialect, openai_usage

__all__ = ["Act", "ChatServer", "Fail", "Fault", "Hang", "Raw", "Say", "Script"]

Script = Act | Callable[[dict[str, Any]], Act]
"""What to do, or what to do with a request whose body is this."""


class ChatServer:
    """Runs while entered; plays `acts` in turn, the last one for ever after.

    >>> with ChatServer([Say("hello")]) as server:
    ...     server.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, acts: Iterable[Script], *, key: str = "", dialect: Dialect | None = None) -> None:
        """`key`: when given, requests without it are refused with 401. `dialect`: OpenAI's where there is none."""
        self._acts = tuple(acts)
        self._key = key
        self.dialect = dialect or OpenAIDialect()
        self.asked = threading.Event()
        """Set once a request has come."""
        self.hung_up = threading.Event()
        """Set once a client has closed its connection before it had all of its answer."""
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0
        server = self

        class Handler(_Handler):
            chat = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """Where a client finds it, with ``/v1`` for OpenAI's protocol."""
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.dialect.base_path}"

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def wait(self, seconds: float, connection: socket.socket) -> bool:
        """Block a request; false where the client went away. Ends early when the server closes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._closing.wait(min(left, 0.01)):
                return True
            if select.select([connection], [], [], 0)[0] and not connection.recv(1, socket.MSG_PEEK):
                self.hung_up.set()
                return False
        return True

    def next_act(self, body: dict[str, Any], headers: dict[str, str]) -> Act:
        """Note the request and say what to do with it."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.asked.set()
            if self._key and self.dialect.key_of(headers) != self._key:
                return Fail(401, "Incorrect API key provided")
            act = self._acts[min(len(self.requests), len(self._acts)) - 1]
        return act(body) if callable(act) else act

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request until its answer begins; ``most_at_once`` keeps the highest count."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Say nothing on standard error."""

    def do_GET(self) -> None:
        told = self.chat.dialect.told(self.path)
        self._send(404 if told is None else 200, json.dumps(told or {}), JSON, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.chat.counted():
            taken = self.chat.dialect.takes(self.path)
            act = self.chat.next_act(body, headers) if taken else Fail(404, "no such path")
            if isinstance(act, Say) and act.wait_s and not self.chat.wait(act.wait_s, self.connection):
                self.close_connection = True
                return
        self._play(act, body)

    def _play(self, act: Act, body: dict[str, Any]) -> None:
        try:
            match act:
                case Hang():
                    self.chat.wait(act.seconds, self.connection)
                    self.close_connection = True
                case Fail():
                    fault, headers = self.chat.dialect.failure(act)
                    self._send(act.status, json.dumps(fault), JSON, {**headers, **act.headers})
                case Raw():
                    self._send(200, act.body, act.content_type, {})
                case Say() if body.get("stream") or self.chat.dialect.name != "openai":
                    self._stream(act, body)
                case Say():
                    self._send(200, json.dumps(_whole(act, body)), JSON, {})
        except (BrokenPipeError, ConnectionResetError):
            self.chat.hung_up.set()
            self.close_connection = True

    def _send(self, status: int, body: str, content_type: str, headers: Mapping[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, act: Say, body: dict[str, Any]) -> None:
        dialect = self.chat.dialect
        self.send_response(200)
        self.send_header("content-type", dialect.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for data in dialect.opening(act, body):
            self._chunk(data)
        for count, piece in enumerate(act.pieces):
            if act.cut_after == count:
                break
            if count and act.pause_s and not self.chat.wait(act.pause_s, self.connection):
                self.close_connection = True
                return
            self._chunk(dialect.piece(piece, act, body))
        if act.fault is not None:
            self._chunk(dialect.fault(act.fault))
        elif act.cut_after is not None:
            self.close_connection = True
            return
        else:
            for data in dialect.closing(act, body):
                self._chunk(data)
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _whole(act: Say, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": act.text}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
        "usage": openai_usage(act.usage) if act.usage else None,
    }
