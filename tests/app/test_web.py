"""The web of tadasu.toml in the real chain: off until configured, one provider behind the other, and nothing leaks."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from tadasu import AnswerStatus, Tadasu, Verdict
from tadasu.app.doctor import diagnose
from tadasu.app.findings import Finding, Health
from tadasu.app.outside import open_web
from tadasu.app.settings import load_settings, origin_of
from tadasu.app.settings_file import values_of
from tadasu.app.workspace import create_workspace
from tadasu.core.documents import Origin
from tadasu.core.runs import Run, SearchMode
from tadasu.core.usage import Outcome, Pricing, Stage, Tokens
from tadasu.errors import PluginUnknown, SettingsInvalid
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.runtime.world import FixedWorld
from tadasu.testing.web_dialects import DIALECTS, FoundPage
from tadasu.testing.web_server import WebManner, WebServer

pytestmark = pytest.mark.enable_socket

KEY = "tvly-0123456789abcdef"
DOCUMENTS = {
    "merger.md": "# Project Nightjar\n\nThe board will buy Hoshino Optics for 4.2 billion yen on 9 June.\n",
    "合併.md": "# 極秘計画ヨタカ\n\n取締役会は六月九日に星野光学を四十二億円で買収する。\n",
    "canteen.md": "# Canteen\n\nThe canteen opens at noon and serves soup on Fridays.\n",
}
QUESTIONS = {
    "en": ("What is the boiling point of gallium?", "Gallium", "The boiling point of gallium is 2,403 °C."),
    "ja": ("ガリウムの沸点は何度ですか？", "ガリウム", "ガリウムの沸点は2403℃です。"),
}
PAGES = [
    FoundPage(f"https://{language}.example.com/gallium", f"<b>{title}</b>", text)
    for language, (_, title, text) in QUESTIONS.items()
]
in_each_language = pytest.mark.parametrize("language", QUESTIONS)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("outside")
    create_workspace(root, "")
    documents = root / "documents"
    documents.mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    tadasu = Tadasu.open(root)
    assert tadasu.sync.ingest(documents).added == 3
    tadasu.sync.close()
    return root


async def asked(root: Path, monkeypatch: pytest.MonkeyPatch, question: str, **settings: str) -> Run:
    monkeypatch.setenv("TADASU_FETCH__ENABLED", "false")  # the pages that are found do not exist
    for name, value in settings.items():
        monkeypatch.setenv(f"TADASU_WEB__{name}", value)
    tadasu = Tadasu.open(root)
    try:
        return await tadasu.ask(question)
    finally:
        await tadasu.close()


@in_each_language
async def test_the_web_is_off_until_a_provider_is_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    with WebServer("tavily", pages=PAGES) as server:
        run = await asked(workspace, monkeypatch, QUESTIONS[language][0], TAVILY__BASE_URL=server.base_url)
    assert server.requests == []
    assert not any(call.stage is Stage.SEARCH for call in run.calls)
    assert run.answer.status is AnswerStatus.ABSTAINED


@pytest.mark.parametrize(
    ("provider", "language"),
    [
        ("tavily", "en"),
        ("tavily", "ja"),
        ("serpapi", "ja"),
        ("google", "en"),
        ("brave", "ja"),
        ("searxng", "en"),
        ("bing", "ja"),
    ],
)
async def test_what_leaves_is_the_question_and_never_a_word_of_a_passage(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, provider: str, language: str
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SOME_KEY", KEY)
    question, _, text = QUESTIONS[language]
    with WebServer(provider, pages=PAGES, key=KEY) as server:
        table = provider.upper()
        run = await asked(
            workspace, monkeypatch, question, PROVIDER=provider,
            **{f"{table}__BASE_URL": server.base_url, f"{table}__KEY_VARIABLE": "SOME_KEY", f"{table}__ENGINE": "e"},
        )  # fmt: skip
    web = [one for one in run.rounds if one.mode is SearchMode.WEB]
    assert server.words
    assert [one.query for one in web] == server.words, "the run shows what was searched for"
    assert any(one.origin is Origin.WEB for round_ in web for one in round_.candidates)
    inside = [one for round_ in run.rounds for one in round_.candidates if one.origin is Origin.INTERNAL]
    assert inside, "passages of our own were looked at before the web was asked"
    wire = _readable(server.wire)
    assert all(word in wire for word in server.words)
    for piece in _pieces(*DOCUMENTS.values(), *DOCUMENTS):
        assert piece in question or piece not in wire, f"{piece!r} left the machine"
    # What the request says of itself, besides the words, says nothing of the documents: it is the same for all.
    secret = (json.dumps([call.error for call in run.calls]), caplog.text, run.stop_reason, repr(run.warnings))
    assert not any(KEY in told for told in secret)
    assert text  # the page that answers is among those found


class Gossip:
    """A chat model that puts what it read in answers into the query."""

    id = "test/gossip"

    def __init__(self, says: str) -> None:
        self.says = says
        self.read: list[str] = []

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        self.read += [message.content for message in messages]
        yield ChatDelta(self.says if stage is Stage.REWRITE else "", Tokens(1, 1), "stop")


@pytest.mark.parametrize(
    ("first", "then", "restated"),
    [
        ("What is Project Nightjar?", "What is its boiling point?", "boiling point of Hoshino Optics 4.2 billion yen"),
        ("極秘計画ヨタカとは何ですか？", "その沸点は何度ですか？", "星野光学の沸点は四十二億円ですか？"),
    ],
)
async def test_what_an_answer_said_does_not_leave_in_a_follow_up(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str, restated: str
) -> None:
    monkeypatch.setenv("TADASU_WEB__PROVIDER", "brave")
    monkeypatch.setenv("TADASU_CORRECTION__MAX_SEARCHES", "0")
    monkeypatch.setenv("TADASU_CORRECTION__RULE", "high_share")
    monkeypatch.setenv("TADASU_CORRECTION__QUALITY_THRESHOLD", "1.0")  # nothing is good enough: the web is asked
    chat = Gossip(restated)
    with WebServer("brave", pages=PAGES) as server:
        monkeypatch.setenv("TADASU_WEB__BRAVE__BASE_URL", server.base_url)
        tadasu = Tadasu.open(workspace)
        tadasu.container.__dict__["chat"] = chat
        try:
            told = await tadasu.ask(first)
            run = await tadasu.ask(then, history=[told])
        finally:
            await tadasu.close()
    assert run.query == restated, "our own documents are searched for it as it is"
    assert server.words
    wire = _readable(server.wire)
    allowed = f"{first} {then}".lower()
    for piece in _pieces(*DOCUMENTS.values(), restated):
        assert piece in allowed or piece not in wire, f"{piece!r} left the machine"


def _readable(wire: bytes) -> str:
    """The bytes as text, whichever way they were written: as they are, in an address, in JSON."""
    text = wire.decode("utf-8", "replace")
    escapes = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return "\n".join((text, unquote_plus(text), escapes)).lower()


def _pieces(*texts: str) -> set[str]:
    """What would give a text away: its words of five letters and more, and every three characters of Japanese."""
    words = {word.lower() for text in texts for word in re.findall(r"[A-Za-z]{5,}|[0-9][0-9.,]+", text)}
    runs = [run for text in texts for run in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]{3,}", text)]
    return words | {run[at : at + 3] for run in runs for at in range(len(run) - 2)}


def test_every_provider_is_watched() -> None:
    marks = getattr(test_what_leaves_is_the_question_and_never_a_word_of_a_passage, "pytestmark", [])
    assert {name for mark in marks for name, _ in mark.args[1]} == set(DIALECTS)


def test_the_watcher_would_see_a_leak() -> None:
    leak = b"GET /search?q=%E6%98%9F%E9%87%8E%E5%85%89%E5%AD%A6+soup HTTP/1.1"
    seen = _readable(leak + json.dumps("極秘計画").encode())
    assert {"星野光", "極秘計"} <= {piece for piece in _pieces(*DOCUMENTS.values()) if piece in seen}


@pytest.mark.parametrize(
    ("manner", "language"),
    [
        (WebManner.LIMITED_DAY, "en"),
        (WebManner.ACCEPTED, "ja"),
        (WebManner.ERROR_TEXT, "en"),
        (WebManner.BUSY, "ja"),
    ],
)
async def test_a34_a_limited_provider_is_passed_over_and_the_question_is_still_answered(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, manner: WebManner, language: str
) -> None:
    question, _, text = QUESTIONS[language]
    with WebServer("serpapi", [manner]) as first, WebServer("brave", pages=PAGES) as second:
        run = await asked(
            workspace, monkeypatch, question, PROVIDER="serpapi", FALL_BACK="brave",
            SERPAPI__BASE_URL=first.base_url, BRAVE__BASE_URL=second.base_url, BRAVE__PRICE="5",
        )  # fmt: skip
    assert run.answer.status is AnswerStatus.ANSWERED
    assert text.rstrip("。.")[-8:] in run.answer.text
    searches = [call for call in run.calls if call.stage is Stage.SEARCH]
    assert {call.provider for call in searches} == {"serpapi", "brave"}
    assert [(call.provider, call.outcome) for call in searches][-1] == ("brave", Outcome.OK)
    assert (searches[-1].pricing, searches[-1].cost_usd) == (Pricing.PRICED, 0.005)


async def test_when_every_provider_fails_the_run_says_why_and_nothing_is_lost(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebServer("tavily", [WebManner.LIMITED_DAY]) as first, WebServer("brave", [WebManner.REFUSED]) as second:
        run = await asked(
            workspace, monkeypatch, QUESTIONS["en"][0], PROVIDER="tavily", FALL_BACK="brave",
            TAVILY__BASE_URL=first.base_url, BRAVE__BASE_URL=second.base_url,
        )  # fmt: skip
    [web] = [one for one in run.rounds if one.mode is SearchMode.WEB]
    assert web.verdict is Verdict.SEARCH_FAILED
    assert "tavily: HTTP 429: the plan of this day is used up" in web.error
    assert "brave: HTTP 401: invalid credentials: none" in web.error
    assert run.answer.status is AnswerStatus.ABSTAINED


async def test_doctor_names_the_providers_in_their_order(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_WEB__PROVIDER", "searxng")
    monkeypatch.setenv("TADASU_WEB__FALL_BACK", "brave")
    monkeypatch.setenv("TADASU_WEB__SEARXNG__BASE_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    found = await _doctor(workspace)
    assert found.health is Health.WARNING
    assert "searxng, brave" in str(found.details)
    assert "BRAVE_API_KEY" in str(found.details)
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    found = await _doctor(workspace)
    assert found.health is Health.OK
    assert KEY not in str(found)


async def _doctor(root: Path) -> Finding:
    tadasu = Tadasu.open(root)
    try:
        return next(one for one in await diagnose(lambda: tadasu, network=False) if one.check == "web")
    finally:
        await tadasu.close()


# --- settings ------------------------------------------------------------------------------------


def toml(folder: Path, text: str) -> Path:
    file = folder / "tadasu.toml"
    file.write_text(text, "utf-8")
    return file


def test_each_provider_has_a_table_of_its_own_and_the_environment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = toml(tmp_path, '[web]\nprovider = "tavily"\nfall_back = ["brave"]\n[web.tavily]\nprice = 8\ntimeout_s = 3\n')
    monkeypatch.setenv("TADASU_WEB__TAVILY__PRICE", "9")
    settings = load_settings(file)
    assert (settings.web.provider, settings.web.fall_back) == ("tavily", ("brave",))
    assert (settings.web.tables["tavily"].price, settings.web.tables["tavily"].timeout_s) == (9.0, 3.0)
    rows = {entry.key: (value, origin_of(entry.key, file)) for entry, value in values_of(settings)}
    assert rows["web.tavily.price"] == (9.0, "environment TADASU_WEB__TAVILY__PRICE")
    assert rows["web.tavily.timeout_s"] == (3.0, "tadasu.toml")
    assert rows["web.tavily.engine"] == ("", "default")
    assert "web.brave.price" not in rows


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("[web]\nreslts = 3\n", "web.reslts", "not a known setting"),
        ('[web]\ntavily = "key"\n', "web.tavily", "not a known setting"),
        ("[web.tavily]\npric = 3\n", "web.tavily.pric", "not a known setting"),
        ("[web.tavily]\nprice = -1\n", "web.tavily.price", "greater than or equal to 0"),
        ("[web.tavily]\ntimeout_s = 0\n", "web.tavily.timeout_s", "greater than 0"),
    ],
)
def test_a_mistake_in_the_tables_names_its_key(tmp_path: Path, text: str, key: str, reason: str) -> None:
    with pytest.raises(SettingsInvalid, match=re.escape(key)) as caught:
        load_settings(toml(tmp_path, text))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[web]\nprovider = "brave"\n[web.brvae]\nprice = 3\n', r"web\.brvae is the table of no web search provider"),
        ('[web]\nprovider = "google"\n', r"web\.google\.engine is not set"),
        ('[web]\nprovider = "searxng"\n', r"web\.searxng\.base_url is not set"),
        ('[web]\nprovider = "brave"\nfall_back = ["bing"]\n', r"web\.bing\.base_url is not set"),
        ('[web]\nprovider = "folder"\n', r"web\.folder"),
    ],
)
def test_a_provider_that_lacks_something_says_what_when_it_is_opened(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingsInvalid, match=told):
        open_web(load_settings(toml(tmp_path, text)), root=tmp_path, clock=FixedWorld())


def test_a_provider_that_nobody_installed_is_said(tmp_path: Path) -> None:
    settings = load_settings(toml(tmp_path, '[web]\nprovider = "brave"\nfall_back = ["altavista"]\n'))
    with pytest.raises(PluginUnknown, match="altavista"):
        open_web(settings, root=tmp_path, clock=FixedWorld())
