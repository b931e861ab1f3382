"""A small HTTP server on loopback that speaks like the web searches that Tadasu knows, and like all of them gone wrong.

It lets a test drive a real provider over real HTTP, and holds every byte that came in. How it answers is a list of
`WebManner`, one a request.
"""

from __future__ import annotations

import enum
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tadasu.testing.web_dialects import DIALECTS, Asked, FoundPage, Row, names, some_pages


class WebManner(enum.Enum):
    """How one request is answered."""

    WELL = "as it should be"
    NOTHING = "as it should be, and nothing was found"
    ACCEPTED = "HTTP 202 with an empty body"
    LIMITED = "HTTP 429 with Retry-After: 7"
    LIMITED_DATE = "HTTP 429 with Retry-After: a date in two minutes"
    LIMITED_BARE = "HTTP 429 without Retry-After"
    LIMITED_DAY = "HTTP 429 with Retry-After: 86400"
    BUSY = "HTTP 503 with Retry-After: 3"
    FAULT = "HTTP 500"
    QUOTA = "HTTP 403 whose words are about a quota"
    LIMIT_INSIDE = "HTTP 200 with an error that speaks of a rate limit"
    ERROR_INSIDE = "HTTP 200 with an object that holds an error and repeats the key"
    ERROR_TEXT = "HTTP 200 with a text in JSON"
    NULL = "HTTP 200 with null"
    EMPTY = "HTTP 200 with an empty body"
    NO_JSON = "HTTP 200 with a page of HTML"
    NO_LIST = "HTTP 200 with an object of somebody else"
    NOT_A_LIST = "the results are an object"
    NOT_OBJECTS = "the results are texts"
    KEYLESS = "no result has an address"
    SOME_KEYLESS = "the first result has nothing but an address, the second no address"
    ODD_KINDS = "title, snippet and date of the first result are a number, null and an object"
    BARE_LIST = "the list of results without its envelope"
    FORBIDDEN = "HTTP 403 with a page of HTML"
    REFUSED = "HTTP 401 that repeats the key"
    REDIRECT = "HTTP 302 to another address"
    CLOSED = "the connection is closed without an answer"
    BROKEN_OFF = "half of the bytes that were announced"
    HANG = "no answer for 30 seconds"
    TOO_LONG = "20 MB"


_STATUSES: Final[Mapping[WebManner, tuple[int, str, str]]] = {
    WebManner.LIMITED: (429, "too many requests", "7"),
    WebManner.LIMITED_BARE: (429, "too many requests", ""),
    WebManner.LIMITED_DAY: (429, "the plan of this day is used up", "86400"),
    WebManner.BUSY: (503, "overloaded", "3"),
    WebManner.FAULT: (500, "something broke", ""),
    WebManner.QUOTA: (403, "Quota exceeded for quota metric 'Queries'", ""),
}
_BODIES: Final[Mapping[WebManner, str]] = {
    WebManner.LIMIT_INSIDE: json.dumps({"error": {"code": 429, "message": "Rate limit reached, slow down"}}),
    WebManner.ERROR_TEXT: json.dumps("search error: upstream failed"),
    WebManner.NULL: "null",
    WebManner.EMPTY: "",
    WebManner.NO_JSON: "<html><body>Checking your browser …</body></html>",
    WebManner.NO_LIST: json.dumps({"status": "ok", "version": 3}),
    WebManner.TOO_LONG: json.dumps({"results": [], "padding": "x" * 20_000_000}),
}


