"""Does the chat service answer, take the key and know the model? One request that costs nothing."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from tadasu.app.findings import Finding, ok, warning
from tadasu.errors import ProviderRefused, ProviderUnreachable, SettingsInvalid

_OWN_ADDRESS = "https://api.openai.com/v1"
_LARGEST_REPLY = 5_000_000


def ask_for_models(base_url: str, model: str, key: str, *, timeout: float = 5.0) -> Finding:
    """List the models at `base_url` (empty: OpenAI's own) and look for `model`.

    Raises:
        SettingsInvalid: the address is none.
        ProviderUnreachable: nothing answers within `timeout` seconds, or the service has a fault.
        ProviderRefused: the key is not accepted.
    """
    address = urlsplit(base_url or _OWN_ADDRESS)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise SettingsInvalid(where="tadasu.toml", key="chat.base_url", reason="is no http(s) address")
    status, names = _models(address, key, timeout=timeout)
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


def _models(address: SplitResult, key: str, *, timeout: float) -> tuple[int, frozenset[str]]:
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=timeout)
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        connection.request("GET", f"{address.path.rstrip('/')}/models", headers=headers)
        response = connection.getresponse()
        reply = response.read(_LARGEST_REPLY)
    except (OSError, HTTPException) as problem:
        raise ProviderUnreachable(
            provider=f"{address.scheme}://{address.netloc}", reason=str(problem) or type(problem).__name__
        ) from problem
    finally:
        connection.close()
    try:
        rows = json.loads(reply).get("data", [])
        return response.status, frozenset(row["id"] for row in rows if isinstance(row.get("id"), str))
    except (ValueError, AttributeError, TypeError, KeyError):
        return response.status, frozenset()
