"""`tadasu-train` says what is missing instead of failing half-way."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from training import main


def test_without_torch_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    assert main.main(["student"]) == 2
    assert "torch" in (said := capsys.readouterr().err)
    assert "make train" in said


def test_exporting_before_training_names_the_step_that_comes_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in main.NEEDED:
        pytest.importorskip(name, reason=f"{name} is in the `train` group only (make train)")
    assert main.main(["export", "--rows", str(tmp_path), "--model", str(tmp_path / "model")]) == 2
    assert "tadasu-train student" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_a_smoke_run_keeps_to_a_folder_of_its_own() -> None:
    places = main.places_of(main.parser().parse_args(["all", "--smoke"]))
    assert {places.rows.name, places.model.parent.name} == {"grader-smoke"}
    assert places.run.parent == places.rows
