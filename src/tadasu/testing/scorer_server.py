"""A small HTTP server on loopback that scores passages: rerank endpoints, our own protocol, and both gone wrong.

It lets a test drive a real scorer over real HTTP. How it answers is a list of `Manner`, one a request.
"""

from __future__ import annotations

import enum
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tadasu.core.scores import ScoreScale, logit_of

Row = dict[str, Any]


class Manner(enum.Enum):
    """How one request is answered. "The first passage" is the first of the request."""

    WELL = "as it should be; the best first, as rerank services do"
    REVERSED = "as it should be, the worst first"
    MISSING = "the first passage has no score"
    DOUBLED = "the first passage has two scores, and they differ"
    STRAY = "the score of the first passage names a passage that nobody asked about"
    ONE_BASED = "indices count from 1"
    TEXT = "the score of the first passage is a text"
    NAN = "the score of the first passage is NaN"
    NULL = "the score of the first passage is null"
    BEYOND = "the score of the first passage is 7.5, which is no probability"
    SHORT = "half of the passages have a score"
    NOTHING = "no passage has a score"
    EXTRA = "every passage has a score, and one that nobody asked about has one too"
    NO_LIST = "JSON without a list of scores"
    NO_JSON = "a page of HTML"
    EMPTY = "an empty body"
    BROKEN_OFF = "half of the bytes that were announced"
    CLOSED = "the connection is closed without an answer"
    HANG = "no answer for 30 seconds"
    DRIP = "a good answer, a byte every 50 milliseconds"
    TOO_LONG = "20 MB"
    FAULT = "HTTP 500"
    BUSY = "HTTP 503 with Retry-After: 3"
    LIMITED = "HTTP 429 with Retry-After: 7"
    REFUSED = "HTTP 401 that repeats the key"
    REDIRECT = "HTTP 307 to another address"
    STRICT = "HTTP 400 for return_documents, else as it should be"
    OTHER_SCALE = "our protocol only: names the scale that was not asked for"


class Dialect(enum.Enum):
    """Whose ``/rerank`` is spoken."""

    COHERE = "documents in, {results: [{index, relevance_score}]} out; Jina, vLLM and llama.cpp alike"
    TEI = "texts in, [{index, score}] out; HTTP 422 without texts"


Scoring = Callable[[str, str], float]


def overlap(question: str, text: str) -> float:
    """Share of the question's character pairs that `text` holds, in [0, 1]: a poor scorer, but the same every time."""
    pairs = {question[at : at + 2].casefold() for at in range(len(question) - 1)}
    return sum(pair in text.casefold() for pair in pairs) / len(pairs) if pairs else 0.0


class ScorerServer:
    """Runs while entered; answers in `manners` in turn, in the last one for ever after.

    >>> with ScorerServer() as server:
    ...     server.base_url.startswith("http://127.0.0.1:"), server.score_url.endswith("/score")
    (True, True)
    """

    def __init__(
        self,
        manners: Iterable[Manner] = (Manner.WELL,),
        *,
        scoring: Scoring = overlap,
        scale: ScoreScale = ScoreScale.PROBABILITY,
        dialect: Dialect = Dialect.COHERE,
        key: str = "",
    ) -> None:
        """`scoring` gives probabilities, sent in `scale`; `key`: when given, requests without it are refused."""
        self._manners = tuple(manners)
        self._scoring = scoring
        self._key = key
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.scale = scale
        self.dialect = dialect
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        server = self

        class Handler(_Handler):
            scorer = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """Where a rerank client finds it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def score_url(self) -> str:
        """Where our own protocol is spoken."""
        return f"{self.base_url}/score"

    def __enter__(self) -> ScorerServer:
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

    def connected(self) -> None:
        """Count a connection."""
        with self._lock:
            self.connections += 1

    def next_manner(self, body: dict[str, Any], headers: dict[str, str]) -> Manner:
        """Note the request and say how to answer it."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            if self._key and headers.get("authorization") != f"Bearer {self._key}":
                return Manner.REFUSED
            return self._manners[min(len(self.requests), len(self._manners)) - 1]

    def score(self, question: str, text: str) -> float:
        """The score of one text, in the server's scale."""
        probability = self._scoring(question, text)
        return probability if self.scale is ScoreScale.PROBABILITY else logit_of(probability, ScoreScale.PROBABILITY)


