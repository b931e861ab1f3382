"""A server on loopback that says byte for byte what a test wants, as hostile as it wants."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

Act = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes | str, *, status: str = "200 OK", kind: str = "text/html; charset=utf-8", **headers: str
) -> bytes:
    """A whole reply."""
    data = body.encode() if isinstance(body, str) else body
    named = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + data


def redirect(location: str, *, status: str = "302 Found") -> bytes:
    """A redirect to `location`."""
    return reply(b"", status=status, Location=location)


class HostileServer:
    """Answers paths with bytes, or by an act of its own; everything else is 404. `asked` lists (host, path, head)."""

    def __init__(self, answers: Mapping[str, bytes | Act], *, tls: ssl.SSLContext | None = None) -> None:
        self.answers = dict(answers)
        self.asked: list[tuple[str, str, str]] = []
        self.busy = self.most_busy = 0
        self.port = 0
        self._tls = tls
        self._server: asyncio.Server | None = None

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def __aenter__(self) -> HostileServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        # Handlers that still drip see their connection closed.
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ")[1]
                host = next((line[6:] for line in head.split("\r\n") if line.lower().startswith("host: ")), "")
                self.asked.append((host, path, head))
                act = self.answers.get(path, reply("nothing here", status="404 Not Found"))
                if isinstance(act, bytes):
                    writer.write(act)
                    await writer.drain()
                else:
                    await act(writer)
        finally:
            self.busy -= 1
            writer.close()


class Names:
    """A resolver from a table."""

    def __init__(self, table: Mapping[str, Sequence[str]], *, later: Mapping[str, Sequence[str]] | None = None) -> None:
        """`later` is what the second and all further questions are answered with."""
        self._table = dict(table)
        self._later = dict(later or table)
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        table = self._later if host in self.asked else self._table
        self.asked.append(host)
        if host not in table:
            raise OSError("unknown")
        return table[host]
