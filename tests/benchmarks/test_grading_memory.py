"""The memory of a serving process is its own, not that of the process that started it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_large_parent_does_not_count() -> None:
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    command = "from benchmarks.grading_memory import peak_mb; print(peak_mb())"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert 10 < float(done.stdout) < 250
    assert len(ballast) == 300_000_000
