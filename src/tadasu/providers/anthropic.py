"""Anthropic's Messages API, streamed, over our own HTTP client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

from tadasu.core.usage import Tokens
from tadasu.errors import ProviderRefused, ReplyMalformed
from tadasu.ports import ChatDelta, Message
from tadasu.providers.chat_calls import LENGTH, OVERFLOW, REFUSAL, STOP, StreamedChat, form_of, turns
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.event_stream import streamed_events
from tadasu.providers.http import JsonService, KeyForm
from tadasu.providers.presets import Structured
from tadasu.providers.registry import ChatSettings

ADDRESS: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"
_ENDS: Final = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "tool_use": STOP,
    "pause_turn": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": OVERFLOW,
    "refusal": REFUSAL,
}


class AnthropicWire:
    """The protocol: events from ``message_start`` to ``message_stop``, errors among them also after a status of 200."""

    def __init__(self, settings: ChatSettings) -> None:
        self._settings = settings
        base = (settings.base_url or ADDRESS).rstrip("/")
        address = f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"
        self._service = JsonService(
            address,
            key_variable=settings.key_variable,
            setting="chat.key_variable",
            key_form=KeyForm(header="x-api-key", prefix=""),
        )
        self._warm = True
        """Whether the model takes a temperature; some turn it down."""

    @property
    def name(self) -> str:
        """See `Wire`."""
        return self._service.name

    @property
    def missing_key(self) -> str:
        """See `Wire`."""
        return self._service.missing_key

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
        body = self._body(messages, max_tokens=max_tokens)
        while True:
            options = {"temperature": temperature} if self._warm else {}
            reply = self._read({**body, **options})
            try:
                async for delta in reply:
                    yield delta
            except ProviderRefused as error:
                if not (self._warm and error.details.get("status") == 400 and "temperature" in str(error)):
                    raise
                self._warm = False
            else:
                return
            finally:
                await reply.aclose()

    def _body(self, messages: Sequence[Message], *, max_tokens: int) -> dict[str, object]:
        system, said = turns(messages)
        body: dict[str, object] = {
            "model": self._settings.model,
            "max_tokens": max_tokens,
            "messages": [{"role": message.role, "content": message.content} for message in said],
            "stream": True,
        }
        if system:
            body["system"] = system
        asking = form_of(messages)
        if asking is not None and asking.form is not None and Structured.TOOL in self._settings.ways:
            form = asking.form
            tool = {"name": form.name, "description": "Takes the reply.", "input_schema": dict(form.schema)}
            body["tools"] = [tool]
            body["tool_choice"] = {"type": "tool", "name": form.name}
        return body

    async def _read(self, body: Mapping[str, object]) -> AsyncGenerator[ChatDelta, None]:
        model, taken, begun = self._settings.model, _Taken(), False
        stream = streamed_events(
            self._service,
            body,
            model=model,
            idle_s=self._settings.timeout_s,
            headers={"anthropic-version": VERSION},
        )
        try:
            async for event in stream:
                match event.get("type"):
                    case "message_start":
                        begun = True
                        taken.add(_part(event, "message").get("usage"))
                        yield ChatDelta(tokens=taken.tokens)
                    case "content_block_delta":
                        delta = _part(event, "delta")
                        text = delta.get("text") if delta.get("type") == "text_delta" else delta.get("partial_json")
                        if isinstance(text, str) and text:
                            yield ChatDelta(text=text)
                    case "message_delta":
                        taken.add(event.get("usage"))
                        why = _part(event, "delta").get("stop_reason")
                        if why:
                            yield ChatDelta(tokens=taken.tokens, finish=_ENDS.get(str(why), str(why)))
                    case "error":
                        error = _part(event, "error")
                        said, kind = str(error.get("message") or ""), str(error.get("type") or "")
                        raise fault_of(
                            self.name, model, message=self._service.without_key(said), kind=kind, begun=begun
                        )
        except (TypeError, AttributeError, ValueError) as error:
            reason = f"an event has another form: {type(error).__name__}"
            raise ReplyMalformed(provider=self.name, reason=reason) from error
        finally:
            await stream.aclose()


class _Taken:
    """What the events say so far of tokens: later ones know better, and may leave out what did not change."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, usage: object) -> None:
        """Take the counts of an event in."""
        if isinstance(usage, Mapping):
            self._counts |= {name: count for name, count in usage.items() if isinstance(count, int)}

    @property
    def tokens(self) -> Tokens | None:
        """All that went in, from caches too, and what came out; None where nothing was said."""
        if not self._counts:
            return None
        came_in = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return Tokens(sum(self._counts.get(name, 0) for name in came_in), self._counts.get("output_tokens", 0))


def _part(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = event.get(name)
    return part if isinstance(part, Mapping) else {}


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings`. No network is touched before the first call."""
    return StreamedChat(AnthropicWire(settings), settings)
