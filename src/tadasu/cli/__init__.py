"""The command line: one module per command, each a translation of words into one call."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run `argv` (default: the process's own arguments) and leave with its exit code."""
    from tadasu.cli.application import run

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows ? instead of ending the program
    sys.exit(run(sys.argv[1:] if argv is None else argv))
