"""The counters of all stored runs, counted on from where the last call stopped."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tadasu.app.run_metrics import count_run, run_meters
from tadasu.core.documents import Reader
from tadasu.core.ids import digest
from tadasu.storage.run_history import SqlRunHistory

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.telemetry.metrics import Meters

_FORM = 1
"""Of the notes; raised when what is counted means something else."""
_NOTED_EVERY = 2_000
"""Runs. A first call over very many, broken off, does not begin at the beginning again."""


def run_totals(container: Container) -> Meters:
    """Counters over every run that the configured reader may see; see `totals`."""
    notes = container.workspace.state_file.with_name("metrics.json")
    return totals(SqlRunHistory(container.state), reader=container.reader, notes=notes)


def totals(history: SqlRunHistory, *, reader: Reader, notes: Path) -> Meters:
    """Counters over every run of `history` that `reader` may see.

    What was counted is kept in the file `notes`, so that a call every minute reads the new runs only. The notes are
    believed where they are of this reader and the last run that they count is still there; else all is counted anew.
    Notes that cannot be written or read cost time and nothing else.
    """
    meters = run_meters()
    about: dict[str, Any] = {"form": _FORM, "reader": _key(reader)}
    fresh = 0
    for place, run in history.after(_noted(notes, history, reader, meters), reader=reader):
        count_run(meters, run)
        about |= {"place": place, "run": run.id}
        fresh += 1
        if fresh % _NOTED_EVERY == 0:
            _write(notes, {**about, "counted": meters.state()})
    if fresh % _NOTED_EVERY:
        _write(notes, {**about, "counted": meters.state()})
    return meters


def _noted(notes: Path, history: SqlRunHistory, reader: Reader, meters: Meters) -> int:
    """Where to go on; `meters` then hold what was counted up to there."""
    try:
        noted = json.loads(notes.read_text("utf-8"))
        if noted["form"] != _FORM or noted["reader"] != _key(reader):
            return 0
        place, run = int(noted["place"]), str(noted["run"])
        if not run or history.id_at(place, reader=reader) != run:
            return 0
        meters.restore(noted["counted"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0
    return place


def _key(reader: Reader) -> str:
    return digest(reader.tenant, *sorted(reader.groups))[:16]


def _write(notes: Path, content: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        replace_file(notes, json.dumps(content))


def replace_file(path: Path, text: str) -> None:
    """Write `text` to `path` so that whoever reads it sees the old or the new, never a half. Raises OSError."""
    half = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        raise
