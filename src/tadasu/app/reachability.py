"""Does the chat service answer, take the key and know the model? One request that costs nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tadasu.app.findings import Finding, ok, warning
from tadasu.errors import ProviderRefused, ProviderUnreachable, SettingsInvalid

_LARGEST_REPLY = 5_000_000


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a service is asked for its models: where, with which path, and with what in the headers."""

    address: str = "https://api.openai.com/v1"
    path: str = "/models"
    version: str = ""
    header: str = "Authorization"
    prefix: str = "Bearer "
    others: tuple[tuple[str, str], ...] = ()


_MANNERS = {
    "anthropic": _Manner(
        "https://api.anthropic.com",
        "/models?limit=1000",
        "/v1",
        "x-api-key",
        "",
        (("anthropic-version", "2023-06-01"),),
    ),
    "gemini": _Manner(
        "https://generativelanguage.googleapis.com", "/models?pageSize=1000", "/v1beta", "x-goog-api-key", ""
    ),
}


def ask_for_models(base_url: str, model: str, key: str, *, provider: str = "openai", timeout: float = 5.0) -> Finding:
    """List the models at `base_url` (empty: the provider's own) and look for `model`.

    Raises:
        SettingsInvalid: the address is none.
        ProviderUnreachable: nothing answers within `timeout` seconds, or the service has a fault.
        ProviderRefused: the key is not accepted.
    """
    manner = _MANNERS.get(provider, _Manner())
    address = urlsplit(_addressed(base_url or manner.address, manner))
    if address.scheme not in ("http", "https") or not address.hostname:
        raise SettingsInvalid(where="tadasu.toml", key="chat.base_url", reason="is no http(s) address")
    status, names = _models(address, key, manner, timeout=timeout)
    where = f"{address.scheme}://{address.netloc}"
    if status in (401, 403):
        raise ProviderRefused(provider=where, reason=f"HTTP {status}: the key is not accepted")
    if status >= 500:
        raise ProviderUnreachable(provider=where, reason=f"HTTP {status}")
    if names and model not in names:
        few = ", ".join(sorted(names)[:10])
        return warning(
            "reachable", "{where} answers, but does not list the model {name}.", "It lists: {few}.",
            where=where, name=model, few=few,
        )  # fmt: skip
    return ok("reachable", "{where} answers.", where=where)


def _addressed(base_url: str, manner: _Manner) -> str:
    base = base_url.rstrip("/")
    versioned = not manner.version or base.endswith(("/v1", "/v1beta"))
    return base if versioned else f"{base}{manner.version}"


def _models(address: SplitResult, key: str, manner: _Manner, *, timeout: float) -> tuple[int, frozenset[str]]:
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=timeout)
    headers = {"Accept": "application/json", **dict(manner.others)}
    if key:
        headers[manner.header] = f"{manner.prefix}{key}"
    try:
        connection.request("GET", f"{address.path.rstrip('/')}{manner.path}", headers=headers)
        response = connection.getresponse()
        reply = response.read(_LARGEST_REPLY)
    except (OSError, HTTPException) as problem:
        raise ProviderUnreachable(
            provider=f"{address.scheme}://{address.netloc}", reason=str(problem) or type(problem).__name__
        ) from problem
    finally:
        connection.close()
    try:
        return response.status, frozenset(_names(json.loads(reply)))
    except (ValueError, AttributeError, TypeError, KeyError):
        return response.status, frozenset()


def _names(told: Mapping[str, Any]) -> Iterator[str]:
    """The names in a list of models, in the form of OpenAI and Anthropic, or in that of Gemini."""
    for row in told.get("data") or told.get("models") or ():
        name = row.get("id") or row.get("name")
        if isinstance(name, str):
            yield name.removeprefix("models/")
