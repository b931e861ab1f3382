"""`tadasu calibrate`: labels in; a curve, two borders and what they are worth out."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.consent import YesOption, agreed
from tadasu.cli.exits import Exit, exit_of
from tadasu.cli.frame import Frame, clean, write_line
from tadasu.core.usage import Stage
from tadasu.errors import GradingFailed, InputInvalid, LabelsTooFew

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tadasu.app.calibration import Outcome

_EVERY_SECONDS = 3.0


def calibrate(
    frame: Frame,
    labels: Annotated[
        Path | None,
        typer.Argument(metavar="LABELS", help="CSV or JSONL with labels. [default: those of `tadasu label`]"),
    ] = None,
    *,
    missed: Annotated[
        float,
        typer.Option("--missed", metavar="SHARE", min=0.001, max=0.5, help="Relevant passages called LOW at most."),
    ] = 0.10,
    precision: Annotated[
        float,
        typer.Option("--precision", metavar="SHARE", min=0.5, max=0.999, help="HIGH passages relevant at least."),
    ] = 0.90,
    confidence: Annotated[
        float,
        typer.Option("--confidence", metavar="SHARE", min=0.5, max=0.999, help="How surely both must hold."),
    ] = 0.95,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw the reliability diagram there too.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would come of it and keep nothing.")] = False,
    yes: YesOption = False,
) -> Exit | None:
    """Fit the grades to your own documents.

    Every labelled pair goes through the real search and the real grader. Labels say what the grader's probabilities are
    worth here, and where HIGH and LOW begin. The result is kept in calibration.json beside tadasu.toml.

    A row needs a question, a label (1 or 0, yes or no, はい or いいえ), and a passage (its text or id) or a document
    (its source or id). Rows that cannot be used are listed, and the rest goes on.

    \b
    Examples:
      tadasu calibrate
      tadasu calibrate labels.csv --dry-run --plot reliability.svg
      tadasu calibrate labels.jsonl --missed 0.05 --json
    """
    from tadasu.answering.grading.fitting import Targets
    from tadasu.app.calibration import calibrate as fit
    from tadasu.app.calibration import keep
    from tadasu.app.labelled_pairs import grade_labels
    from tadasu.app.labels import load_labels
    from tadasu.cli.calibration_view import outcome_object, show_outcome
    from tadasu.cli.label_rows import show_refusal

    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputInvalid(where="--plot", reason="only SVG files are written", fix="Name a file that ends in .svg.")
    targets = Targets(missed=missed, precision=precision, confidence=confidence)
    with frame.opened() as (tadasu, runner):
        read = load_labels(labels if labels is not None else tadasu.workspace.labels_file)
        asked = len({label.question for label in read.labels})
        if not agreed(frame, tadasu, questions=asked, yes=yes, stages=frozenset({Stage.GRADE})):
            return Exit.INTERRUPTED
        with _progress(frame) as on_progress:
            grading = grade_labels(tadasu.container, read.labels, name=read.name, on_progress=on_progress)
            graded = runner.run(grading)
        try:
            outcome = runner.run(fit(tadasu.container, graded, targets=targets, bad=len(read.bad)))
        except (LabelsTooFew, GradingFailed) as error:
            show_refusal(frame, read, graded, error)
            return exit_of(error)
        if not dry_run:
            keep(tadasu.container, outcome)
        kept = None if dry_run else tadasu.workspace.calibration_file
    if plot is not None:
        _draw(frame, plot, outcome)
    if frame.json:
        frame.emit(outcome_object(frame, read, outcome, kept=kept, plot=plot))
    else:
        show_outcome(frame, read, outcome, kept=kept, plot=plot)
    return Exit.PARTIAL if any((read.bad, graded.absent, graded.contradicted, graded.failed)) else None


def _draw(frame: Frame, path: Path, outcome: Outcome) -> None:
    from tadasu.answering.grading.fitting import ALL
    from tadasu.cli.reliability_plot import as_svg

    whole = outcome.fitted[ALL]
    words = {
        "title": frame.say("Reliability of the grades"),
        "said": frame.say("said: mean probability"),
        "found": frame.say("found: share relevant"),
        "before": frame.say("before"),
        "after": frame.say("after (held out)"),
    }
    try:
        path.expanduser().write_text(as_svg(whole.bins_before, whole.bins_after, words=words), encoding="utf-8")
    except OSError as problem:
        reason = f"cannot be written ({problem.strerror or problem})"
        raise InputInvalid(where=str(path), reason=reason, fix="Check the path and its permissions.") from problem


@contextlib.contextmanager
def _progress(frame: Frame) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, a line every few seconds elsewhere; on stderr."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=frame.err(), transient=True) as bar:
            task = bar.add_task(clean(frame.say("grading labelled pairs")), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_SECONDS:
            last = now
            text = "{done} of {total} labelled pairs graded"
            write_line(sys.stderr, frame.say(text, done=done, total=total))

    yield show
