from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest
import typer.main

from tadasu import __version__
from tadasu.cli.application import app
from tadasu.cli.exits import MEANINGS, Exit, exit_of
from tadasu.cli.help_language import commands_of
from tadasu.errors import BudgetSpent, DocumentEmpty, KeyMissing, PriceUnknown, RunNotFound, StoreBusy, TadasuError
from tests.cli.conftest import Call

HEAVY = (
    "numpy", "onnxruntime", "sqlalchemy", "alembic", "sudachipy", "pydantic", "pydantic_settings", "rich", "tokenizers",
    "pypdfium2", "pdfplumber", "trafilatura", "openai", "httpx2", "asyncio",
)  # fmt: skip


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["--version"], ["--help", "--lang", "ja"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from tadasu.cli.application import run\n"
        f"code = run({arguments!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0
    loaded = set(ast.literal_eval(done.stderr.strip()))
    assert loaded <= (set() if "ask" not in arguments else {"pydantic"})  # Typer reads a command's options with it


@pytest.mark.parametrize("words", [words for words, _ in commands_of(typer.main.get_command(app)) if words])
def test_every_command_teaches_with_an_example(call: Call, words: tuple[str, ...]) -> None:
    shown = call(*words, "--help")
    assert shown.code == 0
    if "COMMAND [ARGS]" not in shown.out:  # a group does nothing itself
        assert f"  tadasu {' '.join(words)}" in shown.out
        for option in ("--json", "--workspace", "--debug", "--lang"):
            assert option in shown.out


def test_help_names_every_exit_code(call: Call) -> None:
    shown = call("--help").out
    for code in Exit:
        assert f"{code.value:>4}  {MEANINGS[code]}" in shown


def test_help_speaks_japanese(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "手元の文書から質問に答えます" in call("--help", "--lang", "ja").out
    assert "質問に、出典を示して答えます" in call("ask", "--help", "--lang=ja").out
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    assert "終了コード" in call("--help").out
    assert "Exit codes" in call("--help", "--lang", "en").out


def test_version(call: Call) -> None:
    assert call("--version").out == f"tadasu {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [["aks"], ["ask", "--colour"], ["trace", "a", "b"], ["ask", "q", "--concurrency", "0"], ["why"]],
)
def test_what_cannot_be_read_is_a_usage_error(call: Call, words: list[str]) -> None:
    shown = call(*words)
    assert shown.code == 2
    assert "--help`" in shown.err
    assert "[usage]" in shown.err
    assert "--help` をご覧ください。" in call(*words, "--lang", "ja").err
    told = call(*words, "--json")
    assert told.code == 2
    assert told.json["error"]["code"] == "usage"


def test_a_question_without_quotes_is_told_to_use_some(call: Call) -> None:
    shown = call("ask", "how", "long", "is", "it")
    assert shown.code == 2
    assert 'Write it in quotes: tadasu ask "…" [usage]' in shown.err


def test_a_language_that_is_not_spoken_is_a_usage_error(call: Call) -> None:
    shown = call("stats", "--lang", "fr")
    assert shown.code == 2
    assert "--lang: fr is not spoken here. Use en or ja." in shown.err


def test_no_command_shows_the_help(call: Call) -> None:
    shown = call()
    assert shown.code == 0
    assert "Usage: tadasu" in shown.out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyMissing(), 2), (RunNotFound(run="r"), 4), (DocumentEmpty(source="a"), 3), (StoreBusy(path="p"), 6),
        (PriceUnknown(), 5), (BudgetSpent(), 5), (TadasuError(), 1),
    ],
)  # fmt: skip
def test_exit_codes_follow_the_tree_of_errors(error: TadasuError, code: int) -> None:
    assert exit_of(error) == code
