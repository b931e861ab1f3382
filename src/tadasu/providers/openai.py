"""Chat models behind any OpenAI-compatible address: OpenAI, DeepSeek, vLLM, Ollama, llama.cpp and others."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tadasu.core.usage import Call, Outcome, Stage, Tokens
from tadasu.errors import (
    ExtraMissing,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    TadasuError,
)
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.providers.http import deepest_cause, retry_after
from tadasu.providers.prices import is_local, price_of
from tadasu.providers.registry import ChatSettings

try:
    import openai
except ImportError as _error:
    raise ExtraMissing(feature="the chat provider openai", package="openai", extra="openai") from _error

_OWN_ADDRESS = "https://api.openai.com/v1"
_REFUSALS = frozenset({"content_filter", "refusal"})
# What a server may not know. Left out, or put in its newer form, once the server has said so.
_OPTIONS = ("max_tokens", "temperature", "stream_options")


class OpenAIChat:
    """A chat model that streams. One attempt a call: retries belong to the scheduler."""

    __slots__ = ("_client", "_loop", "_name", "_options", "_settings")

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        self._name = "openai" if not settings.base_url else settings.base_url
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._options = set(_OPTIONS)

    @property
    def id(self) -> str:
        """Provider and model, ``openai/gpt-…``."""
        return f"openai/{self._settings.model}"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        """The reply as it comes; the last delta carries the tokens and why the model stopped.

        The call is written into `ledger` whatever happens, also when the reader walks away.

        Raises:
            KeyMissing: the service is not local and the environment holds no key.
            ProviderUnreachable: no connection, a time-out, a server fault, a stream that broke off.
            ProviderLimited: 429; ``details["retry_after_s"]`` is the wait asked for in seconds, or None.
            ProviderRefused: the key, the model or the request was turned down, or the model refused the content.
            ProviderAnswerInvalid: nothing came, or not in the agreed form.
        """
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        tokens: Tokens | None = None
        outcome, fault, heard, finish = Outcome.CANCELLED, "", False, ""
        try:
            with self._faults():
                stream = await self._open(messages, max_tokens=max_tokens, temperature=temperature)
                async with stream:
                    async for chunk in stream:
                        tokens = _usage(chunk) or tokens
                        text, why = _said(chunk)
                        finish = why or finish
                        if text:
                            heard = True
                            yield ChatDelta(text=text)
            self._judge(heard, finish)
            outcome = Outcome.OK
            yield ChatDelta(tokens=tokens or Tokens(), finish="length" if finish == "length" else "stop")
        except TadasuError as error:
            outcome, fault = Outcome.FAILED, f"{error.code}: {error}"
            raise
        finally:
            price = price_of(tokens or (None if heard else Tokens()), self._settings)
            ledger.record(
                Call(
                    stage=stage,
                    provider="openai",
                    model=self._settings.model,
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    tokens=tokens or Tokens(),
                    pricing=price.pricing,
                    cost_usd=price.usd,
                    outcome=outcome,
                    error=fault,
                )
            )

    async def close(self) -> None:
        """Give back connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _open(self, messages: Sequence[Message], *, max_tokens: int, temperature: float) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # Connections belong to the event loop that opened them.
            self._client, self._loop = self._connect(), loop
            await asyncio.to_thread(price_of, Tokens(), self._settings)  # loads the price list off the event loop
        body: list[Any] = [{"role": message.role, "content": message.content} for message in messages]
        while True:
            options: dict[str, Any] = {}
            options["max_tokens" if "max_tokens" in self._options else "max_completion_tokens"] = max_tokens
            if "temperature" in self._options:
                options["temperature"] = temperature
            if "stream_options" in self._options:
                options["stream_options"] = {"include_usage": True}
            try:
                return await self._client.chat.completions.create(
                    model=self._settings.model, messages=body, stream=True, **options
                )
            except openai.BadRequestError as error:
                named = error.param or error.message
                unknown = next((option for option in _OPTIONS if option in self._options and option in named), None)
                if unknown is None:
                    raise
                self._options.discard(unknown)

    def _connect(self) -> openai.AsyncOpenAI:
        settings = self._settings
        key = os.environ.get(settings.key_variable, "").strip()
        if not key:
            if not is_local(settings.base_url):
                raise KeyMissing(provider=self._name, variable=settings.key_variable, setting="chat.key_variable")
            key = "none"
        return openai.AsyncOpenAI(
            api_key=key,
            base_url=settings.base_url or _OWN_ADDRESS,
            timeout=settings.timeout_s,
            max_retries=0,
            # A redirect would carry the key and the evidence to an address that nobody configured.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False, timeout=settings.timeout_s),
        )

    def _judge(self, heard: bool, finish: str) -> None:  # noqa: FBT001 - private, two facts of one reply
        if finish in _REFUSALS:
            raise ProviderRefused(provider=self._name, reason="the model declined to answer (content filter)")
        if not finish:
            raise ProviderUnreachable(provider=self._name, reason="the reply broke off")
        if not heard:
            reason = "the reply is empty, cut off at the token limit" if finish == "length" else "the reply is empty"
            raise ProviderAnswerInvalid(provider=self._name, reason=reason)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What goes wrong in the client, as errors of ours that name the provider and never the key."""
        try:
            yield
        except openai.APITimeoutError as error:
            reason = f"no answer within {self._settings.timeout_s:g} s"
            raise ProviderUnreachable(provider=self._name, reason=reason) from error
        except openai.APIConnectionError as error:
            raise ProviderUnreachable(provider=self._name, reason=deepest_cause(error)) from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIError as error:
            raise ProviderUnreachable(provider=self._name, reason=f"fault within the reply: {error.message}") from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            reason = f"not in the agreed form: {type(error).__name__}"
            raise ProviderAnswerInvalid(provider=self._name, reason=reason) from error
        except Exception as error:
            # Older clients let the faults of their HTTP library through in the middle of a stream.
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            raise ProviderUnreachable(provider=self._name, reason=deepest_cause(error)) from error

    def _refusal(self, error: openai.APIStatusError) -> ProviderError:
        status, reason = error.status_code, f"HTTP {error.status_code}: {_message(error)}"
        if status == 429 and error.code != "insufficient_quota":
            wait = retry_after(error.response.headers.get("retry-after"))
            return ProviderLimited(provider=self._name, reason=reason, retry_after_s=wait)
        if status in (408, 409) or status >= 500:
            return ProviderUnreachable(provider=self._name, reason=reason)
        if 300 <= status < 400:
            reason = f"HTTP {status}: it redirects, which is not followed"
        return ProviderRefused(provider=self._name, reason=reason, status=status)


def open_chat(settings: ChatSettings) -> OpenAIChat:
    """The plugin's entry: a chat model for `settings`. No network is touched before the first call."""
    return OpenAIChat(settings)


def _said(chunk: Any) -> tuple[str, str]:
    """The text of a chunk and its finish reason, either empty. Compatible servers leave out what the types promise."""
    choices = chunk.choices or ()
    if not choices:
        return "", ""
    delta = choices[0].delta
    text = (delta.content or "") if delta is not None else ""
    refused = bool(getattr(delta, "refusal", None))
    return text, "refusal" if refused else (choices[0].finish_reason or "")


def _usage(chunk: Any) -> Tokens | None:
    usage = chunk.usage
    return Tokens(input=usage.prompt_tokens or 0, output=usage.completion_tokens or 0) if usage else None


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(said or error.response.reason_phrase or "no reason given").split())[:200]
