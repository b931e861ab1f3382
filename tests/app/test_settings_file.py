from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tadasu.answering.correction.policy import ReservePolicy
from tadasu.app.settings import Settings, load_settings
from tadasu.app.settings_file import settings_tables, settings_text, toml_value, values_of
from tadasu.text.messages import translate


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("TADASU_") and name != "TADASU_DATA":
            monkeypatch.delenv(name)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tadasu.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_loads_back_to_the_defaults(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, settings_text())).model_dump() == Settings().model_dump()


def test_the_explanations_can_be_japanese(tmp_path: Path) -> None:
    text = settings_text({"retrieval.k": 20}, say=lambda sentence: translate(sentence, "ja"))
    assert "# 一回の検索で取得し、評価するパッセージの数。\nk = 20\n" in text
    assert load_settings(written(tmp_path, text)).retrieval.k == 20


def test_every_default_in_the_comments_is_the_default(tmp_path: Path) -> None:
    lines = settings_text().splitlines()
    live = [line.removeprefix("# ") if " = " in line and not line.endswith("=") else line for line in lines]
    live = [line for line in live if " = " not in line or line.split(" = ")[0].isidentifier()]
    text = "\n".join(live)
    told = tomllib.loads(text)
    set_keys = {f"{section}.{name}" for section, table in told.items() for name in table}
    unset = {entry.key for table in settings_tables() for entry in table.entries if not entry.default}
    assert set_keys | unset == {entry.key for table in settings_tables() for entry in table.entries}
    assert load_settings(written(tmp_path, text)).model_dump() == Settings().model_dump()


def test_every_setting_has_a_meaning_and_a_kind() -> None:
    for table in settings_tables():
        assert table.description.endswith(".")
        for entry in table.entries:
            assert entry.description.endswith(".")
            assert entry.kind
            assert entry.description in settings_text()


def test_chosen_values_are_written_and_read_back(tmp_path: Path) -> None:
    chosen = {
        "retrieval.k": 20,
        "chat.base_url": "http://127.0.0.1:8080/v1",
        "chat.model": 'a "quoted" \\ name\n日本',
        "reader.groups": ("board", "監査"),
        "correction.incorrect": ReservePolicy.USE_WITH_WARNING,
        "budget.money": 0.5,
    }
    settings = load_settings(written(tmp_path, settings_text(chosen)))
    values = {entry.key: value for entry, value in values_of(settings)}
    assert {key: values[key] for key in chosen} == chosen


def test_a_key_that_is_no_setting_is_refused() -> None:
    with pytest.raises(ValueError, match=r"retrieval\.kk"):
        settings_text({"retrieval.kk": 1})


@pytest.mark.parametrize("value", ["", "a", 'q"', "tab\t", "\x7f", "\x1f", "改行\n", "\\n", True, 0, 1.5, [1, "b"]])
def test_values_survive_toml(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value
