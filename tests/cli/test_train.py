"""`tadasu-train`: opens the repository's training in a checkout, says where it is in an installed wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.cli import train


def test_in_a_checkout_the_repository_is_found() -> None:
    root = train.checkout()
    assert root is not None
    assert (root / "training" / "main.py").is_file()


def test_in_a_wheel_it_says_in_both_languages_where_training_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    installed = tmp_path / "lib" / "site-packages" / "tadasu" / "cli" / "train.py"
    monkeypatch.setattr(train, "__file__", str(installed))
    with pytest.raises(SystemExit) as left:
        train.main()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "repository" in said
    assert "リポジトリ" in said
    assert "Traceback" not in said
