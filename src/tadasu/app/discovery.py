"""What `tadasu init` finds by itself: keys in the environment (names only) and chat servers on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException

from tadasu.providers.presets import preset_of

OLLAMA_PORT = 11434
LLAMA_CPP_PORT = 8080
TIMEOUT_SECONDS = 0.3
_LARGEST_REPLY = 1_000_000


@dataclass(frozen=True, slots=True)
class KnownKey:
    """An environment variable that usually holds a key, and the settings that would use it."""

    variable: str
    what: str
    settings: Mapping[str, str]


_CHAT = "chat.provider"
KNOWN_KEYS = (
    KnownKey("OPENAI_API_KEY", "OpenAI", {_CHAT: "openai", "chat.key_variable": "OPENAI_API_KEY"}),
    *(
        KnownKey(preset.key_variable, preset.title, {_CHAT: preset.name, "chat.key_variable": preset.key_variable})
        for preset in map(preset_of, ("deepseek", "holysheep", "anthropic", "gemini"))
    ),
    KnownKey(
        "OPENROUTER_API_KEY",
        "OpenRouter",
        {_CHAT: "openai", "chat.base_url": "https://openrouter.ai/api/v1", "chat.key_variable": "OPENROUTER_API_KEY"},
    ),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something found that settings could use.

    `settings` maps ``section.name`` to a value; `models` are the names that a server offers, nothing for a key. Of a
    key only the variable's name is ever read into this object.
    """

    what: str
    where: str
    settings: Mapping[str, str]
    models: tuple[str, ...] = ()


def find_keys(environment: Mapping[str, str]) -> tuple[Proposal, ...]:
    """The known keys that `environment` holds, by name."""
    return tuple(
        Proposal(what=known.what, where=f"${known.variable}", settings=known.settings)
        for known in KNOWN_KEYS
        if environment.get(known.variable, "").strip()
    )


def find_servers(
    *,
    host: str = "127.0.0.1",
    ollama_port: int = OLLAMA_PORT,
    llama_cpp_port: int = LLAMA_CPP_PORT,
    timeout: float = TIMEOUT_SECONDS,
) -> tuple[Proposal, ...]:
    """Chat servers that answer on this machine within `timeout` seconds each; asked at the same time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        ollama = pool.submit(_get_json, host, ollama_port, "/api/tags", timeout)
        llama_cpp = pool.submit(_get_json, host, llama_cpp_port, "/v1/models", timeout)
        found = (
            _proposal("Ollama", "openai", host, ollama_port, _names(ollama.result(), "models", "name")),
            _proposal("llama.cpp", "llamacpp", host, llama_cpp_port, _names(llama_cpp.result(), "data", "id")),
        )
    return tuple(proposal for proposal in found if proposal is not None)


def _proposal(what: str, provider: str, host: str, port: int, models: tuple[str, ...] | None) -> Proposal | None:
    if models is None:
        return None
    address = f"http://{host}:{port}/v1"
    settings = {_CHAT: provider, "chat.base_url": address, "chat.key_variable": ""}
    if models:
        settings["chat.model"] = models[0]
    return Proposal(what=what, where=address, settings=settings, models=models)


def _names(reply: object, collection: str, key: str) -> tuple[str, ...] | None:
    """Names of the models in `reply`; None where it is not the reply of such a server."""
    if not isinstance(reply, dict) or not isinstance(reply.get(collection), list):
        return None
    rows = reply[collection]
    return tuple(row[key] for row in rows if isinstance(row, dict) and isinstance(row.get(key), str))


def _get_json(host: str, port: int, path: str, timeout: float) -> object:
    """The JSON at an address of this machine, None for whatever goes wrong: nobody promised that there is a server."""
    connection = HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return None
        return json.loads(response.read(_LARGEST_REPLY))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
