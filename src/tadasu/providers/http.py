"""JSON over HTTP to one service, with every fault named. The HTTP client is imported in this file only."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote, quote_plus, urlencode, urlsplit

import httpx2

from tadasu.errors import (
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    SettingsInvalid,
)
from tadasu.providers.prices import is_local
from tadasu.providers.text_lines import Lines

MOST_BYTES = 8 * 2**20
_CLOSED = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
_UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True)
class KeyForm:
    """Where a service wants its key: behind `prefix` in `header`, or, where `parameter` is not empty, in the query."""

    header: str = "authorization"
    prefix: str = "Bearer "
    parameter: str = ""


BEARER = KeyForm()


class HttpRefusal(Exception):
    """A service that streams answered with another status than 200: who knows its words makes an error of it.

    `said` is what the body says in any of the usual forms, `data` the body, `retry_after_s` the wait asked for.
    """

    def __init__(self, status: int, data: bytes, retry_after_s: float | None, said: str) -> None:
        super().__init__(f"HTTP {status}: {said}")
        self.status = status
        self.data = data
        self.retry_after_s = retry_after_s
        self.said = said


_under_way: ContextVar[bool] = ContextVar("a call of ours is under way", default=False)


class _WithoutQueries(logging.Filter):
    """The client logs whole addresses, and ours hold keys and questions behind the question mark."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _under_way.get() and isinstance(record.args, tuple):
            record.args = tuple(
                argument.copy_with(query=None) if isinstance(argument, httpx2.URL) else argument
                for argument in record.args
            )
        return True


_WITHOUT_QUERIES = _WithoutQueries()


