"""init, config show, ingest, doctor: with real parts on a tiny workspace."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from tadasu.app import discovery
from tests.app.test_discovery import OLLAMA, closed_port, serving
from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("TADASU_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    point_at(monkeypatch, ollama=closed_port(), llama_cpp=closed_port())


def point_at(monkeypatch: pytest.MonkeyPatch, *, ollama: int, llama_cpp: int) -> None:
    """Let `init` look at these ports instead of the usual ones."""
    look = partial(discovery.find_servers, ollama_port=ollama, llama_cpp_port=llama_cpp)
    monkeypatch.setattr(discovery, "find_servers", look)


@pytest.fixture
def workspace(call: Call, tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    assert call("init", root, "--offline").code == 0
    folder = root / "docs"
    folder.mkdir()
    (folder / "warranty.md").write_text("# Warranty\n\nThe KPT-340 has a warranty of 24 months.\n", encoding="utf-8")
    (folder / "保証.md").write_text("# 保証\n\nKPT-340 の保証期間は24か月です。\n", encoding="utf-8")
    return root


def test_init_makes_a_workspace_once(call: Call, tmp_path: Path) -> None:
    shown = call("init")
    assert shown.code == 0
    assert "answers will be quotations from your documents" in shown.out
    assert "Next: tadasu ingest FOLDER" in shown.out
    again = call("init", "--json")
    assert again.code == 2
    assert again.json["error"]["code"] == "workspace_exists"
    assert call("config", "show").code == 0


def test_init_proposes_what_the_machine_offers_and_writes_only_what_is_named(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with serving(OLLAMA) as (port, _):
        point_at(monkeypatch, ollama=port, llama_cpp=closed_port())
        shown = call("init", "plain")
        named = call("init", "named", "--use", "ollama", "--json")
        missing = call("init", "other", "--use", "Gemini")
    assert "Found OpenAI ($OPENAI_API_KEY)." in shown.out
    assert "models: llama3.2:3b, qwen3:4b" in shown.out
    assert shown.out.count("Name a model of it too, under chat.model.") == 1
    assert 'provider = "openai"' in shown.out
    assert named.json["used"] == "Ollama"
    assert missing.code == 2
    assert "Found here: OpenAI, Ollama." in missing.err
    assert not Path("other").exists()
    chosen = call("-w", "named", "config", "show", "chat", "--json").json["settings"]
    values = {row["key"]: (row["value"], row["origin"]) for row in chosen}
    assert values["chat.provider"] == ("openai", "tadasu.toml")
    assert values["chat.base_url"] == (f"http://127.0.0.1:{port}/v1", "tadasu.toml")
    plain = call("-w", "plain", "config", "show", "chat", "--json").json["settings"]
    assert {row["origin"] for row in plain} == {"default"}
    everything = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("tadasu.toml"))
    for text in (everything, shown.out, named.out, missing.err):
        assert "sk-very-secret" not in text


def test_config_says_where_each_value_comes_from(call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_RETRIEVAL__K", "7")
    toml = workspace / "tadasu.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("# max_searches = 2", "max_searches = 3"), encoding="utf-8"
    )
    rows = {row["key"]: row for row in call("-w", workspace, "config", "show", "--json").json["settings"]}
    assert (rows["retrieval.k"]["value"], rows["retrieval.k"]["origin"]) == (7, "environment TADASU_RETRIEVAL__K")
    assert (rows["correction.max_searches"]["value"], rows["correction.max_searches"]["origin"]) == (3, "tadasu.toml")
    assert rows["web.results"]["origin"] == "default"
    shown = call("config", "show", "retrieval", "--workspace", workspace, "--lang", "ja")
    assert "一回の検索で取得し、評価するパッセージの数。" in shown.out
    assert call("-w", workspace, "config", "show", "nothing").code == 2


def test_a_wrong_setting_is_named_with_file_and_key(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = workspace / "tadasu.toml"
    good = toml.read_text(encoding="utf-8")
    for text in ("[retrieval]\nk = 0\n", "[retrieval]\nkk = 1\n", "[retrieval\n"):
        toml.write_text(text, encoding="utf-8")
        shown = call("-w", workspace, "stats")
        assert shown.code == 2
        assert "tadasu.toml" in shown.err
        assert "[settings_invalid]" in shown.err
    toml.write_text(good, encoding="utf-8")
    monkeypatch.setenv("TADASU_RETRIEVAL__K", "many")
    assert "environment variable TADASU_RETRIEVAL__K" in call("-w", workspace, "stats").err


def test_a_workspace_is_found_from_below(call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace / "docs")
    assert call("stats").code == 0
    monkeypatch.chdir(workspace.parent)
    shown = call("stats")
    assert shown.code == 2
    assert "Run `tadasu init` there first" in shown.err


def test_a_misspelt_workspace_is_not_the_one_above(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    for command in (["stats"], ["config", "show"], ["ask", "q"]):
        shown = call("-w", "wrong", *command)
        assert shown.code == 2
        assert "[workspace_missing]" in shown.err


def test_ingest_reports_what_it_did_and_what_failed(call: Call, workspace: Path) -> None:
    docs = workspace / "docs"
    (docs / "empty.txt").write_bytes(b"")
    first = call("-w", workspace, "ingest", docs)
    assert first.code == 3
    assert "2 added, 0 updated, 0 unchanged, 0 removed, 1 failed; 2 passages" in first.out
    assert "docs/empty.txt: the file holds no text. [document_empty]" in first.out
    assert "Remove it, or fill it and ingest again." in first.out
    japanese = call("-w", workspace, "ingest", docs, "--lang", "ja", "--json")
    assert japanese.json["failed"][0]["message"] == "docs/empty.txt: ファイルに文章がありません。"
    (docs / "empty.txt").unlink()
    (docs / "warranty.md").unlink()
    second = call("-w", workspace, "ingest", docs, "--json")
    assert second.code == 0
    assert (second.json["unchanged"], second.json["removed"], second.json["failed"]) == (1, 1, [])
    assert call("-w", workspace, "stats", "--json").json["index"]["documents"] == 1


def test_pruning_can_be_left_out_and_the_index_made_anew(call: Call, workspace: Path) -> None:
    docs = workspace / "docs"
    call("-w", workspace, "ingest", docs)
    (docs / "warranty.md").unlink()
    assert call("-w", workspace, "ingest", docs, "--no-prune", "--json").json["removed"] == 0
    assert call("-w", workspace, "stats", "--json").json["index"]["documents"] == 2
    rebuilt = call("-w", workspace, "ingest", docs, "--rebuild", "--json").json
    assert (rebuilt["added"], rebuilt["unchanged"]) == (1, 0)


def test_documents_of_a_group_are_hidden_from_others(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("-w", workspace, "ingest", workspace / "docs", "--groups", "board,audit")
    assert call("-w", workspace, "stats", "--json").json["index"]["documents"] == 0
    monkeypatch.setenv("TADASU_READER__GROUPS", '["audit"]')
    assert call("-w", workspace, "stats", "--json").json["index"]["documents"] == 2


def test_groups_stay_until_the_command_line_says_otherwise(
    call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = workspace / "docs"
    call("-w", workspace, "ingest", docs, "--groups", "board")
    again = call("-w", workspace, "ingest", docs)
    assert "0 updated, 2 unchanged" in again.out
    assert "still restricted to board, as was said before: 2. --groups names others, --public opens them." in again.out
    assert "board だけが閲覧できるファイル: 2 個" in call("-w", workspace, "ingest", docs, "--lang", "ja").out
    rebuilt = call("-w", workspace, "ingest", docs, "--rebuild", "--json").json
    assert (rebuilt["added"], rebuilt["kept_groups"]) == (2, {"files": 2, "groups": ["board"]})
    assert call("-w", workspace, "stats", "--documents", "--json").json == {"documents": []}
    with monkeypatch.context() as patched:
        patched.setenv("TADASU_READER__GROUPS", "audit, board")
        listed = call("-w", workspace, "stats", "--documents", "--json").json["documents"]
    assert [(one["source"], one["language"], one["groups"]) for one in listed] == [
        ("docs/warranty.md", "en", ["board"]),
        ("docs/保証.md", "ja", ["board"]),
    ]
    assert call("-w", workspace, "ingest", docs, "--public", "--groups", "board").code == 2
    assert "no group is named" in call("-w", workspace, "ingest", docs, "--groups", " ,").err
    opened = call("-w", workspace, "ingest", docs, "--public", "--json").json
    assert (opened["updated"], opened["kept_groups"]["files"]) == (2, 0)
    assert "everybody" in call("-w", workspace, "stats", "--documents").out


def test_a_broken_access_file_hides_its_folder(call: Call, workspace: Path) -> None:
    docs = workspace / "docs"
    call("-w", workspace, "ingest", docs)
    (docs / ".tadasu-access.toml").write_text('groups = "board"\n', encoding="utf-8")
    shown = call("-w", workspace, "ingest", docs, "--no-prune")
    assert shown.code == 3
    assert "2 removed, 1 failed" in shown.out
    assert "until it is mended, nobody is shown anything of this folder. [access_invalid]" in shown.out
    assert call("-w", workspace, "stats", "--json").json["index"]["documents"] == 0


def test_a_path_that_is_not_there_is_a_usage_error(call: Call, workspace: Path) -> None:
    shown = call("-w", workspace, "ingest", workspace / "nowhere")
    assert shown.code == 2
    assert "nowhere" in shown.err


def test_doctor_needs_no_workspace_to_say_that_there_is_none(call: Call) -> None:
    told = call("doctor", "--json")
    assert told.code == 1
    findings = {row["check"]: row for row in told.json["findings"]}
    assert findings["python"]["status"] == "ok"
    assert findings["analyser"]["status"] == "ok"
    assert findings["workspace"]["status"] == "error"
    assert "tadasu init" in findings["workspace"]["advice"]


def test_doctor_finds_what_is_broken_and_says_what_to_do(call: Call, workspace: Path) -> None:
    empty = {row["check"]: row for row in call("-w", workspace, "doctor", "--json").json["findings"]}
    assert (empty["index"]["status"], empty["index"]["advice"]) == ("warning", "Run `tadasu ingest FOLDER`.")
    assert empty["runs"]["status"] == "ok"
    (workspace / ".tadasu" / "index.db").write_bytes(b"no database at all" * 100)
    (workspace / ".tadasu" / "state.db").write_bytes(b"no database at all" * 100)
    told = call("-w", workspace, "doctor", "--json")
    assert told.code == 1
    found = {row["check"]: row for row in told.json["findings"]}
    assert found["index"]["status"] == found["runs"]["status"] == "error"
    assert "is damaged" in found["runs"]["message"]
    shown = call("-w", workspace, "doctor", "--lang", "ja").out
    assert "異常" in shown
    assert "壊れています" in shown


def test_doctor_looks_at_the_chat_model(call: Call, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def chat() -> dict[str, dict[str, str]]:
        return {row["check"]: row for row in call("-w", workspace, "doctor", "--json").json["findings"]}

    assert "quotations" in chat()["chat"]["message"]
    monkeypatch.setenv("TADASU_CHAT__PROVIDER", "openai")
    assert "chat.model" in chat()["chat"]["advice"]
    monkeypatch.setenv("TADASU_CHAT__MODEL", "llama3.2:3b")
    assert "OPENAI_API_KEY is not set" in chat()["key"]["message"]
    monkeypatch.setenv("TADASU_CHAT__BASE_URL", f"http://127.0.0.1:{closed_port()}/v1")
    assert chat()["reachable"]["status"] == "error"
    models = b'{"data": [{"id": "llama3.2:3b"}]}'
    with serving({"/v1/models": models}) as (port, _):
        monkeypatch.setenv("TADASU_CHAT__BASE_URL", f"http://127.0.0.1:{port}/v1")
        assert chat()["reachable"]["status"] == "ok"
    monkeypatch.setenv("TADASU_CHAT__PROVIDER", "nobody")
    assert "There is no chat provider called nobody" in chat()["chat"]["message"]


def test_doctor_sees_a_model_that_is_not_what_its_card_says(tmp_path: Path) -> None:
    from tadasu.app.doctor import check_python, check_shipped_models, check_space

    folder = tmp_path / "models" / "encoder"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"weights")
    digest = "9b6c8b4ecb6d9eb8ff4ed6a0dd7cb0d2de4ac31d7a7a5a3a0b7fb0a8b8f2ae11"
    (folder / "card.json").write_text(f'{{"files": {{"model.onnx": "{digest}"}}}}', encoding="utf-8")
    assert [one.health.value for one in check_shipped_models(tmp_path / "models")] == ["error"]
    (folder / "model.onnx").unlink()
    assert [one.health.value for one in check_shipped_models(tmp_path / "models")] == ["error"]
    assert check_python((3, 10, 9)).health.value == "error"
    assert check_space(tmp_path).details["folder"] == tmp_path
