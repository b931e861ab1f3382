"""The command line as a process: pipes that close, Ctrl-C, encodings, a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tadasu.app.settings_file import settings_text
from tadasu.app.workspace import create_workspace

TADASU = [sys.executable, "-m", "tadasu"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return create_workspace(tmp_path / "ws", settings_text()).root


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TADASU_", "LC_", "LANG"))}
    return {**kept, "LANG": "C.UTF-8", **changes}


def test_a_reader_that_goes_away_is_no_error(workspace: Path) -> None:
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        process = subprocess.Popen(
            [*TADASU, *arguments], cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 141
        assert said == b""


def test_ctrl_c_at_the_prompt_ends_the_conversation_with_130(workspace: Path) -> None:
    process = subprocess.Popen(
        [*TADASU, "ask"], cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not _waits_for_input(process.pid):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")


def _waits_for_input(pid: int) -> bool:
    """Whether the process is blocked in a read of its standard input."""
    words = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()
    return words[:2] == ["0", "0x0"]


def test_an_output_that_cannot_hold_japanese_gets_replacements_instead_of_a_traceback(workspace: Path) -> None:
    done = subprocess.run(
        [*TADASU, "--help", "--lang", "ja"], capture_output=True, env=environment(PYTHONIOENCODING="ascii"), check=False
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    shown = subprocess.run(
        [*TADASU, "config", "show", "--lang", "ja"], cwd=workspace, capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"), check=False,
    )  # fmt: skip
    assert shown.returncode == 0
    assert b"Traceback" not in shown.stderr


def test_on_a_terminal_there_is_a_prompt_and_ctrl_d_ends(workspace: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*TADASU, "ask", "--lang", "en"],
        cwd=workspace,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="dumb"),
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 30
    while b"> " not in seen and time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            seen += os.read(ours, 4096)
    assert b"An empty line ends the conversation." in seen
    os.write(ours, b"\x04")
    assert process.wait(30) == 0
    os.close(ours)
