"""`tadasu ingest`: files and folders into the index."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean, write_line

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Sequence

    from tadasu.answering.ingestion.report import Failure, IngestReport, Progress
    from tadasu.app.tadasu import Tadasu

_EVERY_SECONDS = 3.0


def ingest(
    frame: Frame,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.")],
    *,
    groups: Annotated[
        list[str] | None,
        typer.Option("--groups", "-g", metavar="NAME", help="Only members may see them; repeat for several groups."),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Everybody may see them; takes back what --groups said before.")
    ] = False,
    no_prune: Annotated[
        bool, typer.Option("--no-prune", help="Keep documents in the index whose files are gone.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the index anew (after a change of encoder or analyser).")
    ] = False,
) -> Exit | None:
    """Take in files and folders.

    Only what changed since the last time is touched.

    Groups once given stay with the documents and the folder until --groups or --public says otherwise.

    Reads PDF, DOCX, XLSX, PPTX, HTML, Markdown, text, CSV and JSONL. A file that cannot be read is listed with the
    reason, and the rest goes on. Stopped at any point, the same command goes on from there.

    \b
    Examples:
      tadasu ingest handbook/
      tadasu ingest board/ --groups board --groups audit
      tadasu ingest board/press/ --public
    """
    from tadasu.errors import InputInvalid

    named = [name.strip() for value in groups or () for name in value.split(",") if name.strip()]
    if groups and not named:
        # An empty variable in a script must not let everybody in.
        fix = "Name at least one group, or say --public."
        raise InputInvalid(where="--groups", reason="no group is named", fix=fix)
    with frame.opened() as (tadasu, runner):
        report = run_ingest(
            frame, tadasu, runner, paths, groups=named, public=public, prune=not no_prune, rebuild=rebuild
        )
    if frame.json:
        frame.emit(report_object(frame, report))
    else:
        show_report(frame, report)
    return None if report.complete else Exit.PARTIAL


def run_ingest(
    frame: Frame,
    tadasu: Tadasu,
    runner: asyncio.Runner,
    paths: Sequence[Path],
    *,
    groups: Sequence[str] = (),
    public: bool = False,
    prune: bool = True,
    rebuild: bool = False,
) -> IngestReport:
    """Ingest with progress on stderr: a bar on a terminal, a line every few seconds elsewhere."""
    with _progress(frame) as on_progress:
        return runner.run(
            tadasu.ingest(*paths, groups=groups, public=public, on_progress=on_progress, prune=prune, rebuild=rebuild)
        )


def report_object(frame: Frame, report: IngestReport) -> dict[str, Any]:
    """The JSON of an ingest: counts, seconds, and ``failed`` with source, row, code, message and hint of each.

    ``kept_groups`` says how many files stay restricted, and to whom, because an earlier call said so.
    """
    return {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "passages": report.passages,
        "seconds": round(report.seconds, 3),
        "kept_groups": {"files": report.kept_files, "groups": list(report.kept_groups)},
        "failed": [_failure_object(frame, failure) for failure in report.failed],
        "files": [
            {"source": one.source, "outcome": one.outcome.value, "documents": one.documents, "passages": one.passages}
            for one in report.files
        ],
    }


def _failure_object(frame: Frame, failure: Failure) -> dict[str, Any]:
    from tadasu.cli.error_words import translated

    message, hint = translated(frame, failure.code, failure.message, failure.hint)
    return {
        "source": failure.source,
        "row": failure.row,
        "code": failure.code,
        "message": message,
        "hint": hint,
        "kept": failure.kept,
    }


def show_report(frame: Frame, report: IngestReport) -> None:
    """The summary, then every failure with what to do about it."""
    console = frame.out()
    text = (
        "{added} added, {updated} updated, {unchanged} unchanged, {removed} removed, {failed} failed;"
        " {passages} passages in {seconds} s"
    )
    counts = {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": len(report.failed),
        "passages": report.passages,
        "seconds": f"{report.seconds:.1f}",
    }
    console.print(frame.say(text, **counts), style="bold", soft_wrap=True)
    if report.kept_files:
        text = "still restricted to {groups}, as was said before: {files}. --groups names others, --public opens them."
        named = clean(", ".join(report.kept_groups))
        console.print(f"  {frame.say(text, files=report.kept_files, groups=named)}", soft_wrap=True, markup=False)
    for failure in report.failed:
        told = _failure_object(frame, failure)
        console.print(f"  {clean(told['message'])} [{failure.code}]", style="red", soft_wrap=True)
        if told["hint"]:
            console.print(f"    {clean(told['hint'])}", soft_wrap=True)
        if failure.kept:
            console.print(f"    {frame.say('What was stored of it before is still there.')}", soft_wrap=True)


@contextlib.contextmanager
def _progress(frame: Frame) -> Iterator[Callable[[Progress], None]]:
    if not sys.stderr.isatty():
        yield _Lines(frame)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=frame.err(), transient=True) as bar:
        task = bar.add_task(frame.say("looking for files"), total=None)

        def show(progress: Progress) -> None:
            name = progress.source if len(progress.source) <= 40 else "…" + progress.source[-39:]
            bar.update(task, completed=progress.done, total=progress.total, description=clean(name))

        yield show


class _Lines:
    """Progress without a terminal: a line on stderr every few seconds."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        text = "{done} of {total} files, {passages} passages"
        counts = {"done": progress.done, "total": progress.total, "passages": progress.passages}
        write_line(sys.stderr, self._frame.say(text, **counts))
