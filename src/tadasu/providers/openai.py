"""Chat models behind any OpenAI-compatible address: OpenAI, DeepSeek, HolySheep, vLLM, Ollama and others."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from tadasu.core.usage import Tokens
from tadasu.errors import (
    ContentRefused,
    ExtraMissing,
    KeyMissing,
    ProviderError,
    ProviderUnreachable,
    ReplyMalformed,
    SettingsInvalid,
)
from tadasu.ports import ChatDelta, JsonForm, Message
from tadasu.providers.chat_calls import LENGTH, REFUSAL, STOP, StreamedChat, form_of
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.event_stream import kind_of
from tadasu.providers.http import deepest_cause, retry_after
from tadasu.providers.presets import Structured, preset_of
from tadasu.providers.prices import is_local
from tadasu.providers.registry import ChatSettings

try:
    import openai
except ImportError as _error:
    raise ExtraMissing(feature="the chat provider openai", package="openai", extra="openai") from _error

_OWN_ADDRESS: Final = "https://api.openai.com/v1"
_ENDS: Final = {
    "length": LENGTH,
    "max_tokens": LENGTH,
    "content_filter": REFUSAL,
    "refusal": REFUSAL,
}
"""Other words mean that the model stopped by itself: compatible servers have many."""
_OVERLOADED: Final = "insufficient_system_resource"
# What a server may not know. Left out, or put in its newer form, once the server has said so.
_OPTIONS: Final = ("max_tokens", "temperature", "stream_options")
_OF_FORMS: Final = ("response_format", "json_schema", "json_object", "tool_choice", "tools")


class OpenAIWire:
    """The protocol, through the vendor's client, which makes one attempt."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._base_url = settings.base_url or preset_of(settings.provider).base_url
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._options = set(_OPTIONS)
        self._ways = list(settings.ways)
        self._key = ""

    @property
    def name(self) -> str:
        """See `Wire`."""
        return self._base_url or self._settings.provider

    @property
    def missing_key(self) -> str:
        """See `Wire`."""
        variable = self._settings.key_variable
        wanted = bool(variable) and not is_local(self._base_url)
        return variable if wanted and not os.environ.get(variable, "").strip() else ""

    async def window(self) -> int | None:
        """The protocol does not tell it."""
        return None

    async def close(self) -> None:
        """See `Wire`."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatDelta, None]:
        """See `Wire`."""
        begun = False
        with self._faults(lambda: begun):
            stream = await self._open(messages, max_tokens=max_tokens, temperature=temperature)
            async with stream:
                kind = stream.response.headers.get("content-type", "")
                if "html" in kind:
                    raise ReplyMalformed(provider=self.name, reason="a web page came, and no reply")
                if "json" in kind:
                    begun = True
                    for delta in self._whole(await stream.response.aread()):
                        yield delta
                    return
                async for chunk in stream:
                    begun = True
                    if tokens := self.counted(chunk):
                        yield ChatDelta(tokens=tokens)
                    text, why = self._said(chunk)
                    if text:
                        yield ChatDelta(text=text)
                    if why:
                        yield ChatDelta(finish=why)

    def counted(self, chunk: Any) -> Tokens | None:
        """The tokens that a chunk tells of."""
        usage = chunk.usage
        return Tokens(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else None

    async def _open(self, messages: Sequence[Message], *, max_tokens: int, temperature: float) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # Connections belong to the event loop that opened them.
            self._client, self._loop = self._connect(), loop
        body: list[Any] = [{"role": message.role, "content": message.content} for message in messages]
        asking = form_of(messages)
        form = asking.form if asking is not None else None
        while True:
            options: dict[str, Any] = {}
            options["max_tokens" if "max_tokens" in self._options else "max_completion_tokens"] = max_tokens
            if "temperature" in self._options:
                options["temperature"] = temperature
            if "stream_options" in self._options:
                options["stream_options"] = {"include_usage": True}
            if form is not None and self._ways:
                options |= _asked(form, self._ways[0])
            try:
                return await self._client.chat.completions.create(
                    model=self._settings.model, messages=body, stream=True, **options
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._learnt(f"{error.param or ''} {error.message}", formed=form is not None):
                    raise

    def _learnt(self, named: str, *, formed: bool) -> bool:
        """Whether the refusal names something that can be left out, which it is from now on."""
        if formed and self._ways and any(word in named for word in _OF_FORMS):
            del self._ways[0]
            return True
        unknown = next((option for option in _OPTIONS if option in self._options and option in named), None)
        if unknown is None:
            return False
        self._options.discard(unknown)
        return True

    def _connect(self) -> openai.AsyncOpenAI:
        settings, local = self._settings, is_local(self._base_url)
        key = os.environ.get(settings.key_variable, "").strip() if settings.key_variable else ""
        if not key and settings.key_variable and not local:
            raise KeyMissing(
                provider=self.name, variable=settings.key_variable, setting="chat.key_variable", billable=False
            )
        if not (key.isascii() and key.isprintable()):
            reason = "holds letters that no key has (a copied dash, a line break?); copy the key anew"
            raise SettingsInvalid(where="environment", key=settings.key_variable, reason=reason, billable=False)
        self._key = key
        return openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self._base_url or _OWN_ADDRESS,
            timeout=settings.timeout_s,
            max_retries=0,
            # A redirect would carry the key and the evidence to an address that nobody configured.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False, timeout=settings.timeout_s),
        )

    def _said(self, chunk: Any) -> tuple[str, str]:
        """The text of a chunk and how the reply ended, either empty. Servers leave out what the types promise."""
        choices = chunk.choices or ()
        if not choices:
            return "", ""
        delta = choices[0].delta
        text = (delta.content or "") if delta is not None else ""
        calls = (delta.tool_calls or ()) if delta is not None else ()
        text += "".join((call.function.arguments or "") for call in calls if call.function is not None)
        if getattr(delta, "refusal", None):
            return text, REFUSAL
        return text, self._end(choices[0].finish_reason)

    def _end(self, why: object) -> str:
        if not why:
            return ""
        if why == _OVERLOADED:
            raise ProviderUnreachable(provider=self.name, reason="it ran out of resources in the middle of the reply")
        return _ENDS.get(str(why), STOP)

    def _whole(self, data: bytes) -> Iterator[ChatDelta]:
        """A reply that came in one piece though a stream was asked for; or an error with a status of 200."""
        body = json.loads(data)
        if error := body.get("error"):
            raise self._fault(error, None)
        usage = body.get("usage")
        if usage:
            yield ChatDelta(tokens=Tokens(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0))
        choice = body["choices"][0]
        message = choice["message"]
        calls = "".join(call["function"]["arguments"] for call in message.get("tool_calls") or ())
        text = (message.get("content") or "") + calls
        if message.get("refusal"):
            raise ContentRefused(provider=self.name, reason="the model declined")
        if text:
            yield ChatDelta(text=text)
        yield ChatDelta(finish=self._end(choice.get("finish_reason") or "stop"))

    @contextmanager
    def _faults(self, begun: Any) -> Iterator[None]:
        """What goes wrong in the client, as errors of ours that name the provider and never the key."""
        try:
            yield
        except openai.APITimeoutError as error:
            reason = f"no answer within {self._settings.timeout_s:g} s"
            raise ProviderUnreachable(provider=self.name, reason=reason) from error
        except openai.APIConnectionError as error:
            raise ProviderUnreachable(provider=self.name, reason=deepest_cause(error), billable=begun()) from error
        except openai.APIStatusError as error:
            raise self._fault(error.body, error) from error
        except openai.APIError as error:
            raise self._fault(error.body or error.message, None) from error
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            reason = f"not in the agreed form: {type(error).__name__}"
            raise ReplyMalformed(provider=self.name, reason=reason) from error
        except Exception as error:
            # Older clients let the faults of their HTTP library through in the middle of a stream.
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            raise ProviderUnreachable(provider=self.name, reason=deepest_cause(error)) from error

    def _fault(self, body: object, error: openai.APIStatusError | None) -> ProviderError:
        inner = body.get("error", body) if isinstance(body, Mapping) else body
        said = inner.get("message") if isinstance(inner, Mapping) else inner
        if not said and error is not None:
            said = error.response.reason_phrase
        message = str(said or "")
        return fault_of(
            self.name,
            self._settings.model,
            message=message.replace(self._key, "…") if self._key else message,
            status=None if error is None else error.status_code,
            kind=kind_of(inner),
            retry_after_s=None if error is None else retry_after(error.response.headers.get("retry-after")),
            begun=error is None,
        )


def _asked(form: JsonForm, way: Structured) -> dict[str, Any]:
    """The options that ask for `form` in that `way`."""
    match way:
        case Structured.SCHEMA:
            schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case Structured.TOOL:
            function = {"name": form.name, "description": "Takes the reply.", "parameters": dict(form.schema)}
            choice = {"type": "function", "function": {"name": form.name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case Structured.MODE:
            return {"response_format": {"type": "json_object"}}
        case _:
            return {}


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings`. No network is touched before the first call."""
    return StreamedChat(OpenAIWire(settings), settings)
