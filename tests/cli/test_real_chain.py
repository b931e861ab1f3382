"""Every part real: a workspace of three documents, the shipped models, whole command lines."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tadasu.app.settings_file import settings_text
from tadasu.app.workspace import create_workspace
from tadasu.cli.application import run

WARRANTY = "The warranty period for the KPT-340 pressure transmitter is 24 months from delivery."
DOCUMENTS = {
    "service/warranty.md": f"# Warranty\n\n{WARRANTY} Batteries are not covered.\n",
    "service/保証.md": "# 保証\n\nPHM-7の保証期間は、納入日から3年です。電極は対象外です。\n",
    "company/sites.md": "# Sites\n\nThe head office is in Aalborg. The repair centre is in Ghent.\n",
}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def tadasu(folder: Path, *arguments: str, stdin: str = "") -> Done:
    """One command line in this process; `as_process` is the same in its own."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        patch.setenv("LC_ALL", "C.UTF-8")
        for name in [name for name in os.environ if name.startswith("TADASU_")]:
            patch.delenv(name)
        code = run(arguments)
    return Done(int(code), out.getvalue(), err.getvalue())


def as_process(folder: Path, *arguments: str) -> Done:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TADASU_", "LC_", "LANG"))}
    done = subprocess.run(
        [sys.executable, "-m", "tadasu", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", env={**kept, "LANG": "C.UTF-8"}, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = create_workspace(tmp_path_factory.mktemp("chain") / "ws", settings_text()).root
    for name, text in DOCUMENTS.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = as_process(root, "ingest", "docs", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == 3
    return root


def told(done: Done) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_question_is_answered_traced_and_explained(workspace: Path) -> None:
    answer = told(as_process(workspace, "ask", "How long is the warranty period for the KPT-340?", "--json"))
    assert answer["status"] == "answered"
    assert "24 months" in answer["answer"]
    assert answer["citations"][0]["source"] == "docs/service/warranty.md"
    text = (workspace / "docs" / "service" / "warranty.md").read_text(encoding="utf-8")
    assert answer["citations"][0]["quote"] in text
    record = told(tadasu(workspace, "trace", "last", "--json"))
    assert record["id"] == answer["run"]
    assert record["calls"]
    assert record["cost"] == {"usd": 0.0, "unpriced_calls": 0}
    assert told(tadasu(workspace, "why", answer["run"], "warranty.md", "--json"))["fate"] == "cited"
    shown = tadasu(workspace, "trace", answer["run"])
    assert shown.returncode == 0
    assert "round 1: hybrid" in shown.stdout


def test_a_japanese_question_is_answered_in_japanese(workspace: Path) -> None:
    shown = tadasu(workspace, "ask", "PHM-7の保証期間は何年ですか。", "--lang", "ja")
    assert shown.returncode == 0, shown.stderr
    assert "3年" in shown.stdout
    assert "[1] docs/service/保証.md" in shown.stdout
    assert "CORRECT" in shown.stdout


def test_what_nobody_knows_is_not_answered(workspace: Path) -> None:
    answer = told(tadasu(workspace, "ask", "Who painted the ceiling of the opera house in Tampere?", "--json"))
    assert (answer["status"], answer["citations"]) == ("abstained", [])
    assert answer["reason"]


def test_a_filter_hides_a_document_and_why_says_so(workspace: Path) -> None:
    question = "How long is the warranty period for the KPT-340?"
    answer = told(tadasu(workspace, "ask", question, "--filter-source", "docs/company/", "--json"))
    assert all(item["source"].startswith("docs/company/") for item in answer["evidence"])
    found = told(tadasu(workspace, "why", answer["run"], "warranty.md", "--json"))
    assert (found["fate"], found["filters"]) == ("filtered", ["source docs/company/"])


def test_a_follow_up_finds_what_it_means(workspace: Path) -> None:
    lines = "What is the warranty period for the KPT-340?\nAnd are batteries covered by it?\n"
    done = tadasu(workspace, "ask", "--json", stdin=lines)
    assert done.returncode == 0, done.stderr
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(turns) == 2
    assert turns[1]["question"] == "And are batteries covered by it?"
    assert "KPT-340" in turns[1]["query"]
    assert turns[0]["session"] == turns[1]["session"]


def test_a_batch_goes_on_past_bad_lines_and_takes_up_where_it_stopped(workspace: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    good = {"id": "w", "question": "How long is the warranty period for the KPT-340?", "answers": ["24 months"]}
    questions.write_text(
        json.dumps(good) + '\nbroken\n{"id": "s", "question": "本社はどこにありますか。"}\n', encoding="utf-8"
    )
    out = tmp_path / "runs.jsonl"
    first = tadasu(workspace, "ask", "--batch", str(questions), "--out", str(out), "--json")
    assert first.returncode == 3
    summary = json.loads(first.stdout)
    assert summary["answered"] + summary["abstained"] == 2
    assert [row["line"] for row in summary["failed"]] == [2]
    rows = {row["id"]: row for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert rows["w"]["input"] == {"answers": ["24 months"]}
    assert any("24 months" in item["text"] for item in rows["w"]["evidence"])
    assert told(tadasu(workspace, "trace", rows["s"]["run"], "--json"))["question"] == "本社はどこにありますか。"
    second = json.loads(tadasu(workspace, "ask", "--batch", str(questions), "--out", str(out), "--json").stdout)
    assert (second["answered"] + second["abstained"], second["skipped"]) == (0, 2)


def test_search_stats_and_doctor(workspace: Path) -> None:
    found = told(tadasu(workspace, "search", "warranty of the KPT-340", "--json"))
    assert found["candidates"][0]["source"] == "docs/service/warranty.md"
    assert found["candidates"][0]["dense_rank"] == found["candidates"][0]["lexical_rank"] == 1
    assert found["candidates"][0]["grade"]["level"] == "high"
    assert told(tadasu(workspace, "stats", "--json"))["index"]["documents"] == 3
    findings = told(tadasu(workspace, "doctor", "--json"))
    assert findings["healthy"]
    assert {"search", "calibration"} <= {row["check"] for row in findings["findings"]}


def test_a_batch_stopped_with_ctrl_c_keeps_whole_lines_and_goes_on(workspace: Path, tmp_path: Path) -> None:
    questions, out = tmp_path / "many.jsonl", tmp_path / "runs.jsonl"
    rows = [{"id": n, "question": f"How long is the warranty period for the KPT-{n}?"} for n in range(400)]
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tadasu", "ask", "--batch", str(questions), "--out", str(out)],
        cwd=workspace, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out.exists() and out.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert b"Traceback" not in said
    done = [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert 3 <= len(done) == len(set(done)) < 400
    questions.write_text("\n".join(map(json.dumps, rows[: max(done) + 3])), encoding="utf-8")
    summary = told(tadasu(workspace, "ask", "--batch", str(questions), "--out", str(out), "--json"))
    assert summary["skipped"] == len(done)
    after = [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(after) == list(range(min(max(done) + 3, 400)))


@pytest.mark.slow
def test_the_demo_goes_as_expected(tmp_path: Path) -> None:
    done = as_process(tmp_path, "demo", "--temporary", "--json")
    shown = json.loads(done.stdout)
    assert {row["id"]: row["failures"] for row in shown["questions"] if not row["held"]} == {}
    assert shown["ingest"]["failed"] == []
    assert len(shown["questions"]) == 8
    assert all(row["cost"] == {"usd": 0.0, "unpriced_calls": 0} for row in shown["questions"])
    assert done.returncode == 0
