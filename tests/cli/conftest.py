from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tadasu.app.tadasu import Tadasu
from tadasu.cli.application import run
from tests.cli.samples import ScriptedTadasu


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Call = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run one command line in this process, with `stdin` piped in."""
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")

    def call(*argv: str | Path, stdin: str = "") -> Outcome:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = run([str(word) for word in argv])
        captured = capsys.readouterr()
        return Outcome(int(code), captured.out, captured.err)

    return call


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedTadasu:
    """A Tadasu that answers from a script, opened by every command."""
    tadasu = ScriptedTadasu(tmp_path)
    monkeypatch.setattr(Tadasu, "open", classmethod(lambda cls, path=".", **overrides: tadasu))
    return tadasu
