"""``tadasu-train``: the door to ``training/``, which is part of the repository and not of the wheel."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ABSENT = (
    "Training lives in the repository of Tadasu, not in the installed package: get a checkout, say `make train` there,"
    " then `.venv/bin/tadasu-train all`.\n"
    "学習用のプログラムは配布パッケージには含まれず、Tadasu のリポジトリにあります。"
    "チェックアウトして `make train` を実行し、その後 `.venv/bin/tadasu-train all` を実行してください。"
)
"""In both languages: nothing is set yet that would tell which one is read."""


def checkout() -> Path | None:
    """The root of the checkout that this file lies in; None in an installed wheel."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "training" / "main.py").is_file() else None


def main() -> None:
    """Hand the process's arguments to ``training.main``, or say where that is."""
    root = checkout()
    if root is None:
        sys.stderr.write(f"{ABSENT}\n")
        sys.exit(2)
    sys.path.insert(0, str(root))
    sys.exit(importlib.import_module("training.main").main())
