"""One GET over a connection that is pinned to a checked address.

Name resolution, the check and the connection are one step: the pool hands the host's name to `_PinnedBackend`, which
asks for its addresses once, refuses all of them where a single one is not public, and connects to the very number that
it checked. A name that stands for something else a moment later changes nothing. TLS is still spoken with the name.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import httpcore2

from tadasu.providers.fetching.addresses import Address, AddressPolicy
from tadasu.providers.fetching.refusals import Refused, Why

USER_AGENT = "Tadasu"
_MOST_ANSWERS = 64
_TRIED = 3
"""Addresses of one name that are tried, one after another."""
_KEEP_SECONDS = 5.0


class Resolver(Protocol):
    """Names to addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All IP addresses of `host`, as text; raises OSError where there is none."""
        ...


class SystemResolver:
    """The operating system's resolver."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """As `getaddrinfo` orders them, each once."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:
            raise OSError(str(error)) from error
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Reply:
    """The head of a reply, names of headers in lower case (of a repeated one, the first), and its body on the wire."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class Transport:
    """GET requests of one process. It follows no redirect, keeps no cookie, unpacks nothing, asks no proxy unless told.

    Args:
        policy: which addresses a name may stand for.
        resolver: who knows the addresses of names.
        connections: at most so many at once.
        tls: whom to trust; None: whom the operating system trusts, read at the first https request.
        proxy: address of an HTTP proxy; empty: none. A proxy resolves names itself, so only the text of an address is
            checked then, and the proxy has to keep requests out of our own network.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        resolver: Resolver | None = None,
        connections: int = 10,
        tls: ssl.SSLContext | None = None,
        proxy: str = "",
    ) -> None:
        self._backend = _PinnedBackend(policy, resolver or SystemResolver())
        self._connections = connections
        self._tls = tls
        self._proxy = proxy
        self._pools: dict[bool, httpcore2.AsyncConnectionPool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def get(self, address: Address, *, first_byte_s: float, accept: str) -> AsyncIterator[Reply]:
        """The reply to a GET of `address`, whose head must be there after `first_byte_s` seconds.

        Raises Refused with ADDRESS, UNREACHABLE, TLS, TIMEOUT or PROTOCOL, also while the body is read.
        """
        pool = await self._pool(address.scheme)
        request = httpcore2.Request(
            "GET",
            httpcore2.URL(
                scheme=address.scheme.encode(),
                host=address.host.encode(),
                port=address.port,
                target=address.target.encode("ascii"),
            ),
            headers=[
                ("Host", address.authority),
                ("User-Agent", USER_AGENT),
                ("Accept", accept),
                ("Accept-Encoding", "identity"),
                ("Accept-Language", "en, ja;q=0.9, *;q=0.5"),
            ],
            extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), first_byte_s)},
        )
        try:
            async with asyncio.timeout(first_byte_s):
                response = await pool.handle_async_request(request)
        except TimeoutError:
            raise Refused(Why.TIMEOUT, f"no reply within {first_byte_s:g} s") from None
        except (
            httpcore2.TimeoutException,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.ProxyError,
        ) as error:
            raise _refused(error, first_byte_s) from None
        try:
            yield Reply(response.status, _headers(response.headers), _body(response, first_byte_s))
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Give back connections."""
        pools, self._pools = self._pools, {}
        if self._loop is asyncio.get_running_loop():
            for pool in pools.values():
                await pool.aclose()

    async def _pool(self, scheme: str) -> httpcore2.AsyncConnectionPool:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # connections belong to the event loop that opened them
            self._pools, self._loop = {}, loop
        secure = scheme == "https"
        if secure and self._tls is None:
            self._tls = await asyncio.to_thread(httpcore2.default_ssl_context)  # reading certificates takes a while
        if secure not in self._pools:
            self._pools[secure] = httpcore2.AsyncConnectionPool(
                # An empty context trusts nobody: where no TLS is spoken, no certificates need be read.
                ssl_context=self._tls if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                proxy=httpcore2.Proxy(self._proxy) if self._proxy else None,
                max_connections=self._connections,
                keepalive_expiry=_KEEP_SECONDS,
                network_backend=None if self._proxy else self._backend,
            )
        return self._pools[secure]


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to names by the numbers that it has checked."""

    def __init__(self, policy: AddressPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the pool calls it so
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            answers = await self._resolver.resolve(host, port)
        except OSError:
            raise Refused(Why.UNREACHABLE, f"{host} is not known") from None
        if not answers:
            raise Refused(Why.UNREACHABLE, f"{host} is not known")
        if len(answers) > _MOST_ANSWERS:
            raise Refused(Why.ADDRESS, f"{host} stands for {len(answers)} addresses")
        checked = [self._policy.checked_ip(answer, host=host, port=port) for answer in answers]
        failure: Exception = httpcore2.ConnectError()
        for ip in checked[:_TRIED]:
            try:
                return await self._network.connect_tcp(
                    str(ip), port, timeout=timeout, local_address=local_address, socket_options=socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002 - the protocol's arguments
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        raise Refused(Why.ADDRESS, "a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        headers.setdefault(name.decode("ascii", "replace").lower(), value.decode("latin-1").strip())
    return headers


async def _body(response: httpcore2.Response, read_s: float) -> AsyncIterator[bytes]:
    try:
        async for part in response.aiter_stream():
            yield part
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise _refused(error, read_s) from None


def _refused(error: Exception, seconds: float) -> Refused:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Refused(Why.TLS, f"its certificate is not valid ({cause.verify_message})")
    if isinstance(cause, ssl.SSLError):
        return Refused(Why.TLS, "no secure connection could be agreed on")
    if isinstance(error, httpcore2.TimeoutException):
        return Refused(Why.TIMEOUT, f"it said nothing for {seconds:g} s")
    if isinstance(error, httpcore2.ConnectError):
        return Refused(Why.UNREACHABLE, "no connection")
    if isinstance(error, httpcore2.ProtocolError):
        return Refused(Why.PROTOCOL, "it does not speak proper HTTP")
    return Refused(Why.UNREACHABLE, "the connection broke off")
