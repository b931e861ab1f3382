"""`tadasu metrics`: what the stored runs add up to, in the form that Prometheus reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, write_text
from tadasu.errors import InputInvalid


def metrics(
    frame: Frame,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write this file instead, whole or not at all, for a collector."),
    ] = None,
) -> Exit | None:
    """Print counters over all runs, for Prometheus.

    Runs by how they ended, rounds, stop reasons, the web's share, calls, times, tokens and cost by stage. Counts what
    `tadasu stats` counts, over every run; no question and no name of a document is in it.

    \b
    Examples:
      tadasu metrics
      tadasu metrics --out /var/lib/node_exporter/tadasu.prom
    """
    from tadasu.app.run_totals import replace_file, run_totals

    with frame.opened() as (tadasu, _):
        meters = run_totals(tadasu.container)
    if out is not None:
        try:
            replace_file(out.expanduser(), meters.text())
        except OSError as problem:
            reason = f"cannot be written ({problem.strerror or problem})"
            raise InputInvalid(where=str(out), reason=reason, fix="Check the path and its permissions.") from problem
    if frame.json:
        samples = [{"name": name, "labels": labels, "value": value} for name, labels, value in meters.samples()]
        frame.emit({"out": None if out is None else str(out), "metrics": samples})
    elif out is None:
        write_text(sys.stdout, meters.text())
    return None
