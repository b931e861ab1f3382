"""Replies that unpack to far more than they are: little memory, little time."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator

import psutil
import pytest

from tests.providers.fetching.fetching import ARTICLE, fetch, reasons, settings
from tests.providers.fetching.server import HostileServer, reply

TEN_GB = 10 * 2**30
MIB = 2**20


def packed_zeros(size: int) -> Iterator[bytes]:
    """A gzip stream of `size` zeros, in pieces; 10 GB of them are 10 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"\0" * MIB
    for _ in range(size // MIB):
        if piece := packer.compress(block):
            yield piece
    yield packer.flush()


class Bomb:
    """Sends `size` zeros packed, and counts what it got rid of."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.sent = 0

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
        )
        for piece in packed_zeros(self.size):
            writer.write(piece)
            await writer.drain()
            self.sent += len(piece)
            await asyncio.sleep(0)


@pytest.mark.enable_socket
async def test_a_zip_bomb_of_10_gb_costs_little_memory_and_is_left_after_its_first_bytes() -> None:
    bomb = Bomb(TEN_GB)
    process = psutil.Process()
    async with HostileServer({"/": bomb, "/small": reply(ARTICLE)}) as server:
        await fetch([server.url("/small")], settings(server))  # what is loaded once is loaded
        before, used = process.memory_info().rss, process.cpu_times().user
        found, _ = await fetch([server.url("/")], settings(server))
        grown = process.memory_info().rss - before
        used = process.cpu_times().user - used
    assert reasons(found) == ["decompression_bomb"]
    assert grown < 50 * MIB
    assert used < 2  # seconds of this process, the server's packing included
    assert bomb.sent < MIB  # of 10


@pytest.mark.enable_socket
async def test_bombs_in_other_wrappings_are_none_either() -> None:
    zeros = b"".join(packed_zeros(64 * MIB))
    answers = {
        "/deflate": reply(zlib.compress(b"\0" * 64 * MIB), Content_Encoding="deflate"),
        "/twice": reply(gzip.compress(zeros), Content_Encoding="gzip, gzip"),
        "/inside": reply(gzip.compress(zeros), Content_Encoding="gzip"),
        "/members": reply(gzip.compress(b"\0" * MIB) * 64, Content_Encoding="gzip"),
        "/robots.txt": reply(zeros, kind="text/plain", Content_Encoding="gzip"),
    }
    async with HostileServer(answers) as server:
        urls = [server.url(path) for path in answers]
        found, _ = await fetch(urls, settings(server, robots=True))
    assert found.pages == ()
    assert reasons(found)[:2] == ["decompression_bomb", "content_encoding"]
    assert reasons(found)[2] in {"charset", "media_type"}  # a gzip file as a page: unpacked once, it is no text
    assert reasons(found)[3:] == ["decompression_bomb", "decompression_bomb"]


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress(ARTICLE.encode()), "gzip"),
        (gzip.compress(ARTICLE[:50].encode()) + gzip.compress(ARTICLE[50:].encode()), "x-gzip"),
        (zlib.compress(ARTICLE.encode()), "deflate"),
        (zlib.compressobj(9, zlib.DEFLATED, -15).compress(b"") or b"", "identity"),
        (gzip.compress(ARTICLE.encode()) + b"\0" * 20, "gzip"),
    ],
)
async def test_an_honest_packed_page_is_read(packed: bytes, encoding: str) -> None:
    if encoding == "identity":
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)  # deflate without its header, as some servers send it
        packed, encoding = packer.compress(ARTICLE.encode()) + packer.flush(), "deflate"
    async with HostileServer({"/": reply(packed, Content_Encoding=encoding)}) as server:
        found, _ = await fetch([server.url("/")], settings(server))
    assert found.pages[0].body is not None
    assert found.pages[0].body.decode("utf-8-sig") == ARTICLE


@pytest.mark.enable_socket
async def test_a_packed_page_that_is_cut_short_is_none() -> None:
    async with HostileServer({"/": reply(gzip.compress(ARTICLE.encode())[:-12], Content_Encoding="gzip")}) as server:
        found, _ = await fetch([server.url("/")], settings(server))
    assert reasons(found) == ["protocol"]
