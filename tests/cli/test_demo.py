from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tadasu.answering.ingestion.report import Failure, IngestReport
from tadasu.app import assets
from tadasu.cli.demo import PATHS
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, answered


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedTadasu) -> Path:
    """A small corpus in place of the shipped one, and a Tadasu that answers its two questions."""
    folder = tmp_path / "shipped"
    for name in ("documents", "web"):
        (folder / name).mkdir(parents=True)
    rows = [
        {"id": "one", "path": "ambiguous", "question": "How long?", "language": "en",
         "expect": {"status": "answered", "verdicts": ["ambiguous", "correct"], "sources": ["service/warranty.md"]}},
        {"id": "two", "path": "cross_language", "question": "何年ですか", "language": "ja",
         "expect": {"status": "answered", "answer_contains": ["24 months"]}},
    ]  # fmt: skip
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "questions.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.setattr(assets, "demo_folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    ingested: list[Any] = []

    async def ingest(*paths: Path, **options: Any) -> IngestReport:
        ingested.append((paths, options))
        failure = Failure("a.txt", "document_empty", "a.txt: the file holds no text.", "Remove it.")
        return IngestReport(added=2, passages=7, failed=(failure,))

    monkeypatch.setattr(scripted, "ingest", ingest, raising=False)
    return folder


def test_the_demo_shows_each_path_and_what_to_try_next(call: Call, shipped: Path, tmp_path: Path) -> None:
    shown = call("demo")
    assert shown.code == 0
    assert "2 added, 0 updated" in shown.out
    assert f"1. {PATHS['ambiguous']}" in shown.out
    assert "AMBIGUOUS → searched again → CORRECT" in shown.out
    assert "[1] service/warranty.md" in shown.out
    assert "2 of 2 questions went as expected." in shown.out
    assert "tadasu -w tadasu-demo ask" in shown.out
    assert (tmp_path / "tadasu-demo" / "tadasu.toml").is_file()
    assert call("demo").code == 0  # a second time, in what is there


def test_what_does_not_hold_is_said_and_is_exit_code_1(call: Call, shipped: Path, scripted: ScriptedTadasu) -> None:
    scripted.replies["何年ですか"] = answered("何年ですか", text="36 months.")
    shown = call("demo", "--temporary")
    assert shown.code == 1
    assert "Not as expected: the answer lacks 24 months." in shown.out
    assert "1 of 2 questions went as expected." in shown.out
    told = call("demo", "--temporary", "--json")
    assert told.code == 1
    assert set(told.json) == {"workspace", "ingest", "questions", "held"}
    assert told.json["held"] is False
    assert [row["held"] for row in told.json["questions"]] == [True, False]
    assert told.json["questions"][1]["failures"] == ["the answer lacks 24 months"]
    assert not Path(told.json["workspace"]).exists()
    assert not Path("tadasu-demo").exists()


def test_the_frame_speaks_japanese(call: Call, shipped: Path) -> None:
    shown = call("demo", "--temporary", "--lang", "ja").out
    assert "2 問中 2 問が期待どおりでした。" in shown
    assert "日本語の質問に、英語の文書から答えます。" in shown
    assert "ファイルに文章がありません" in shown


def test_a_folder_and_temporary_exclude_each_other(call: Call, shipped: Path) -> None:
    assert call("demo", "x", "--temporary").code == 2
