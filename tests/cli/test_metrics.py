from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.storage.runs import SqlRunBook
from tests.cli.conftest import Call
from tests.cli.samples import abstained, answered


@pytest.fixture
def workspace(tmp_path: Path, call: Call) -> Path:
    assert call("init", tmp_path).code == 0
    book = SqlRunBook.open(tmp_path / ".tadasu" / "state.db")
    book.save(answered("保証期間は何年ですか", language="ja"))
    book.save(abstained())
    book.close()
    return tmp_path


def test_the_exposition_is_printed_and_holds_no_text_of_a_run(call: Call, workspace: Path) -> None:
    done = call("metrics", "-w", workspace)
    assert done.code == 0
    assert 'tadasu_run_seconds_count{status="answered"} 1.0' in done.out
    assert "tadasu_web_fallback_runs_total 0.0" in done.out
    for text in ("保証", "warranty", "run-0000", "Who sings"):
        assert text not in done.out


def test_it_counts_what_stats_counts(call: Call, workspace: Path) -> None:
    stats = call("stats", "-w", workspace, "--json").json["runs"]
    samples = call("metrics", "-w", workspace, "--json").json["metrics"]
    runs = [one for one in samples if one["name"] == "tadasu_runs_total"]
    assert sum(one["value"] for one in runs) == stats["runs"]
    answered_runs = [one["value"] for one in runs if one["labels"]["status"] == "answered"]
    assert answered_runs == [stats["answered"]]
    assert {one["labels"]["reason"]: one["value"] for one in runs if one["labels"]["reason"]} == stats["abstained"]


def test_a_file_for_a_collector_is_written_whole_and_readable_by_others(
    call: Call, workspace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "tadasu.prom"
    out.parent.mkdir()
    done = call("metrics", "-w", workspace, "--out", out)
    assert (done.code, done.out) == (0, "")
    assert out.read_text("utf-8") == call("metrics", "-w", workspace).out
    assert [file.name for file in out.parent.iterdir()] == ["tadasu.prom"]
    assert out.stat().st_mode & 0o044  # as the user's umask says, and not for the owner alone


@pytest.mark.parametrize(("lang", "word"), [("en", "Error:"), ("ja", "エラー")])
def test_a_file_that_cannot_be_written_is_said(call: Call, workspace: Path, lang: str, word: str) -> None:
    done = call("metrics", "-w", workspace, "--out", workspace / "no" / "such" / "file.prom", "--lang", lang)
    assert done.code == 2
    assert word in done.err
    assert "file.prom" in done.err


def test_without_a_workspace_it_says_so(call: Call, tmp_path: Path) -> None:
    assert call("metrics", "-w", tmp_path).code == 2
