"""A reply's body within its limits: on the wire, unpacked, and how much of the one makes how much of the other."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tadasu.providers.fetching.refusals import Refused, Why
from tadasu.providers.fetching.transport import Reply

_STEP = 64 * 1024
_RATIO = 100
"""What text packs to at the best is about a twentieth; a page of zeros packs to a thousandth."""
_RATIO_AT_LIMIT = 40
_RATIO_FROM = 1024 * 1024
_GZIP, _ZLIB, _RAW = 31, 15, -15


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a page, unpacked, and how many came over the wire."""

    data: bytes
    wire_bytes: int


async def read_body(reply: Reply, *, most_bytes: int) -> Body:
    """The whole body, never more than `most_bytes` of it, packed or unpacked; raises Refused.

    We ask for no packing. A server that packs all the same is unpacked in steps of 64 KiB, once: reading stops at the
    limit, or where a little makes far too much.
    """
    unpack = _unpacker(reply.headers.get("content-encoding", ""))
    told = reply.headers.get("content-length", "")
    if told.isascii() and told.isdigit() and int(told) > most_bytes:
        raise Refused(Why.TOO_LARGE, f"{int(told)} bytes, {most_bytes} are the limit")
    parts: list[bytes] = []
    wire = size = 0
    async for piece in reply.body:
        wire += len(piece)
        if wire > most_bytes:
            raise Refused(Why.TOO_LARGE, f"more than {most_bytes} bytes")
        for part in unpack.feed(piece):
            size += len(part)
            if size > _RATIO_FROM and size > _RATIO * wire:
                raise Refused(Why.BOMB, f"{wire} bytes unpack to more than {size}")
            if size > most_bytes:
                why = Why.BOMB if size > _RATIO_AT_LIMIT * wire else Why.TOO_LARGE
                raise Refused(why, f"unpacks to more than {most_bytes} bytes")
            parts.append(part)
    if not unpack.whole:
        raise Refused(Why.PROTOCOL, "the packed reply is cut short")
    return Body(b"".join(parts), wire)


class _Plain:
    whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data


class _Deflated:
    """gzip (several members too) or deflate, with or without its header, in bounded steps."""

    def __init__(self, *wbits: int) -> None:
        self._choices = list(wbits)
        self._gzip = wbits[0] == _GZIP
        self._stream = zlib.decompressobj(self._choices.pop(0))
        self._began = self._fed = False

    @property
    def whole(self) -> bool:
        return self._stream.eof or not self._fed

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            self._fed = True
            if self._stream.eof:
                if not self._gzip or not data.strip(b"\0"):
                    return  # padding behind the end
                self._stream = zlib.decompressobj(_GZIP)
            try:
                part = self._stream.decompress(data, _STEP)
            except zlib.error:
                if self._began or not self._choices:
                    raise Refused(Why.ENCODING, "the packed reply is damaged") from None
                self._stream = zlib.decompressobj(self._choices.pop(0))
                continue
            self._began = self._began or bool(part)
            if part:
                yield part
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail


def _unpacker(encoding: str) -> _Plain | _Deflated:
    name = encoding.strip().lower()
    if name in {"", "identity", "none"}:
        return _Plain()
    if name in {"gzip", "x-gzip"}:
        return _Deflated(_GZIP)
    if name == "deflate":
        return _Deflated(_ZLIB, _RAW)
    raise Refused(Why.ENCODING, "packed in a way that was not asked for")