class _Handler(BaseHTTPRequestHandler):
    scorer: ScorerServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.scorer.connected()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Say nothing on standard error."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        manner = self.scorer.next_manner(body, headers)
        try:
            self._answer(manner, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, manner: Manner, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        match manner:
            case Manner.CLOSED | Manner.HANG:
                if manner is Manner.HANG:
                    self.scorer.wait(30.0)
                self.close_connection = True
            case Manner.FAULT:
                self._error(500, "the model ran out of memory")
            case Manner.BUSY:
                self._error(503, "overloaded", {"retry-after": "3"})
            case Manner.LIMITED:
                self._error(429, "too many requests", {"retry-after": "7"})
            case Manner.REFUSED:
                self._error(401, f"invalid credentials: {headers.get('authorization', 'none')}")
            case Manner.REDIRECT:
                self._error(307, "moved", {"location": f"{self.scorer.base_url}/elsewhere"})
            case Manner.STRICT if "return_documents" in body:
                self._error(400, "unknown field: return_documents")
            case Manner.NO_LIST:
                self._send(200, json.dumps({"status": "ok"}))
            case Manner.NO_JSON:
                self._send(200, "<html><body>It works!</body></html>", {"content-type": "text/html"})
            case Manner.EMPTY:
                self._send(200, "")
            case Manner.TOO_LONG:
                self._send(200, json.dumps({"results": [], "scores": [], "padding": "x" * 20_000_000}))
            case _:
                self._scores(manner, body)

    def _scores(self, manner: Manner, body: dict[str, Any]) -> None:
        own = self.path == "/score"
        if not own and not self.path.endswith("/rerank"):
            self._error(404, "no such path")
            return
        if not own and self.scorer.dialect is Dialect.TEI and "texts" not in body:
            self._error(422, "Failed to deserialize the JSON body: missing field `texts`")
            return
        rows = self._own_rows(body) if own else self._rerank_rows(body)
        key, name = ("id", "score") if own else ("index", _score_name(self.scorer.dialect))
        text = json.dumps(self._wrapped(_spoilt(rows, manner, key=key, name=name), manner, own=own))
        if manner is Manner.BROKEN_OFF:
            self._send(200, text, cut=True)
        elif manner is Manner.DRIP:
            self._drip(text)
        else:
            self._send(200, text)

    def _own_rows(self, body: dict[str, Any]) -> list[Row]:
        score, question = self.scorer.score, body["question"]
        return [
            {
                "id": one["id"],
                "score": score(question, one["text"]),
                "strips": [score(question, one["text"][start:end]) for start, end in one["strips"]],
            }
            for one in body["passages"]
        ]

    def _rerank_rows(self, body: dict[str, Any]) -> list[Row]:
        name = _score_name(self.scorer.dialect)
        texts = body["texts"] if self.scorer.dialect is Dialect.TEI else body["documents"]
        return [{"index": at, name: self.scorer.score(body["query"], text)} for at, text in enumerate(texts)]

    def _wrapped(self, rows: list[Row], manner: Manner, *, own: bool) -> Any:
        if not own:
            return rows if self.scorer.dialect is Dialect.TEI else {"results": rows, "usage": {"total_tokens": 42}}
        scale = self.scorer.scale
        if manner is Manner.OTHER_SCALE:
            scale = next(other for other in ScoreScale if other is not scale)
        return {"scores": rows, "scale": scale.value}

    def _error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps({"error": {"message": message}}), headers)

    def _send(self, status: int, body: str, headers: Mapping[str, str] | None = None, *, cut: bool = False) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in ({"content-type": "application/json"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = cut

    def _drip(self, body: str) -> None:
        data = body.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        for at in range(len(data)):
            self.wfile.write(data[at : at + 1])
            self.wfile.flush()
            if self.scorer.wait(0.05):
                break
        self.close_connection = True


def _score_name(dialect: Dialect) -> str:
    return "score" if dialect is Dialect.TEI else "relevance_score"


def _spoilt(rows: list[Row], manner: Manner, *, key: str, name: str) -> list[Row]:
    """`rows`, the best first, with what `manner` does to them; `key` and `name` are the fields of id and score."""
    first, rest = dict(rows[0]), rows[1:]
    values = {Manner.TEXT: "0.9", Manner.NAN: float("nan"), Manner.NULL: None, Manner.BEYOND: 7.5}
    nobody = "somebody" if key == "id" else len(rows) + 5
    match manner:
        case Manner.MISSING:
            rows = rest
        case Manner.DOUBLED:
            rows = [first, *rest, first | {name: 0.123}]
        case Manner.STRAY:
            rows = [first | {key: nobody}, *rest]
        case Manner.EXTRA:
            rows = [*rows, first | {key: nobody}]
        case Manner.ONE_BASED if key == "index":
            rows = [row | {key: row[key] + 1} for row in rows]
        case Manner.SHORT:
            rows = rows[: len(rows) // 2]
        case Manner.NOTHING:
            rows = []
        case _ if manner in values:
            return [*rest, first | {name: values[manner]}]
        case _:
            pass
    return sorted(rows, key=lambda row: float(row[name]), reverse=manner is not Manner.REVERSED)
