from __future__ import annotations

from pathlib import Path

import pytest

from tadasu.app.settings import load_settings, origin_of
from tadasu.core.refining import Strength
from tadasu.errors import SettingsInvalid


def write(folder: Path, text: str) -> Path:
    file = folder / "tadasu.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_environment_wins_over_file_wins_over_default_and_each_says_where_it_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "[retrieval]\nk = 20\n[correction]\nmax_searches = 1\n")
    monkeypatch.setenv("TADASU_RETRIEVAL__K", "30")
    settings = load_settings(file)
    assert (settings.retrieval.k, settings.correction.max_searches, settings.refinement.token_budget) == (30, 1, 1024)
    assert origin_of("retrieval.k", file) == "environment TADASU_RETRIEVAL__K"
    assert origin_of("correction.max_searches", file) == "tadasu.toml"
    assert origin_of("refinement.token_budget", file) == "default"


def test_design_defaults_hold_without_a_file() -> None:
    settings = load_settings(None)
    assert settings.retrieval.k == 10
    assert settings.correction.quality_threshold == 0.6
    assert settings.correction.max_searches == 2
    assert settings.web.provider == ""
    assert settings.web.results == 5
    assert settings.refinement.strength is Strength.MILD
    assert settings.refinement.token_budget == 1024


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("[retrieval]\nkk = 20\n", "retrieval.kk", "not a known setting"),
        ("[retrieval]\nk = 'many'\n", "retrieval.k", "cannot be used"),
        ("[retrieval]\nk = 0\n", "retrieval.k", "greater than or equal to 1"),
        ("[nonsense]\n", "nonsense", "not a known setting"),
        ("[retrieval\n", "the file", "not valid TOML"),
        ("[correction]\nrule = 'best'\n", "correction.rule", "any_high"),
    ],
)
def test_a_bad_setting_names_file_key_and_reason(tmp_path: Path, text: str, key: str, reason: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(SettingsInvalid) as caught:
        load_settings(file)
    assert str(file) in str(caught.value)
    assert key in str(caught.value)
    assert reason in str(caught.value)


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_RETRIEVAL__K", "many")
    with pytest.raises(SettingsInvalid, match="environment variable TADASU_RETRIEVAL__K"):
        load_settings(None)


@pytest.mark.parametrize("written", ["board,監査", " board , 監査, ", '["board", "監査"]'])
def test_names_in_a_variable_are_a_list(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("TADASU_READER__GROUPS", written)
    assert load_settings(None).reader.groups == ("board", "監査")


@pytest.mark.parametrize(
    ("variable", "written", "advice"),
    [
        ("TADASU_READER__GROUPS", '["board"', 'write it as: board, audit  or as: ["board", "audit"]'),
        ("TADASU_READER__GROUPS", "[1]", "valid string"),
        ("TADASU_READER", "{board", "set one value with TADASU_READER__"),
    ],
)
def test_a_variable_that_is_no_list_or_table_says_how_to_write_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, written: str, advice: str
) -> None:
    monkeypatch.setenv(variable, written)
    with pytest.raises(SettingsInvalid) as caught:
        load_settings(None)
    assert str(caught.value).startswith(f"environment variable {variable}: ")
    assert advice in str(caught.value)
    assert "config show" not in caught.value.hint
