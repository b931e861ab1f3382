"""A small HTTP server on loopback that speaks the OpenAI chat protocol from a script.

It lets a test drive a real client over real HTTP: streamed and whole replies, usage, errors, waits, broken streams.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with `text`, streamed in pieces of `piece` characters.

    `usage` is (prompt, completion) tokens, or None for a server that does not count. `cut_after` breaks the connection
    off after so many pieces. `wait_s` is how long it thinks before the first word.
    """

    text: str
    piece: int = 5
    usage: tuple[int, int] | None = (100, 20)
    finish: str = "stop"
    cut_after: int | None = None
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an HTTP error."""

    status: int
    message: str = "scripted error"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    param: str = ""


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and say nothing for `seconds`, or until the server is closed."""

    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer 200 with a body of one's own, in or out of the protocol."""

    body: str
    content_type: str = "text/event-stream"


Act = Say | Fail | Hang | Raw
Script = Act | Callable[[dict[str, Any]], Act]
"""What to do, or what to do with a request whose body is this."""


class ChatServer:
    """Runs while entered; plays `acts` in turn, the last one for ever after.

    >>> with ChatServer([Say("hello")]) as server:
    ...     server.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, acts: Iterable[Script], *, key: str = "") -> None:
        """`key`: when given, requests without it are refused with 401."""
        self._acts = tuple(acts)
        self._key = key
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
        """Where a client finds it, with ``/v1``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

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

    def wait(self, seconds: float) -> None:
        """Block a request; ends early when the server closes."""
        self._closing.wait(seconds)

    def next_act(self, body: dict[str, Any], headers: dict[str, str]) -> Act:
        """Note the request and say what to do with it."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            if self._key and headers.get("authorization") != f"Bearer {self._key}":
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

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.chat.counted():
            act = (
                self.chat.next_act(body, headers) if self.path == "/v1/chat/completions" else Fail(404, "no such path")
            )
            if isinstance(act, Say) and act.wait_s:
                self.chat.wait(act.wait_s)
        self._play(act, body)

    def _play(self, act: Act, body: dict[str, Any]) -> None:
        try:
            match act:
                case Hang():
                    self.chat.wait(act.seconds)
                    self.close_connection = True
                case Fail():
                    fault = {
                        "message": act.message,
                        "code": act.code or None,
                        "param": act.param or None,
                        "type": "error",
                    }
                    self._send(act.status, json.dumps({"error": fault}), "application/json", act.headers)
                case Raw():
                    self._send(200, act.body, act.content_type, {})
                case Say() if body.get("stream"):
                    self._stream(act, body)
                case Say():
                    self._send(200, json.dumps(_whole(act, body)), "application/json", {})
        except (BrokenPipeError, ConnectionResetError):
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
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        pieces = [act.text[at : at + act.piece] for at in range(0, len(act.text), act.piece)]
        for count, piece in enumerate(pieces):
            if act.cut_after == count:
                self.close_connection = True
                return
            self._event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}, body)
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": act.finish}]}, body)
        if act.usage and (body.get("stream_options") or {}).get("include_usage"):
            self._event({"choices": [], "usage": _usage(act.usage)}, body)
        self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _event(self, data: dict[str, Any], body: dict[str, Any]) -> None:
        frame = {
            "id": "chat-1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body.get("model", ""),
            **data,
        }
        self._chunk(f"data: {json.dumps(frame, ensure_ascii=False)}\n\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _whole(act: Say, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": act.text}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
        "usage": _usage(act.usage) if act.usage else None,
    }


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
