"""Citations are the same wherever they are read, and each opens its file at the quote: real parts, real files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from tadasu import Tadasu
from tadasu.app.settings_file import settings_text
from tadasu.app.workspace import create_workspace
from tadasu.cli.jsonable import citation_object
from tadasu.core.events import RunEnded, Shown
from tests.cli.test_real_chain import tadasu

WARRANTY = "The warranty period of the KPT-340 pressure transmitter is 24 months."
ASKED = {"en": "How long is the warranty of the KPT-340?", "ja": "PHM-7の保証期間は何年ですか？"}
SOURCE = {"en": "manual.pdf", "ja": "保証.md"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = create_workspace(tmp_path_factory.mktemp("cited"), settings_text()).root
    folder = root / "docs"
    folder.mkdir()
    pages = Canvas(str(folder / "manual.pdf"))
    for lines in (["This manual tells how the head office in Aalborg is reached."], [WARRANTY, "Batteries are out."]):
        for number, line in enumerate(lines):
            pages.drawString(72, 720 - 20 * number, line)
        pages.showPage()
    pages.save()
    (folder / "保証.md").write_text("# 保証\n\nPHM-7の保証期間は、納入日から3年です。電極は対象外です。\n", "utf-8")
    assert tadasu(root, "ingest", "docs").returncode == 0
    return root


def told(workspace: Path, *arguments: str) -> Any:
    done = tadasu(workspace, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("language", ASKED)
def test_every_door_gives_the_same_list_of_citations(workspace: Path, language: str, tmp_path: Path) -> None:
    asked = told(workspace, "ask", ASKED[language])
    assert asked["status"] == "answered"
    assert asked["citations"]
    assert told(workspace, "trace", asked["run"])["answer"]["citations"] == asked["citations"]
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": ASKED[language]}) + "\n", "utf-8")
    batch = tadasu(workspace, "ask", "--batch", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "runs.jsonl"))
    assert batch.returncode == 0, batch.stderr
    [exported] = (tmp_path / "runs.jsonl").read_text("utf-8").splitlines()
    assert json.loads(exported)["citations"] == asked["citations"]

    async def streamed() -> tuple[Shown, RunEnded, list[Any]]:
        screen = Shown()
        async with Tadasu.open(workspace) as opened:
            async for event in opened.stream(ASKED[language]):
                screen(event)
            assert isinstance(event, RunEnded)
            loaded = opened.trace(event.run.id).answer.citations
        return screen, event, [citation_object(one) for one in loaded]

    screen, ended, loaded = asyncio.run(streamed())
    assert loaded == [citation_object(one) for one in screen.citations] == asked["citations"]
    assert ended.run.answer.citations == screen.citations


@pytest.mark.parametrize("language", ASKED)
def test_a_citation_opens_file_page_offsets_and_quote(workspace: Path, language: str) -> None:
    asked = told(workspace, "ask", ASKED[language])
    for citation in asked["citations"]:
        opened = told(workspace, "source", asked["run"], str(citation["marker"]), "--around", "40")
        assert {key: opened[key] for key in citation} == citation
        assert opened["state"] == "exact"
        assert opened["stands_at"] == citation["span"]
        assert Path(opened["file"]) == (workspace / citation["source"]).resolve()
        assert Path(opened["file"]).name == SOURCE[language]
        assert opened["page"] == (2 if language == "en" else None)
    if language == "ja":
        text = (workspace / "docs" / "保証.md").read_text("utf-8")
        span = opened["stands_at"]
        assert text[span["start"] : span["end"]] == opened["quote"]
        assert opened["before"] + opened["quote"] + opened["after"] in text


def test_it_is_shown_to_people_in_their_language(workspace: Path) -> None:
    run = told(workspace, "ask", ASKED["en"])["run"]
    shown = tadasu(workspace, "source", run, "1")
    assert "manual.pdf · page 2" in shown.stdout
    assert str((workspace / "docs" / "manual.pdf").resolve()) in shown.stdout
    assert "characters " in shown.stdout
    assert f"»{WARRANTY}«" in shown.stdout.replace("\n", " ")
    japanese = tadasu(workspace, "source", run, "1", "--lang", "ja").stdout
    assert "文字目から" in japanese
    assert "2ページ" in japanese or "ページ" in japanese


def test_what_is_not_there_is_said(workspace: Path) -> None:
    run = told(workspace, "ask", ASKED["en"])["run"]
    missing = tadasu(workspace, "source", run, "9")
    assert missing.returncode == 4
    assert "has no citation [9]" in missing.stderr
    assert "引用 [9] はありません" in tadasu(workspace, "source", run, "9", "--lang", "ja").stderr
    assert tadasu(workspace, "source", "run-none", "1").returncode == 4
    assert tadasu(workspace, "source", run, "0").returncode == 2


def test_a_document_that_has_changed_since_says_so(workspace: Path) -> None:
    run = told(workspace, "ask", ASKED["ja"])["run"]
    file = workspace / "docs" / "保証.md"
    before = file.read_text("utf-8")
    try:
        file.write_text("# 新しい前書き\n\n前書きです。\n\n" + before, "utf-8")
        assert tadasu(workspace, "ingest", "docs").returncode == 0
        opened = told(workspace, "source", run)
        assert opened["state"] == "moved"
        assert "別の位置" in tadasu(workspace, "source", run, "--lang", "ja").stdout
        file.write_text("# 保証\n\n保証はありません。\n", "utf-8")
        assert tadasu(workspace, "ingest", "docs").returncode == 0
        opened = told(workspace, "source", run)
        assert (opened["state"], opened["stands_at"]) == ("changed", None)
        assert "今は" not in tadasu(workspace, "source", run, "--lang", "ja").stdout
    finally:
        file.write_text(before, "utf-8")
        tadasu(workspace, "ingest", "docs")
