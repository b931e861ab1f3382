"""llama.cpp's server: the OpenAI protocol, without a key, with a window that the server itself knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from tadasu.core.usage import Tokens
from tadasu.errors import TadasuError
from tadasu.providers.chat_calls import StreamedChat
from tadasu.providers.http import JsonService
from tadasu.providers.openai import OpenAIWire
from tadasu.providers.presets import preset_of
from tadasu.providers.registry import ChatSettings

_ASK_S: Final = 3.0


class LlamaCppWire(OpenAIWire):
    """What differs: ``/props`` tells the window of one slot, and ``timings`` the tokens where the usage is left out."""

    def __init__(self, settings: ChatSettings) -> None:
        super().__init__(settings)
        root = settings.base_url.rstrip("/").removesuffix("/v1")
        self._props = JsonService(f"{root}/props", key_variable=settings.key_variable, setting="chat.key_variable")
        self._slot: int | None = None

    async def window(self) -> int | None:
        """Tokens of one slot; None where the server does not answer or does not say."""
        if self._slot is None:
            try:
                told = await self._props.get({}, timeout_s=_ASK_S)
            except TadasuError:
                return None  # the call itself says what is wrong
            self._slot = _slot(told)
        return self._slot

    async def close(self) -> None:
        """See `Wire`."""
        await super().close()
        await self._props.close()

    def counted(self, chunk: Any) -> Tokens | None:
        """The usage, else what the server says of its timings."""
        return super().counted(chunk) or _timed(getattr(chunk, "timings", None))


def _slot(told: object) -> int | None:
    if not isinstance(told, Mapping):
        return None
    settings = told.get("default_generation_settings")
    size = settings.get("n_ctx") if isinstance(settings, Mapping) else told.get("n_ctx")
    return size if isinstance(size, int) and size > 0 else None


def _timed(timings: object) -> Tokens | None:
    if not isinstance(timings, Mapping):
        return None
    counts = {name: int(count) for name, count in timings.items() if name.endswith("_n")}
    if "prompt_n" not in counts:
        return None
    return Tokens(counts["prompt_n"] + counts.get("cache_n", 0), counts.get("predicted_n", 0))


def open_chat(settings: ChatSettings) -> StreamedChat:
    """The plugin's entry: a chat model for `settings`. No network is touched before the first call."""
    base = settings.base_url.rstrip("/") or preset_of("llamacpp").base_url
    settings = replace(settings, base_url=base if urlsplit(base).path else f"{base}/v1")
    return StreamedChat(LlamaCppWire(settings), settings)
