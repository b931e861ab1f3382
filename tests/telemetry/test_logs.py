from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tadasu.telemetry.context import bind_run, current_run, current_trace, no_run, trace_id_of
from tadasu.telemetry.logs import HIDDEN, JsonLogs, Redaction

KEY = "c0ffee-not-a-real-key-4711"


class Lines(io.StringIO):
    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    stream = Lines()
    logs = JsonLogs(stream, redact=Redaction([KEY, ""]), logger="tadasu_test")
    yield stream
    logs.close()


log = logging.getLogger("tadasu_test.part")


def test_a_line_is_one_object_with_run_trace_time_level_and_what_was_added(lines: Lines) -> None:
    with no_run():
        bind_run("run-1")
        log.info("round ended", extra={"round": 2, "verdict": "correct", "about": "保証\n期間"})
    (line,) = lines.objects
    assert line["event"] == "round ended"
    assert line["level"] == "info"
    assert line["logger"] == "tadasu_test.part"
    assert (line["run_id"], line["trace_id"]) == ("run-1", trace_id_of("run-1"))
    assert (line["round"], line["verdict"], line["about"]) == (2, "correct", "保証\n期間")
    assert line["timestamp"].endswith("Z")
    assert "保証" in lines.getvalue()  # readable without a decoder


def test_outside_a_run_there_is_none_and_a_named_run_has_its_trace(lines: Lines) -> None:
    log.warning("cache is down")
    log.info("run ended", extra={"run_id": "run-9"})
    first, second = lines.objects
    assert first["run_id"] is None
    assert first["trace_id"] is None
    assert (second["run_id"], second["trace_id"]) == ("run-9", trace_id_of("run-9"))


def test_a_block_without_a_run_gives_back_what_was_bound_before_even_where_it_raises() -> None:
    with no_run():
        bind_run("outer")
        with pytest.raises(RuntimeError), no_run():
            bind_run("inner")
            raise RuntimeError
        assert current_run() == "outer"
        assert current_trace() == trace_id_of("outer")
    assert current_run() == current_trace() == ""


def test_secrets_are_nowhere_in_a_line(lines: Lines) -> None:
    nested = {"headers": {"Authorization": f"Bearer {KEY}", "x": [f"key={KEY}"]}, "api_key": "abc", "cache_key": "kept"}
    log.info("calling %s", f"https://u:{KEY}@host/?api_key=123456&q=1", extra={"request": nested})
    try:
        raise ValueError(f"refused {KEY}")  # noqa: TRY301 - an exception to be logged is what is wanted
    except ValueError:
        log.exception("it failed")
    written = lines.getvalue()
    assert KEY not in written
    assert "123456" not in written
    first, second = lines.objects
    assert first["request"]["headers"]["Authorization"] == HIDDEN
    assert first["request"]["api_key"] == HIDDEN
    assert first["request"]["cache_key"] == "kept"
    assert f"refused {HIDDEN}" in second["exception"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("redis://default:hunter2@cache.internal:6379/0", "hunter2"),
        ("postgresql+psycopg://tadasu:s3cret@db/tadasu", "s3cret"),
        ("openai said sk-proj-abcdefgh12345678 is wrong", "sk-proj-abcdefgh12345678"),
        ("GET /search?q=保証&key=AIza123456&cx=1", "AIza123456"),
    ],
)
def test_what_looks_like_a_secret_is_hidden_without_being_known(text: str, hidden: str) -> None:
    shown = Redaction()(text)
    assert hidden not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "text", ["tokens: 30", "the key of the cache", "質問の鍵", "https://example.org/a?q=key", "a@b.example"]
)
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert Redaction(["no"])(text) == text


def test_closed_logs_leave_the_logger_as_it_was() -> None:
    logger = logging.getLogger("tadasu_test_2")
    stream = io.StringIO()
    JsonLogs(stream, redact=Redaction(), logger="tadasu_test_2").close()
    assert logger.handlers == []
    assert logger.propagate
    assert logger.level == logging.NOTSET
    logger.info("not heard")
    assert stream.getvalue() == ""
