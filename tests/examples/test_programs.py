"""Programs of the documents run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_quick_start_answers_in_both_languages() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "quickstart.py"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert "36 months" in done.stdout
    assert "18か月" in done.stdout
    assert "[1]" in done.stdout
