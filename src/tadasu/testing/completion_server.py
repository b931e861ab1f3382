"""A server of raw completions that plays a script over real HTTP, in the shape of vLLM or of llama.cpp."""

from __future__ import annotations

import enum
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Shape(enum.Enum):
    """How log probabilities, and several prompts, are answered."""

    VLLM = "vllm"
    """Parallel lists, one reply with a choice for each prompt."""
    LLAMACPP = "llama.cpp"
    """A list of places, one reply with a choice for each prompt."""
    LLAMACPP_LIST = "llama.cpp, older"
    """A list of places, a list of replies."""
    SILENT = "silent"
    """No log probabilities and no usage."""


@dataclass(frozen=True, slots=True)
class Continued:
    """What is written after one prompt: tokens with the probabilities of the likeliest at their place.

    A token is a text (certain), or a mapping from texts to probabilities, of which the first one is written.
    """

    tokens: Sequence[str | Mapping[str, float]]
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that is none."""

    status: int
    body: str = "{}"
    headers: Mapping[str, str] = field(default_factory=dict)


Play = Callable[[str], Continued | Refusal]


class CompletionServer:
    """Answers ``POST /v1/completions`` with what `play` gives for each prompt; requests are kept in `requests`.

    Use as a context manager. A `Refusal` for any prompt is the reply to the whole request.
    """

    def __init__(self, play: Play, *, shape: Shape = Shape.VLLM) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._play, self._shape = play, shape
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
                del format, args

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers.get("authorization", ""))
                status, text, headers = outer.reply(self.path, body)
                data = text.encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """The address that a client is given."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> CompletionServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def reply(self, path: str, body: Mapping[str, Any]) -> tuple[int, str, Mapping[str, str]]:
        """Status, body and headers for one request."""
        if path != "/v1/completions":
            return 404, '{"error": {"message": "no such path"}}', {}
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        played = [self._play(prompt) for prompt in prompts]
        for one in played:
            if isinstance(one, Refusal):
                return one.status, one.body, one.headers
        rows = [self._choice(number, one, body) for number, one in enumerate(played) if isinstance(one, Continued)]
        said = [len(one.tokens) for one in played if isinstance(one, Continued)]
        asked = [len(prompt.split()) for prompt in prompts]
        if self._shape is Shape.LLAMACPP_LIST:
            replies = [
                {"choices": [{**row, "index": 0}], "usage": {"prompt_tokens": a, "completion_tokens": b}}
                for row, a, b in zip(rows, asked, said, strict=True)
            ]
            return 200, json.dumps(replies), {}
        usage = {"prompt_tokens": sum(asked), "completion_tokens": sum(said)}
        whole: dict[str, Any] = {"object": "text_completion", "model": body["model"], "choices": rows[::-1]}
        if self._shape is not Shape.SILENT:
            whole["usage"] = usage
        return 200, json.dumps(whole), {}

    def _choice(self, number: int, one: Continued, body: Mapping[str, Any]) -> dict[str, Any]:
        places = [{token: 1.0} if isinstance(token, str) else dict(token) for token in one.tokens]
        written = [next(iter(place)) for place in places]
        # The written token is told even where it is not among the likeliest, and no more are told than were asked for.
        tops = [
            {name: math.log(p) for name, p in sorted(place.items(), key=lambda item: -item[1])[: body["logprobs"]]}
            for place in places
        ]
        chosen = [math.log(place[token]) for place, token in zip(places, written, strict=True)]
        row: dict[str, Any] = {"index": number, "text": "".join(written), "finish_reason": one.finish}
        if self._shape is Shape.VLLM:
            row["logprobs"] = {"tokens": written, "token_logprobs": chosen, "top_logprobs": tops, "text_offset": []}
        elif self._shape is Shape.SILENT:
            row["logprobs"] = None
        else:
            content = [
                {
                    "id": place,
                    "token": token,
                    "bytes": list(token.encode()),
                    "logprob": logprob,
                    "top_logprobs": [{"id": 0, "token": name, "logprob": value} for name, value in top.items()],
                }
                for place, (token, logprob, top) in enumerate(zip(written, chosen, tops, strict=True))
            ]
            row["logprobs"] = {"content": content}
        return row
