"""The protocols of chat services, as a scripted server speaks them: shapes from the services' public references."""

from __future__ import annotations

import json
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tadasu.testing.chat_acts import Fail, Fault, Say

SSE, JSON = "text/event-stream", "application/json"


class Dialect(ABC):
    """One protocol. `base_path` is what a client's base URL ends in, `content_type` that of a streamed reply."""

    name = ""
    base_path = ""
    content_type = SSE
    ends: Mapping[str, str] = {}

    @abstractmethod
    def takes(self, path: str) -> bool:
        """Whether a request to `path` is one for a streamed reply."""

    def key_of(self, headers: Mapping[str, str]) -> str:
        """The key that a request carries."""
        return headers.get("authorization", "").removeprefix("Bearer ")

    def told(self, path: str) -> Mapping[str, object] | None:
        """What a GET of `path` gives; None: there is nothing."""
        del path
        return None

    def opening(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """What comes before the text."""
        del say, body
        yield from ()

    @abstractmethod
    def piece(self, text: str, say: Say, body: Mapping[str, Any]) -> bytes:
        """One piece of the text."""

    @abstractmethod
    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """What comes after the text."""

    @abstractmethod
    def fault(self, fault: Fault) -> bytes:
        """An error within the stream."""

    @abstractmethod
    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """The body and the headers of an HTTP error."""

    def end(self, finish: str) -> str:
        """`finish` in the protocol's own word."""
        return self.ends.get(finish, finish)


def event(data: Mapping[str, object], *, name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class OpenAIDialect(Dialect):
    """``/chat/completions`` of OpenAI and those who speak like it."""

    name = "openai"
    base_path = "/v1"
    ends: Mapping[str, str] = {"refusal": "content_filter"}

    def takes(self, path: str) -> bool:
        """See `Dialect`."""
        return path == "/v1/chat/completions"

    def piece(self, text: str, say: Say, body: Mapping[str, Any]) -> bytes:
        """See `Dialect`; a tool's arguments where a tool is asked for."""
        del say
        if body.get("tool_choice"):
            call = {"index": 0, "function": {"arguments": text}}
            return self._chunk({"choices": [self._choice({"tool_calls": [call]}, None)]}, body)
        return self._chunk({"choices": [self._choice({"content": text}, None)]}, body)

    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        yield self._chunk({"choices": [self._choice({}, self.end(say.finish))]}, body)
        if say.usage and (body.get("stream_options") or {}).get("include_usage"):
            yield self._chunk({"choices": [], "usage": openai_usage(say.usage)}, body)
        yield b"data: [DONE]\n\n"

    def fault(self, fault: Fault) -> bytes:
        """See `Dialect`."""
        return event({"error": {"message": fault.message, "type": fault.kind or "server_error", "code": None}})

    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """See `Dialect`."""
        error = {"message": fail.message, "code": fail.code or None, "param": fail.param or None, "type": "error"}
        return {"error": error}, {}

    @staticmethod
    def _choice(delta: Mapping[str, object], finish: str | None) -> dict[str, object]:
        return {"index": 0, "delta": delta, "finish_reason": finish}

    @staticmethod
    def _chunk(data: Mapping[str, object], body: Mapping[str, Any]) -> bytes:
        head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "")}
        return event({**head, **data})


def openai_usage(tokens: tuple[int, int]) -> dict[str, int]:
    """Tokens as OpenAI counts them."""
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


@dataclass(frozen=True, slots=True)
class _Slots:
    tokens: int = 4096