class WebServer:
    """Runs while entered; answers in `manners` in turn, in the last one for ever after.

    >>> with WebServer("brave") as server:
    ...     server.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        provider: str,
        manners: Iterable[WebManner] = (WebManner.WELL,),
        *,
        pages: Sequence[FoundPage] | None = None,
        key: str = "",
    ) -> None:
        """`provider` is a key of `DIALECTS`; with a `key`, requests without it are refused."""
        self.dialect = DIALECTS[provider]
        self.pages = list(some_pages() if pages is None else pages)
        self.requests: list[Asked] = []
        self.arrived = threading.Event()
        """Set once a request has come in."""
        self._whole = provider == "bing"
        self._manners = tuple(manners)
        self._key = key
        self._lock = threading.Lock()
        self._closing = threading.Event()
        server = self

        class Handler(_Handler):
            web = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True)

    @property
    def base_url(self) -> str:
        """What the setting of that name says."""
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.dialect.path if self._whole else ''}"

    @property
    def words(self) -> list[str]:
        """What was searched for, request by request."""
        return [str(asked.parameters.get(self.dialect.words)) for asked in self.requests]

    @property
    def wire(self) -> bytes:
        """Every byte that came in."""
        return b"\n".join(asked.raw for asked in self.requests)

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def wait(self, seconds: float) -> bool:
        """Block a request; true where the server closes meanwhile."""
        return self._closing.wait(seconds)

    def next_manner(self, asked: Asked) -> WebManner:
        """Note the request and say how to answer it."""
        with self._lock:
            self.requests.append(asked)
            self.arrived.set()
            if self._key and self.dialect.key_of(asked) != self._key:
                return WebManner.REFUSED
            return self._manners[min(len(self.requests), len(self._manners)) - 1]


class _Handler(BaseHTTPRequestHandler):
    web: WebServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Say nothing on standard error."""

    def do_GET(self) -> None:
        self._take(b"")

    def do_POST(self) -> None:
        self._take(self.rfile.read(int(self.headers.get("content-length", "0"))))

    def _take(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        told = json.loads(body) if body else {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = f"{self.requestline}\r\n".encode("latin-1") + bytes(self.headers) + body
        asked = Asked(self.command, parts.path, told, headers, raw)
        manner = self.web.next_manner(asked)
        try:
            if parts.path != self.web.dialect.path:
                self._send(404, json.dumps({"error": f"no such path: {parts.path}"}))
            else:
                self._answer(manner, asked)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, manner: WebManner, asked: Asked) -> None:
        key = self.web.dialect.key_of(asked)
        match manner:
            case WebManner.CLOSED | WebManner.HANG:
                if manner is WebManner.HANG:
                    self.web.wait(30.0)
                self.close_connection = True
            case WebManner.ACCEPTED:
                self._send(202, "")
            case WebManner.LIMITED_DATE:
                self._error(
                    429, "too many requests", format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True)
                )
            case WebManner.FORBIDDEN:
                self._send(403, "<h1>Forbidden</h1>", {"content-type": "text/html"})
            case WebManner.REFUSED:
                self._error(401, f"invalid credentials: {key or 'none'}", "")
            case WebManner.REDIRECT:
                self._send(302, "", {"location": f"{self.web.base_url}/elsewhere"})
            case WebManner.ERROR_INSIDE:
                self._send(200, json.dumps({"error": f"the key {key or 'none'} may not do this", "results": []}))
            case _ if manner in _STATUSES:
                self._error(*_STATUSES[manner])
            case _ if manner in _BODIES:
                self._send(200, _BODIES[manner])
            case _:
                self._send(200, json.dumps(self._results(manner)), cut=manner is WebManner.BROKEN_OFF)

    def _results(self, manner: WebManner) -> Any:
        dialect = self.web.dialect
        rows: Any = [dialect.row(page) for page in self.web.pages]
        address, title, snippet, date = names(dialect)
        match manner:
            case WebManner.NOTHING:
                return dialect.empty
            case WebManner.BARE_LIST:
                return rows
            case WebManner.NOT_A_LIST:
                rows = {"0": rows[0]}
            case WebManner.NOT_OBJECTS:
                rows = ["one result", "another"]
            case WebManner.KEYLESS:
                rows = [{name: value for name, value in row.items() if name != address} for row in rows]
            case WebManner.SOME_KEYLESS:
                rows = [{address: rows[0][address]}, {title: rows[1][title]}, *rows[2:]]
            case WebManner.ODD_KINDS:
                rows = [rows[0] | {title: 7, snippet: None, date: {"year": 2025}}, *rows[1:]]
            case _:
                pass
        return _within({name: value for name, value in dialect.empty.items() if name != "error"}, dialect.at, rows)

    def _error(self, status: int, message: str, retry_after: str) -> None:
        told = json.dumps({"error": {"code": status, "message": message}})
        self._send(status, told, {"retry-after": retry_after} if retry_after else {})

    def _send(self, status: int, body: str, headers: Mapping[str, str] | None = None, *, cut: bool = False) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in ({"content-type": "application/json"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = cut


def _within(reply: Row, at: Sequence[str], rows: Any) -> Row:
    first, *rest = at
    return reply | {first: _within({}, rest, rows) if rest else rows}