class JsonService:
    """One address that takes JSON by POST or a query by GET, and answers in JSON.

    One attempt a call; connections are kept and reused.

    Args:
        url: whom to ask.
        key_variable: environment variable with the key, read at the first call; empty: none is sent.
        setting: the setting that names `key_variable`, and the one of the address beside it, for errors.
        most_bytes: longer replies are broken off.
        key_form: where the key is put.

    Raises:
        SettingsInvalid: `url` is no http(s) address, or holds a user name or password.
    """

    def __init__(
        self, url: str, *, key_variable: str, setting: str, most_bytes: int = MOST_BYTES, key_form: KeyForm = BEARER
    ) -> None:
        self.name = _checked(url, setting=f"{setting.rpartition('.')[0]}.base_url")
        self._url = url
        self._key_variable = key_variable
        self._setting = setting
        self._most_bytes = most_bytes
        self._key_form = key_form
        self._key = ""
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()

    @property
    def missing_key(self) -> str:
        """The environment variable that has to hold a key and does not; empty where nothing is missing."""
        wanted = bool(self._key_variable) and not is_local(self._url)
        return self._key_variable if wanted and not os.environ.get(self._key_variable, "").strip() else ""

    async def post(self, body: Mapping[str, object], *, timeout_s: float) -> object:
        """The reply to `body` as parsed JSON, within `timeout_s` seconds from the first byte sent to the last received.

        Raises one of the errors below; ``details["billable"]`` says whether the service may have done the work, and
        ``details["dropped"]`` that it closed the connection before it answered.

        Raises:
            KeyMissing: the environment lacks the key, and the service is not on this machine.
            ProviderUnreachable: no connection, a time-out, a server fault, a reply that broke off.
            ProviderLimited: 429; ``details["retry_after_s"]`` is the wait asked for in seconds, or None.
            ProviderRefused: the key, the model or the request was turned down; ``details["status"]``.
            ProviderAnswerInvalid: the reply is too long or no JSON.
        """
        # Half a character pair has no bytes in UTF-8; a question mark keeps all offsets.
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return await self._exchange({}, content, timeout_s=timeout_s)

    async def get(self, parameters: Mapping[str, str], *, timeout_s: float) -> object:
        """The reply to a query of `parameters`, by GET; see `post`."""
        return await self._exchange(parameters, None, timeout_s=timeout_s)

    async def _exchange(self, parameters: Mapping[str, str], content: bytes | None, *, timeout_s: float) -> object:
        status, answered = 0, False
        client = await self._open()
        method = "GET" if content is None else "POST"
        address, headers = self._address(parameters), self._headers()
        under_way = _under_way.set(True)
        try:
            async with asyncio.timeout(timeout_s):
                async with client.stream(method, address, content=content, headers=headers) as response:
                    status, answered = response.status_code, True
                    data = await self._read(response)
        except (TimeoutError, httpx2.TimeoutException) as error:
            billable = not isinstance(error, _UNSENT)
            raise self._unreachable(f"no answer within {timeout_s:g} s", billable=billable) from error
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            dropped = isinstance(error, _CLOSED) and not answered
            reason = "the reply broke off" if answered else deepest_cause(error)
            raise self._unreachable(reason, billable=not isinstance(error, _UNSENT), dropped=dropped) from error
        finally:
            _under_way.reset(under_way)
        if status != 200:
            raise self._refusal(status, data, response.headers.get("retry-after"))
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ProviderAnswerInvalid(provider=self.name, reason="the reply is no JSON", billable=True) from error

    async def lines(
        self, body: Mapping[str, object], *, idle_s: float, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[str, None]:
        """The lines of the reply to `body` as they come, without their ends; closing it closes the connection.

        No more than `idle_s` seconds pass between two pieces of the reply, nor before the first. Raises as `post` does,
        of refusals a `HttpRefusal`; ProviderAnswerInvalid only for a line that is too long.
        """
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        client = await self._open()
        sent = {**self._headers(), "accept": "text/event-stream", **(headers or {})}
        request = client.build_request("POST", self._url, content=content, headers=sent, timeout=idle_s)
        begun = False
        try:
            response = await client.send(request, stream=True)
            try:
                if response.status_code != 200:
                    data = await self._read(response)
                    wait = retry_after(response.headers.get("retry-after"))
                    raise HttpRefusal(response.status_code, data, wait, _message(data, hide=self.without_key))
                begun = True
                lines = Lines()
                async for part in response.aiter_bytes():
                    for line in lines.feed(part):
                        yield line
                    if lines.held > self._most_bytes:
                        raise ProviderAnswerInvalid(provider=self.name, reason="a line of the reply is too long")
                for line in lines.rest():
                    yield line
            finally:
                await response.aclose()
        except httpx2.TimeoutException as error:
            billable = not isinstance(error, _UNSENT)
            raise self._unreachable(f"no answer within {idle_s:g} s", billable=billable) from error
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            reason = "the reply broke off" if begun else deepest_cause(error)
            raise self._unreachable(reason, billable=not isinstance(error, _UNSENT)) from error

    async def close(self) -> None:
        """Give back connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _open(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # Connections belong to the event loop that opened them.
            self._client, self._loop, self._opening = None, loop, asyncio.Lock()
        async with self._opening:
            if self._client is None:
                self._key = self._read_key()
                self._client = await asyncio.to_thread(self._connect)  # reading the certificates takes a while
            return self._client

    def _connect(self) -> httpx2.AsyncClient:
        logging.getLogger("httpx2").addFilter(_WITHOUT_QUERIES)  # the same filter is added once
        plain = self._url.lower().startswith("http://")
        return httpx2.AsyncClient(
            # A redirect would carry the key and the passages to an address that nobody configured.
            follow_redirects=False,
            timeout=None,  # every call has its own, around all of it
            # An empty context trusts nobody: where no TLS is spoken, no certificates need be read.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
            trust_env=not is_local(self._url),
        )

    def use_key(self, key: str) -> None:
        """Send `key` from now on: for keys that are made anew from time to time and stand in no variable."""
        self._key = key

    def _read_key(self) -> str:
        if not self._key_variable:
            return self._key
        key = os.environ.get(self._key_variable, "").strip()
        if not key and not is_local(self._url):
            raise KeyMissing(provider=self.name, variable=self._key_variable, setting=self._setting, billable=False)
        if not (key.isascii() and key.isprintable()):
            reason = "holds letters that no key has (a copied dash, a line break?); copy the key anew"
            raise SettingsInvalid(where="environment", key=self._key_variable, reason=reason, billable=False)
        return key

    def _address(self, parameters: Mapping[str, str]) -> str:
        form = self._key_form
        secret = {form.parameter: self._key} if self._key and form.parameter else {}
        query = urlencode({**parameters, **secret}, errors="replace")
        return f"{self._url}{'&' if '?' in self._url else '?'}{query}" if query else self._url

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        form = self._key_form
        if not self._key or form.parameter:
            return headers
        return headers | {form.header: f"{form.prefix}{self._key}"}

    async def _read(self, response: httpx2.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > self._most_bytes:
                reason = f"the reply is longer than {self._most_bytes} bytes"
                raise ProviderAnswerInvalid(provider=self.name, reason=reason, billable=response.status_code == 200)
            parts.append(part)
        return b"".join(parts)

    def _unreachable(self, reason: str, **details: object) -> ProviderUnreachable:
        return ProviderUnreachable(provider=self.name, reason=self.without_key(reason), **details)

    def _refusal(self, status: int, data: bytes, wait: str | None) -> ProviderError:
        told = _message(data, hide=self.without_key)
        reason = f"HTTP {status}: {told}" if told else f"HTTP {status}"
        if 200 < status < 300:
            return ProviderAnswerInvalid(
                provider=self.name, reason=reason, status=status, retry_after_s=retry_after(wait), billable=True
            )
        if 300 <= status < 400:
            reason = f"HTTP {status}: it redirects, which is not followed"
        retry_after_s = retry_after(wait)
        if status == 429:
            return ProviderLimited(provider=self.name, reason=reason, retry_after_s=retry_after_s, billable=False)
        if status in (408, 409) or status >= 500:
            return self._unreachable(reason, status=status, retry_after_s=retry_after_s, billable=False)
        return ProviderRefused(provider=self.name, reason=reason, status=status, billable=False)

    def without_key(self, text: str) -> str:
        """`text`, which a service may have made from our request, without the key."""
        for written in {self._key, quote(self._key, safe=""), quote_plus(self._key)} if self._key else ():
            text = text.replace(written, "…")
        return text


def retry_after(header: str | None) -> float | None:
    """Seconds of a Retry-After header, given in seconds or as a date; None where absent or unreadable.

    >>> retry_after("2"), retry_after("soon"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (2.0, None, 0.0)
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def deepest_cause(error: BaseException) -> str:
    """What the first error of a chain says: the operating system's words, not the client's."""
    deepest: BaseException = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    return str(deepest) or type(deepest).__name__


def _checked(url: str, *, setting: str) -> str:
    """The address as it may be shown; raises SettingsInvalid where it is none."""
    try:
        parts = urlsplit(url)
        host, port, secret = parts.hostname or "", parts.port, parts.username is not None or parts.password is not None
    except ValueError:
        host, port, secret = "", None, False
        parts = urlsplit("")
    if parts.scheme.lower() not in {"http", "https"} or not host:
        reason = "is not set" if not url else "is no address of a service"
        reason += "; write it as https://host/path, or http://127.0.0.1:8080 for a service on this machine"
        raise SettingsInvalid(where="tadasu.toml", key=setting, reason=reason)
    if secret:
        reason = "holds a user name or password; put the key into the environment, and name it in key_variable"
        raise SettingsInvalid(where="tadasu.toml", key=setting, reason=reason)
    place = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{place}{f':{port}' if port else ''}{parts.path}"


def _message(data: bytes, *, hide: Callable[[str], str] = str) -> str:
    """What an error's body says, in any of the usual forms, on one line; empty where it says nothing readable."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(name):
            body = body[name]
            if name == "error" and isinstance(body, dict):
                body = body.get("message") or body
            break
    return hide(" ".join(str(body).split()))[:200]  # cut last: half a key is a secret too
