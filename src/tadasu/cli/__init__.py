"""The command line: one module per command, each a translation of words into one call."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run `argv` (default: the process's own arguments) and leave with its exit code."""
    from tadasu.cli.application import run

    sys.exit(run(sys.argv[1:] if argv is None else argv))
