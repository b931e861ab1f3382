"""ask --defer, work, jobs, trace: with real parts and a folder that plays the web, and the worker as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tadasu.app.deferred import Deferred
from tadasu.app.settings_file import settings_text
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.cli.deferral import deferral_words
from tadasu.cli.frame import Frame
from tadasu.core.documents import Reader
from tadasu.core.jobs import JobState, JobStatus, correction_job
from tadasu.core.runs import Deferral
from tadasu.runtime.world import SystemClock
from tadasu.storage.runs import SqlRunBook
from tests.cli.conftest import Call, Outcome
from tests.storage.some_runs import everyday_run

TADASU = [sys.executable, "-m", "tadasu"]
QUESTION = "What is the boiling point of gallium?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("deferred") / "ws"
    create_workspace(root, settings_text({"web.provider": "folder", "web.folder": "web", "deferred.attempts": 1}))
    (root / "docs").mkdir()
    (root / "docs" / "warranty.md").write_text("# Warranty\n\nThe KPT-340 has a warranty of 24 months.\n", "utf-8")
    (root / "web").mkdir()
    (root / "web" / "gallium.html").write_text(
        "<html><head><title>Gallium</title></head><body><article><h1>Gallium</h1>"
        "<p>The boiling point of gallium is 2,403 °C.</p></article></body></html>",
        "utf-8",
    )
    entry = {"url": "https://en.example.com/gallium", "title": "Gallium", "snippet": "", "file": "gallium.html"}
    (root / "web" / "index.jsonl").write_text(json.dumps(entry) + "\n", "utf-8")
    tadasu = Tadasu.open(root)
    tadasu.sync.ingest(root / "docs")
    tadasu.sync.close()
    return root


@pytest.fixture
def workspace(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("TADASU_"):
            monkeypatch.delenv(name)
    for file in (made / ".tadasu").glob("state.db*"):
        file.unlink()
    monkeypatch.chdir(made)
    return made


def test_a_question_is_answered_at_once_and_its_better_answer_found_from_it(call: Call, workspace: Path) -> None:
    first = call("ask", QUESTION, "--defer")
    assert first.code == 0
    assert "Warning: this answer is from the first search alone; its correction was put off" in first.out
    run = first.out.split("`tadasu trace ")[1].split("`")[0]
    assert "The correction waits for a worker: `tadasu work` is one." in call("trace", run).out
    listed = call("jobs")
    assert run in listed.out
    assert "waiting, due" in listed.out

    done = call("work", "--until-empty")
    assert done.code == 0
    assert f"{run}: corrected by " in done.err
    assert "1 corrected, 0 to be tried again, 0 given up; 0 jobs are left" in done.err
    assert "gallium" not in done.out + done.err  # who runs a worker need not be allowed to read
    told = call("trace", run)
    better = told.out.split("`tadasu trace ")[1].split("`")[0]
    assert f"Corrected: `tadasu trace {better}` is the better answer.\nThe boiling point of gallium is" in told.out
    shown = call("trace", better)
    assert "2,403 °C" in shown.out
    assert f"It corrects {run}." in shown.out
    assert "No correction is waiting." in call("jobs").out
    assert f"{run} · done " in call("jobs", "--all").out


def test_scripts_read_the_same(call: Call, workspace: Path) -> None:
    assert call("ask", "How long is the warranty of the KPT-340?", "--defer", "--json").json["deferred"] == "none"
    first = call("ask", QUESTION, "--defer", "--json").json
    assert (first["deferred"], first["status"]) == ("pending", "abstained")
    waiting = call("trace", first["run"], "--json").json
    assert (waiting["correction"]["state"], waiting["correction"]["corrected_by"]) == ("waiting", None)
    assert [job["run"] for job in call("jobs", "--json").json["jobs"]] == [first["run"]]
    done = call("work", "--once", "--json").json
    assert {key: done[key] for key in ("done", "failed", "dead", "given_back", "lost", "left")} == {
        "done": 1, "failed": 0, "dead": 0, "given_back": 0, "lost": 0, "left": 0,
    }  # fmt: skip
    (job,) = done["jobs"]
    assert (job["run"], job["outcome"], job["attempt"]) == (first["run"], "done", 1)
    better = call("trace", job["corrected_by"], "--json").json
    assert (better["corrects"], better["deferred"]) == (first["run"], "done")
    assert call("trace", first["run"], "--json").json["correction"]["corrected_by"] == better["id"]
    assert call("work", "--once", "--json").json["jobs"] == []


def test_what_was_given_up_says_why_and_how_to_begin_anew(call: Call, workspace: Path) -> None:
    run = call("ask", QUESTION, "--defer", "--json").json["run"]
    index = workspace / "web" / "index.jsonl"
    good = index.read_text("utf-8")
    index.unlink()
    failed = call("work", "--until-empty")
    index.write_text(good, "utf-8")
    assert failed.code == 3
    assert "0 corrected, 0 to be tried again, 1 given up; 0 jobs are left" in failed.err
    told = call("trace", run)
    assert "The correction was given up (" in told.out
    assert f"`tadasu jobs --retry {run}` begins it anew." in told.out
    assert "訂正は断念されました（" in call("trace", run, "--lang", "ja").out
    assert "given up" in call("jobs").out
    assert "waiting, due" in call("jobs", "--retry", run).out
    assert call("work", "--until-empty").code == 0
    assert "Corrected: " in call("trace", run).out
    assert call("jobs", "--retry", "run-nobody").code == 4
    assert call("jobs", "--retry", "last").code == 2


def test_japanese(call: Call, workspace: Path) -> None:
    first = call("ask", "ガリウムの沸点は何度ですか？", "--defer", "--lang", "ja")
    assert "警告：この回答は最初の検索だけによるもので、訂正は後で行われます" in first.out.replace(": ", "：")
    assert "訂正は `tadasu work` が動いているところで続きます。" in first.out
    assert "待機中、" in call("jobs", "--lang", "ja").out
    assert "残りの仕事 0 件" in call("work", "--once", "--lang", "ja").err


def test_batches_and_conversations_put_off_too(call: Call, workspace: Path) -> None:
    batch = call("ask", "--batch", "-", "--defer", stdin=json.dumps({"question": QUESTION}) + "\n")
    assert batch.lines[0]["deferred"] == "pending"
    turns = call("ask", "--defer", "--json", stdin=f"{QUESTION}\nAnd of mercury?\n")
    assert [turn["deferred"] for turn in turns.lines] == ["pending", "pending"]
    assert call("work", "--until-empty", "--json").json["done"] == 3


def test_once_and_until_empty_exclude_each_other(call: Call, workspace: Path) -> None:
    refused = call("work", "--once", "--until-empty")
    assert refused.code == 2
    assert "exclude each other" in refused.err


@pytest.mark.parametrize(
    ("state", "reason", "english", "japanese"),
    [
        (JobState.WAITING, "", "waits for a worker", "ワーカーを待っています"),
        (
            JobState.WAITING,
            "tavily cannot be reached (no route).",
            "failed (tavily cannot be reached (no route)); it is tried again from 2026-01-02T03:04:05+00:00 on",
            "訂正は失敗しました（tavily に接続できません",
        ),
        (JobState.RUNNING, "", "A worker is at the correction", "いまワーカーが訂正しています"),
        (JobState.DEAD, "it is 3 o'clock", "given up (it is 3 o'clock)", "断念されました（it is 3 o'clock）"),
    ],
)
def test_each_state_has_its_words(state: JobState, reason: str, english: str, japanese: str) -> None:
    job = correction_job("run-1", reader=Reader(), created_at="2026-01-01T00:00:00.000+00:00")
    deferred = Deferred("run-1", JobStatus(job, state, 1, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), reason))
    assert english in deferral_words(Frame(lang="en"), deferred)
    assert japanese in deferral_words(Frame(lang="ja"), deferred)


def worker(workspace: Path, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TADASU_", "LC_", "LANG"))}
    return subprocess.Popen(
        [*TADASU, "work", *arguments],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "LANG": "C.UTF-8"},
    )


def until(process: subprocess.Popen[str], holds: Callable[[str], bool]) -> None:
    assert process.stderr is not None
    while line := process.stderr.readline():
        if holds(line):
            return
    raise AssertionError("the worker ended")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_an_idle_worker_stops_when_told(workspace: Path, number: signal.Signals, code: int) -> None:
    process = worker(workspace)
    until(process, lambda line: line.startswith("Waiting for corrections"))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert "Stopped; what was not done is free for other workers." in err
    assert "Traceback" not in err


def test_a_worker_that_is_told_to_stop_at_work_gives_its_job_back(call: Call, workspace: Path) -> None:
    leave_a_job(workspace)
    process = worker(workspace, "--json")
    until(process, lambda line: "attempt 1" in line)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    told = json.loads(out)
    assert told["run"] == "run-0001"
    state = jobs_of(call("jobs", "--all", "--json"))["run-0001"]
    # The signal may come when the work has just been done; what it must not be is in nobody's hands and not free.
    assert (told["outcome"], state) in {("given_back", "waiting"), ("done", "done")}, err


def test_a_worker_that_is_killed_loses_nothing(call: Call, workspace: Path) -> None:
    leave_a_job(workspace)
    process = worker(workspace)
    until(process, lambda line: "attempt 1" in line)
    process.kill()
    process.communicate(timeout=60)
    assert jobs_of(call("jobs", "--json"))["run-0001"] == "running"
    assert call("work", "--once", "--json").json["jobs"] == []
    assert call("trace", "run-0001", "--json").json["correction"]["state"] == "running"


def leave_a_job(workspace: Path) -> None:
    """A run whose correction was put off, without the models being loaded here."""
    book = SqlRunBook.open(workspace / ".tadasu" / "state.db")
    created = SystemClock().now().isoformat(timespec="milliseconds")
    run = everyday_run(created_at=created)
    book.save(replace(run, question=QUESTION, query=QUESTION, deferred=Deferral.PENDING))
    book.close()


def jobs_of(shown: Outcome) -> dict[str, str]:
    return {job["run"]: job["state"] for job in shown.json["jobs"]}
