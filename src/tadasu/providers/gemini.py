"""Google's Gemini models, streamed, over our own HTTP client: with a key, or on Vertex AI with an account's token."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final, Protocol
from urllib.parse import quote

from tadasu.core.usage import Tokens
from tadasu.errors import ContentRefused, ReplyMalformed, SettingsInvalid
from tadasu.ports import ChatDelta, Message
from tadasu.providers.chat_calls import LENGTH, REFUSAL, STOP, StreamedChat, form_of, turns
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.event_stream import kind_of, retry_delay, streamed_events
from tadasu.providers.http import JsonService, KeyForm
from tadasu.providers.presets import Structured
from tadasu.providers.registry import ChatSettings

ADDRESS: Final = "https://generativelanguage.googleapis.com"
_ENDS: Final = {
    "STOP": STOP,
    "MAX_TOKENS": LENGTH,
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"),
        REFUSAL,
    ),
}


class TokenSource(Protocol):
    """Makes the token of the machine's account."""

    async def token(self) -> str:
        """One that is valid now; raises KeyMissing or ProviderError."""
        ...

    @property
    def missing(self) -> str:
        """The environment variable that could name the account, where none does; else empty."""
        ...


class GeminiWire:
    """The protocol: each event is a part of a ``GenerateContentResponse``.

    Args:
        settings: the model.
        address: of ``streamGenerateContent`` for that model.
        tokens: makes the bearer token; None: the key stands in the environment.
    """

    def __init__(self, settings: ChatSettings, *, address: str, tokens: TokenSource | None = None) -> None:
        self._settings = settings
        self._tokens = tokens
        with_key = KeyForm(header="x-goog-api-key", prefix="")
        self._service = JsonService(
            f"{address}?alt=sse",
            key_variable="" if tokens is not None else settings.key_variable,
            setting="chat.key_variable",
            key_form=with_key if tokens is None else KeyForm(),
        )

    @property
    def name(self) -> str:
        """See `Wire`."""
        return self._service.name

    @property
    def missing_key(self) -> str:
        """See `Wire`."""
        return self._service.missing_key if self._tokens is None else self._tokens.missing

    async def window(self) -> int | None:
        """The service is not asked: the price list knows."""
        return None

    async def close(self) -> None:
        """See `Wire`."""
        await self._service.close()

    async def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[ChatDelta, None]:
        """See `Wire`."""
        if self._tokens is not None:
            self._service.use_key(await self._tokens.token())
        stream = streamed_events(
            self._service,
            self._body(messages, max_tokens=max_tokens, temperature=temperature),
            model=self._settings.model,
            idle_s=self._settings.timeout_s,
        )
        begun = False
        try:
            async for event in stream:
                if error := event.get("error"):
                    raise self._fault(error, begun=begun)
                begun = True
                for delta in self._deltas(event):
                    yield delta
        except (TypeError, AttributeError, ValueError, LookupError) as error:
            reason = f"an event has another form: {type(error).__name__}"
            raise ReplyMalformed(provider=self.name, reason=reason) from error
        finally:
            await stream.aclose()

    def _deltas(self, event: Mapping[str, Any]) -> list[ChatDelta]:
        blocked = (event.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            raise ContentRefused(provider=self.name, reason=f"the question was blocked: {str(blocked)[:60]}")
        tokens = _tokens(event.get("usageMetadata"))
        found = [ChatDelta(tokens=tokens)] if tokens is not None else []
        for candidate in (event.get("candidates") or ())[:1]:
            parts = (candidate.get("content") or {}).get("parts") or ()
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            if text:
                found.append(ChatDelta(text=text))
            if why := candidate.get("finishReason"):
                found.append(ChatDelta(finish=_ENDS.get(str(why), str(why))))
        return found

    def _fault(self, error: object, *, begun: bool) -> Exception:
        said = str(error.get("message") or "") if isinstance(error, Mapping) else str(error)
        code = error.get("code") if isinstance(error, Mapping) else None
        return fault_of(
            self.name,
            self._settings.model,
            message=self._service.without_key(said),
            status=None if begun or not isinstance(code, int) else code,
            kind=kind_of(error),
            retry_after_s=retry_delay(error),
            begun=begun,
        )

    def _body(self, messages: Sequence[Message], *, max_tokens: int, temperature: float) -> dict[str, object]:
        system, said = turns(messages)
        config: dict[str, object] = {"maxOutputTokens": max_tokens, "temperature": temperature}
        asking = form_of(messages)
        if asking is not None and asking.form is not None and self._settings.ways:
            config["responseMimeType"] = "application/json"
            if Structured.SCHEMA in self._settings.ways:
                config["responseSchema"] = _openapi(asking.form.schema)
        body: dict[str, object] = {
            "contents": [
                {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.content}]}
                for message in said
            ],
            "generationConfig": config,
        }
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        return body


def _openapi(schema: object) -> object:
    """A JSON schema in the service's dialect: types in capitals, and no ``additionalProperties``."""
    if isinstance(schema, Mapping):
        return {
            name: str(value).upper()
            if name == "type" and isinstance(value, str)
            else {key: _openapi(one) for key, one in value.items()}
            if name == "properties" and isinstance(value, Mapping)
            else _openapi(value)
            for name, value in schema.items()
            if name not in {"additionalProperties", "$schema", "title"}
        }
    if isinstance(schema, (list, tuple)):
        return [_openapi(one) for one in schema]
    return schema


def _tokens(usage: object) -> Tokens | None:
    """What was counted: thoughts are paid for as part of the reply."""
    if not isinstance(usage, Mapping):
        return None
    counts = {name: count for name, count in usage.items() if isinstance(count, int)}
    if "promptTokenCount" not in counts:
        return None
    return Tokens(
        counts["promptTokenCount"], counts.get("candidatesTokenCount", 0) + counts.get("thoughtsTokenCount", 0)
    )


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings`, with a key. No network is touched before the first call."""
    base = (settings.base_url or ADDRESS).rstrip("/")
    base = base if base.endswith(("/v1", "/v1beta")) else f"{base}/v1beta"
    model = quote(settings.model.removeprefix("models/"), safe="")
    address = f"{base}/models/{model}:streamGenerateContent"
    return StreamedChat(GeminiWire(settings, address=address), settings)


def vertex_address(settings: ChatSettings) -> str:
    """Where Vertex AI answers for the model, the project and the region of `settings` or of the environment.

    Raises:
        SettingsInvalid: neither says which project, or which region.
    """
    project = settings.project or os.environ.get("GOOGLE_CLOUD_PROJECT", "").strip()
    region = settings.region or os.environ.get("GOOGLE_CLOUD_LOCATION", "").strip()
    for key, value, variable in (
        ("chat.project", project, "GOOGLE_CLOUD_PROJECT"),
        ("chat.region", region, "GOOGLE_CLOUD_LOCATION"),
    ):
        if not value:
            reason = f"is not set, nor is the environment variable {variable}; Vertex AI needs it"
            raise SettingsInvalid(where="tadasu.toml", key=key, reason=reason)
    host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
    base = settings.base_url.rstrip("/") or f"https://{host}"
    base = base if base.endswith(("/v1", "/v1beta1")) else f"{base}/v1"
    where = f"projects/{quote(project, safe='')}/locations/{quote(region, safe='')}"
    model = settings.model if "/" in settings.model else f"publishers/google/models/{settings.model}"
    return f"{base}/{where}/{quote(model, safe='/')}:streamGenerateContent"
