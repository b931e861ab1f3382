"""The whole grading report on a few questions, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tadasu.testing.datasets import DataAbsent, Part, folder, passages

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_smoke_run_reports_every_set_and_the_goals(tmp_path: Path) -> None:
    try:
        passages(Part.JSQUAD_VALID)
    except DataAbsent:
        pytest.skip(f"no shared data under {folder()}")
    command = [sys.executable, "-m", "benchmarks.grading", "--smoke", "--json", str(tmp_path / "figures.json")]
    done = subprocess.run(
        [*command, "--cache", str(tmp_path / "pairs.sqlite")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "missed at tau_low" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    measured = {line["set"] for line in figures["grading"]}
    assert measured == {
        "jsquad", "xquad_en", "popqa", "covidqa", "covidqa long", "topical en", "topical ja",
        "topical en near", "topical ja near", "topical en hard", "topical ja hard",
    }  # fmt: skip
    features = [line for line in figures["grading"] if line["grader"] == "features alone"]
    assert len(features) == 11
    assert all(line["positives"] > 0 and line["ungraded"] == 0 for line in features)
    assert figures["machine"]
    assert {goal["what"] for goal in figures["goals"]} >= {
        "AUC jsquad",
        "pooled ECE",
        "memory of a serving process, MB",
    }
    assert 0 < figures["speed"]["memory_mb"] < 2000
