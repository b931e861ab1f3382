"""Pages of a web search in the real chain: fetched, read, graded, cited, kept; and what was left out is in the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu import AnswerStatus, Tadasu
from tadasu.app.settings import load_settings
from tadasu.app.workspace import create_workspace
from tadasu.core.runs import Run, SearchMode
from tadasu.core.usage import Call, Stage
from tadasu.errors import SettingsInvalid
from tadasu.testing.web_dialects import FoundPage
from tadasu.testing.web_server import WebServer
from tests.providers.fetching.pages import html
from tests.providers.fetching.server import HostileServer, redirect, reply

TOPICS = {
    "en": (
        "What is the boiling point of gallium?",
        "The boiling point of gallium is 2,403 °C.",
        html(
            "Gallium", ["Gallium is a soft metal that melts in the hand.", "The boiling point of gallium is 2,403 °C."]
        ),
        "utf-8",
    ),
    "ja": (
        "ガリウムの沸点は何度ですか？",
        "ガリウムの沸点は2403℃です。",
        html("ガリウム", ["ガリウムは手の中で融ける柔らかい金属です。", "ガリウムの沸点は2403℃です。"]),
        "cp932",
    ),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fetching")
    create_workspace(root, "")
    documents = root / "documents"
    documents.mkdir()
    (documents / "canteen.md").write_text("# Canteen\n\nThe canteen opens at noon.\n", "utf-8")
    tadasu = Tadasu.open(root)
    assert tadasu.sync.ingest(documents).added == 1
    tadasu.sync.close()
    return root


def fetches(run: Run) -> list[Call]:
    return [call for call in run.calls if call.stage is Stage.FETCH]


@pytest.mark.enable_socket
@pytest.mark.parametrize("language", TOPICS)
async def test_an_answer_cites_a_page_that_was_fetched_and_the_run_names_those_that_were_not_used(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    question, holds, page, encoding = TOPICS[language]
    answers = {
        "/metal": reply(page.replace("©", "(c)").encode(encoding), kind=f"text/html; charset={encoding}"),
        "/wall": reply(html("Log in", ["Please log in to continue."])),
        "/inside": redirect("http://169.254.169.254/latest/meta-data/"),
    }
    async with HostileServer(answers) as server:
        urls = [server.url(path) for path in answers]
        with WebServer(
            "searxng", pages=[FoundPage(url, "Gallium ガリウム", "Gallium ガリウム") for url in urls]
        ) as engine:
            monkeypatch.setenv("TADASU_WEB__PROVIDER", "searxng")
            monkeypatch.setenv("TADASU_WEB__SEARXNG__BASE_URL", engine.base_url)
            monkeypatch.setenv("TADASU_FETCH__PRIVATE_HOSTS", f"127.0.0.1:{server.port}")
            monkeypatch.setenv("TADASU_FETCH__PER_DOMAIN", "5")
            runs = []
            for _ in range(2):
                tadasu = Tadasu.open(workspace)
                runs.append(await tadasu.ask(question))
                await tadasu.close()
    first, second = runs
    for run in runs:
        assert run.answer.status is AnswerStatus.ANSWERED
        assert holds in run.answer.text
        assert {citation.source for citation in run.answer.citations} == {urls[0]}
        (web,) = (one for one in run.rounds if one.mode is SearchMode.WEB)
        assert [(page.url, page.reason) for page in web.dropped] == [(urls[1], "login_wall"), (urls[2], "address")]
    assert [call.model for call in fetches(first)].count("robots.txt") == 1
    assert sum(call.cached for call in fetches(first)) == 0
    assert sum(call.cached for call in fetches(second)) == 1
    assert server.paths.count("/metal") == 1
    assert (workspace / ".tadasu" / "pages.db").exists()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PORTS", "80, 99999", "ports"),
        ("PORTS", "", "ports"),
        ("DENY", "https://example.com/path", "no host"),
        ("PRIVATE_HOSTS", "user@host", "no host"),
        ("PROXY", "socks5://127.0.0.1:1080", "http://host:port"),
        ("CALLS", "0", "calls"),
        ("CALLZ", "3", "callz"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"TADASU_FETCH__{name}", value)
    with pytest.raises(SettingsInvalid, match=told):
        load_settings(None)


def test_lists_are_written_with_commas_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_FETCH__PORTS", "80,443,8443")
    monkeypatch.setenv("TADASU_FETCH__ALLOW", "go.jp, example.com")
    fetch = load_settings(None).fetch
    assert fetch.ports == (80, 443, 8443)
    assert fetch.allow == ("go.jp", "example.com")
