"""The HTTP door: waits, messages of errors in any form, sizes, event loops."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from tadasu.errors import ProviderAnswerInvalid, ProviderRefused, SettingsInvalid
from tadasu.providers.http import JsonService, KeyForm, _message, deepest_cause, retry_after
from tadasu.testing.scorer_server import Manner, ScorerServer
from tadasu.testing.web_server import WebManner, WebServer

BODY = {"query": "q", "documents": ["a"]}


def service(url: str, *, most_bytes: int = 1000) -> JsonService:
    return JsonService(f"{url}/rerank", key_variable="", setting="scorer.key_variable", most_bytes=most_bytes)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wait_is_read_in_seconds_and_what_is_none_is_none(header: str | None, seconds: float | None) -> None:
    assert retry_after(header) == seconds


def test_a_wait_may_be_a_date() -> None:
    waited = retry_after(format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True))
    assert waited is not None
    assert 60 < waited <= 120


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "no such model", "type": "x"}}, "no such model"),
        ({"error": "overloaded", "error_type": "Overloaded"}, "overloaded"),
        ({"message": "invalid api token"}, "invalid api token"),
        ({"detail": "not found"}, "not found"),
        ({"detail": [{"loc": ["body", "texts"], "msg": "field required"}]}, "texts"),
        ({"error": {"code": 3}}, "3"),
        ("down", "down"),
        ({"error": "one\ntwo"}, "one two"),
    ],
)
def test_what_a_service_says_of_its_error_is_found_in_any_form(body: object, told: str) -> None:
    assert told in _message(json.dumps(body).encode())


@pytest.mark.parametrize("data", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b"9" * 10_000])
def test_an_error_that_cannot_be_read_says_nothing(data: bytes) -> None:
    assert _message(data) == ""


def test_a_long_story_is_cut() -> None:
    assert len(_message(json.dumps({"error": "x" * 5000}).encode())) == 200


def test_the_first_error_of_a_chain_is_told() -> None:
    outer = RuntimeError("all attempts failed")
    outer.__cause__ = OSError("connection refused")
    assert deepest_cause(outer) == "connection refused"
    assert deepest_cause(ValueError()) == "ValueError"


@pytest.mark.enable_socket
async def test_a_reply_may_be_as_long_as_allowed_and_no_longer() -> None:
    with ScorerServer([Manner.WELL]) as server:
        roomy, narrow = service(server.base_url), service(server.base_url, most_bytes=20)
        assert await roomy.post(BODY, timeout_s=60) == {
            "results": [{"index": 0, "relevance_score": 0.0}],
            "usage": {"total_tokens": 42},
        }
        with pytest.raises(ProviderAnswerInvalid, match="longer than 20 bytes"):
            await narrow.post(BODY, timeout_s=60)
        await roomy.close()
        await narrow.close()


@pytest.mark.enable_socket
def test_one_service_serves_one_event_loop_after_another() -> None:
    with ScorerServer() as server:
        once = service(server.base_url)

        async def ask() -> object:
            try:
                return await once.post(BODY, timeout_s=60)
            finally:
                await once.close()

        assert asyncio.run(ask()) == asyncio.run(ask())


@pytest.mark.enable_socket
async def test_a_redirect_is_not_followed_and_the_body_goes_nowhere_else() -> None:
    with ScorerServer([Manner.REDIRECT]) as server:
        here = service(server.base_url)
        with pytest.raises(Exception, match="redirects, which is not followed"):
            await here.post(BODY, timeout_s=60)
        await here.close()
        assert len(server.requests) == 1


# --- by GET --------------------------------------------------------------------------------------

KEY = "k/e+y=&%20"


def asking(server: WebServer, *, form: KeyForm, query: str = "") -> JsonService:
    url = f"{server.base_url}{server.dialect.path}{query}"
    return JsonService(url, key_variable="GET_TEST_KEY", setting="web.x.key_variable", key_form=form)


@pytest.mark.enable_socket
@pytest.mark.parametrize("query", ["", "?tenant=a"])
@pytest.mark.parametrize("form", [KeyForm(), KeyForm(header="x-key", prefix=""), KeyForm(parameter="key")])
async def test_a_query_is_sent_letter_by_letter_with_the_key_in_its_place(
    monkeypatch: pytest.MonkeyPatch, form: KeyForm, query: str
) -> None:
    monkeypatch.setenv("GET_TEST_KEY", KEY)
    words = "a&b=c #1 + 100% 「保証」\n\ud83d"
    with WebServer("searxng") as server:
        here = asking(server, form=form, query=query)
        await here.get({"q": words}, timeout_s=60)
        await here.close()
        [asked] = server.requests
    assert asked.method == "GET"
    wanted = {"q": words.replace("\ud83d", "?")} | ({"tenant": "a"} if query else {})
    assert asked.parameters == wanted | ({"key": KEY} if form.parameter else {})
    assert form.parameter or asked.headers[form.header] == form.prefix + KEY


@pytest.mark.enable_socket
async def test_half_a_key_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GET_TEST_KEY", "0123456789" * 30)
    with WebServer("searxng", [WebManner.REFUSED]) as server:
        here = asking(server, form=KeyForm())
        with pytest.raises(ProviderRefused, match="invalid credentials: …") as caught:
            await here.get({"q": "x"}, timeout_s=60)
        await here.close()
    assert "01234" not in str(caught.value)


@pytest.mark.enable_socket
async def test_the_log_keeps_the_addresses_of_others_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="httpx2")
    with WebServer("searxng") as server:
        here = asking(server, form=KeyForm())
        await here.get({"q": "ours"}, timeout_s=60)
        await here.close()
        async with httpx2.AsyncClient(trust_env=False) as other:
            await other.get(f"{server.base_url}{server.dialect.path}", params={"q": "theirs"})
    assert "theirs" in caplog.text
    assert "ours" not in caplog.text


@pytest.mark.parametrize("key", ["sk–1234", "sk-1234\nx", "キー1234"])
async def test_a_key_that_is_none_is_said_without_being_told(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("GET_TEST_KEY", key)
    here = JsonService("https://x.invalid/", key_variable="GET_TEST_KEY", setting="web.x.key_variable")
    with pytest.raises(SettingsInvalid, match="GET_TEST_KEY") as caught:
        await here.get({"q": "x"}, timeout_s=1)
    assert "1234" not in str(caught.value)


def test_a_missing_key_is_known_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(url: str, variable: str = "GET_TEST_KEY") -> str:
        return JsonService(url, key_variable=variable, setting="web.x.key_variable").missing_key

    monkeypatch.delenv("GET_TEST_KEY", raising=False)
    assert missing("https://x.example/") == "GET_TEST_KEY"
    assert missing("http://127.0.0.1:1/") == missing("https://x.example/", variable="") == ""
    monkeypatch.setenv("GET_TEST_KEY", "  ")
    assert missing("https://x.example/") == "GET_TEST_KEY"
    monkeypatch.setenv("GET_TEST_KEY", "k")
    assert missing("https://x.example/") == ""
