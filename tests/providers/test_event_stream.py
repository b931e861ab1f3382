"""Server-sent events, however the network cuts them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.errors import ReplyMalformed
from tadasu.providers.event_stream import events, kind_of, retry_delay
from tadasu.providers.text_lines import Lines
from tadasu.testing.chat_dialects import event

WORDS = st.text(alphabet='ab 保証👩‍👧e\u0301\u2028\x85:{}"\\', max_size=12)


def read(pieces: Sequence[bytes]) -> list[str]:
    lines = Lines()
    return [line for piece in pieces for line in lines.feed(piece)] + lines.rest()


@st.composite
def cut(draw: st.DrawFn) -> tuple[list[str], list[bytes]]:
    """Lines, and their bytes with any line ends, cut anywhere."""
    lines = draw(st.lists(WORDS, min_size=1, max_size=6))
    data = b"".join(line.encode() + draw(st.sampled_from([b"\n", b"\r\n", b"\r"])) for line in lines)
    borders = sorted({0, len(data), *draw(st.lists(st.integers(0, len(data)), max_size=8))})
    return lines, [data[a:b] for a, b in pairwise(borders)]


@given(cut())
@settings(max_examples=60, deadline=None)
def test_lines_are_the_same_however_they_are_cut(case: tuple[list[str], list[bytes]]) -> None:
    lines, pieces = case
    whole = read([b"".join(pieces)])
    assert read(pieces) == whole
    # CR before LF of an empty line is one line end: what was written as two lines may be read as one.
    assert [line for line in whole if line] == [line for line in lines if line]


def test_bytes_that_are_no_text_and_an_open_end_are_read() -> None:
    assert read([b"a\xff", b"b"]) == ["a\ufffdb"]
    assert read([b"\xe4\xbf"]) == ["\ufffd"]
    assert read([b"data: 1\r"]) == ["data: 1"]
    assert read([]) == []


async def parsed(text: str) -> list[dict[str, Any]]:
    async def lines() -> AsyncIterator[str]:
        for line in read([text.encode()]):
            yield line

    return [dict(found) async for found in events(lines(), provider="p")]


@given(st.lists(st.dictionaries(WORDS, WORDS, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=40, deadline=None)
def test_what_was_sent_is_what_is_read(objects: list[dict[str, str]], end: str) -> None:
    text = b"".join(event(one, name="x") for one in objects).decode().replace("\n", end)
    assert asyncio.run(parsed(f": a comment{end}{end}{text}data: [DONE]{end}{end}")) == objects


async def test_data_over_several_lines_and_without_a_last_blank_line_is_one_event() -> None:
    assert await parsed('data: {"a":\ndata:  1}\nid: 7\nretry: 10') == [{"a": 1}]


@pytest.mark.parametrize("text", ["data: 1\n\n", "data: {\n\n", "<html></html>", "[1]", '{"a": 1', "data: [[[[\n\n"])
async def test_what_is_no_event_is_named(text: str) -> None:
    with pytest.raises(ReplyMalformed):
        await parsed(text)


async def test_json_instead_of_a_stream_is_read() -> None:
    assert await parsed(json.dumps({"error": {"message": "x"}}, indent=1)) == [{"error": {"message": "x"}}]
    assert await parsed('[{"a": 1},\n\n{"b": 2}]') == [{"a": 1}, {"b": 2}]


def test_kinds_and_waits_are_read_from_whatever_form() -> None:
    assert kind_of({"status": "RESOURCE_EXHAUSTED", "code": 429}) == "RESOURCE_EXHAUSTED"
    assert kind_of({"code": "429", "type": "rate_limit_error"}) == "rate_limit_error"
    assert kind_of("text") == kind_of({}) == kind_of(None) == ""
    assert retry_delay({"details": [{"retryDelay": "1.5s"}]}) == 1.5
    for odd in (None, {}, {"details": "x"}, {"details": [3]}, {"details": [{"retryDelay": "soons"}]}):
        assert retry_delay(odd) is None