class LlamaCppDialect(OpenAIDialect):
    """llama.cpp's server: tells its window at ``/props`` and its counts as ``timings``; knows no refusal."""

    name = "llamacpp"
    ends: Mapping[str, str] = {}
    _KINDS: Mapping[int, str] = {
        400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
        500: "server_error", 501: "not_supported_error", 503: "unavailable_error",
    }  # fmt: skip

    def __init__(self, *, window: int = 4096) -> None:
        self._slots = _Slots(window)

    def told(self, path: str) -> Mapping[str, object] | None:
        """See `Dialect`."""
        settings = {"n_ctx": self._slots.tokens, "params": {"n_predict": -1}}
        known: dict[str, Mapping[str, object]] = {
            "/props": {"default_generation_settings": settings, "total_slots": 1, "model_path": "model.gguf"},
            "/v1/models": {"object": "list", "data": [{"id": "test-model", "object": "model"}]},
        }
        return known.get(path)

    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`: the counts come with the last choice, and no usage."""
        last: dict[str, object] = {"choices": [self._choice({}, self.end(say.finish))]}
        if say.usage:
            cached = say.usage[0] // 2
            rest = say.usage[0] - cached
            last["timings"] = {"cache_n": cached, "prompt_n": rest, "prompt_ms": 1.5, "predicted_n": say.usage[1]}
        yield self._chunk(last, body)
        yield b"data: [DONE]\n\n"

    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """See `Dialect`."""
        kind = fail.code or self._KINDS.get(fail.status, "server_error")
        return {"error": {"code": fail.status, "message": fail.message, "type": kind}}, {}


class AnthropicDialect(Dialect):
    """Anthropic's Messages API."""

    name = "anthropic"
    ends: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens"}
    _KINDS: Mapping[int, str] = {
        400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
        413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
    }  # fmt: skip

    def takes(self, path: str) -> bool:
        """See `Dialect`."""
        return path == "/v1/messages"

    def key_of(self, headers: Mapping[str, str]) -> str:
        """See `Dialect`."""
        return headers.get("x-api-key", "")

    def opening(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        message: dict[str, object] = {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": body.get("model", ""),
            "stop_reason": None, "stop_sequence": None,
        }  # fmt: skip
        if say.usage:
            message["usage"] = {"input_tokens": say.usage[0] - 10, "cache_read_input_tokens": 10, "output_tokens": 1}
        yield self._event({"type": "message_start", "message": message})
        block = {"type": "tool_use", "id": "t1", "name": "x", "input": {}} if self._tool(body) else _TEXT_BLOCK
        yield self._event({"type": "content_block_start", "index": 0, "content_block": block})
        yield self._event({"type": "ping"})

    def piece(self, text: str, say: Say, body: Mapping[str, Any]) -> bytes:
        """See `Dialect`."""
        del say
        delta = {"type": "text_delta", "text": text}
        if self._tool(body):
            delta = {"type": "input_json_delta", "partial_json": text}
        return self._event({"type": "content_block_delta", "index": 0, "delta": delta})

    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        yield self._event({"type": "content_block_stop", "index": 0})
        why = "tool_use" if self._tool(body) and say.finish == "stop" else self.end(say.finish)
        last: dict[str, object] = {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}}
        if say.usage:
            last["usage"] = {"output_tokens": say.usage[1]}
        yield self._event(last)
        yield self._event({"type": "message_stop"})

    def fault(self, fault: Fault) -> bytes:
        """See `Dialect`."""
        error = {"type": fault.kind or "overloaded_error", "message": fault.message}
        return self._event({"type": "error", "error": error})

    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """See `Dialect`."""
        kind = fail.code or self._KINDS.get(fail.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": fail.message}, "request_id": "req_1"}, {}

    @staticmethod
    def _tool(body: Mapping[str, Any]) -> bool:
        return (body.get("tool_choice") or {}).get("type") == "tool"

    @staticmethod
    def _event(data: Mapping[str, object]) -> bytes:
        return event(data, name=str(data["type"]))


_TEXT_BLOCK: Mapping[str, object] = {"type": "text", "text": ""}


class GeminiDialect(Dialect):
    """``streamGenerateContent`` of Gemini, with a key or, as `vertex`, on Vertex AI with a token."""

    name = "gemini"
    ends: Mapping[str, str] = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
    _KINDS: Mapping[int, str] = {
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
    }  # fmt: skip

    def __init__(self, *, vertex: bool = False) -> None:
        self._vertex = vertex
        self.name = "vertex" if vertex else "gemini"

    def takes(self, path: str) -> bool:
        """See `Dialect`."""
        path, _, query = path.partition("?")
        head = "/v1/projects/" if self._vertex else "/v1beta/models/"
        return path.startswith(head) and path.endswith(":streamGenerateContent") and query == "alt=sse"

    def key_of(self, headers: Mapping[str, str]) -> str:
        """See `Dialect`."""
        return super().key_of(headers) if self._vertex else headers.get("x-goog-api-key", "")

    def piece(self, text: str, say: Say, body: Mapping[str, Any]) -> bytes:
        """See `Dialect`."""
        del body
        return self._event([{"text": text}], say)

    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        del body
        yield self._event([{"text": ""}], say, finish=self.end(say.finish))

    def fault(self, fault: Fault) -> bytes:
        """See `Dialect`."""
        return event({"error": {"code": 503, "message": fault.message, "status": fault.kind or "UNAVAILABLE"}})

    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """See `Dialect`."""
        kind = fail.code or self._KINDS.get(fail.status, "UNKNOWN")
        return {"error": {"code": fail.status, "message": fail.message, "status": kind}}, {}

    @staticmethod
    def _event(parts: list[dict[str, str]], say: Say, *, finish: str = "") -> bytes:
        candidate: dict[str, object] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        data: dict[str, object] = {"candidates": [candidate], "modelVersion": "test-model"}
        if say.usage:
            given = say.usage[1] if finish else 1
            data["usageMetadata"] = {
                "promptTokenCount": say.usage[0],
                "candidatesTokenCount": given,
                "totalTokenCount": say.usage[0] + given,
            }
        return event(data)


class BedrockDialect(Dialect):
    """``ConverseStream`` of Amazon Bedrock, in the framing of AWS event streams."""

    name = "bedrock"
    content_type = "application/vnd.amazon.eventstream"
    ends: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens", "refusal": "guardrail_intervened"}
    _KINDS: Mapping[int, str] = {
        400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException",
        404: "ResourceNotFoundException",
        408: "ModelTimeoutException", 424: "ModelErrorException", 429: "ThrottlingException",
        500: "InternalServerException", 503: "ServiceUnavailableException",
    }  # fmt: skip

    def takes(self, path: str) -> bool:
        """See `Dialect`."""
        return path.startswith("/model/") and path.endswith("/converse-stream")

    def key_of(self, headers: Mapping[str, str]) -> str:
        """See `Dialect`: the id of the key that the request is signed with."""
        _, _, rest = headers.get("authorization", "").partition("Credential=")
        return rest.partition("/")[0]

    def opening(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        del say
        yield frame("messageStart", {"role": "assistant"})
        if self._tool(body):
            start = {"toolUse": {"toolUseId": "t1", "name": "x"}}
            yield frame("contentBlockStart", {"contentBlockIndex": 0, "start": start})

    def piece(self, text: str, say: Say, body: Mapping[str, Any]) -> bytes:
        """See `Dialect`."""
        del say
        delta: dict[str, object] = {"toolUse": {"input": text}} if self._tool(body) else {"text": text}
        return frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})

    def closing(self, say: Say, body: Mapping[str, Any]) -> Iterator[bytes]:
        """See `Dialect`."""
        del body
        yield frame("contentBlockStop", {"contentBlockIndex": 0})
        yield frame("messageStop", {"stopReason": self.end(say.finish)})
        if say.usage:
            usage = {"inputTokens": say.usage[0], "outputTokens": say.usage[1], "totalTokens": sum(say.usage)}
            yield frame("metadata", {"usage": usage, "metrics": {"latencyMs": 7}})

    def fault(self, fault: Fault) -> bytes:
        """See `Dialect`."""
        kind = fault.kind or "modelStreamErrorException"
        return frame(kind, {"message": fault.message}, message_type="exception")

    def failure(self, fail: Fail) -> tuple[Mapping[str, object], Mapping[str, str]]:
        """See `Dialect`."""
        kind = fail.code or self._KINDS.get(fail.status, "InternalServerException")
        return {"message": fail.message}, {"x-amzn-ErrorType": kind}

    @staticmethod
    def _tool(body: Mapping[str, Any]) -> bool:
        return "toolChoice" in (body.get("toolConfig") or {})


def frame(kind: str, payload: Mapping[str, object], *, message_type: str = "event") -> bytes:
    """A message of an AWS event stream: lengths and their CRC, headers, the payload as JSON, the CRC of it all."""
    names = {f":{message_type}-type": kind, ":content-type": JSON, ":message-type": message_type}
    headers = b"".join(_header(name, value) for name, value in names.items())
    data = json.dumps(payload, ensure_ascii=False).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + data
    return message + struct.pack(">I", zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    text = 7
    raw = value.encode()
    return bytes([len(name)]) + name.encode() + bytes([text]) + struct.pack(">H", len(raw)) + raw
