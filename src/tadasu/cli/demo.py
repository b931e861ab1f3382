"""`tadasu demo`: the shipped corpus ingested, eight questions asked, every path shown."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from tadasu.app.demo import DemoQuestion
    from tadasu.app.tadasu import Tadasu
    from tadasu.app.workspace import Workspace
    from tadasu.core.runs import Run

PATHS = {
    "correct": "A plain question: the first search is graded CORRECT.",
    "ambiguous": "Vague words: the first search is AMBIGUOUS, so Tadasu searches again with other words.",
    "incorrect_web": "Nothing in the documents: INCORRECT, so the web is asked and its pages are graded too.",
    "contradiction": "Two documents disagree: both are cited, each with its date.",
    "number_check": "A price: every number of the answer is looked up in the text that it cites.",
    "abstention": "Nobody knows: no answer, and the reason why.",
    "cross_language": "A question in Japanese, answered from a document in English.",
    "hostile_web": "A hostile web page gives orders and false figures: it is read as text and changes nothing.",
}


def demo(
    frame: Frame,
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Where to make the workspace. [default: ./tadasu-demo]")
    ] = None,
    *,
    temporary: Annotated[bool, typer.Option("--temporary", help="Use a folder that is removed afterwards.")] = False,
) -> Exit | None:
    """Show Tadasu at work on a shipped corpus.

    Ingests about seventy files in English and Japanese and asks eight questions that show each path.

    Needs no key, no server and no network. The workspace stays, so that you can go on asking.

    \b
    Examples:
      tadasu demo
      tadasu demo --lang ja
      tadasu demo --temporary --json
    """
    from tadasu.app.assets import demo_folder
    from tadasu.app.demo import FOLDER_NAME, demo_questions, prepare_demo
    from tadasu.errors import InputInvalid

    if temporary and folder is not None:
        raise InputInvalid(where="demo", reason="FOLDER and --temporary exclude each other", fix="Leave one out.")
    with _place(folder or Path(FOLDER_NAME), temporary=temporary) as target:
        workspace = prepare_demo(demo_folder(), target)
        placed = Frame(workspace=workspace.root, json=frame.json, debug=frame.debug, lang=frame.lang)
        with placed.opened() as (tadasu, runner):
            report = _ingest(frame, tadasu, runner, workspace)
            results = []
            for number, question in enumerate(demo_questions(workspace.root), 1):
                results.append(_ask(frame, tadasu, runner, question, number))
        held = all(result["held"] for result in results)
        if frame.json:
            frame.emit({"workspace": str(workspace.root), "ingest": report, "questions": results, "held": held})
        else:
            _conclude(frame, workspace, results, temporary=temporary)
    return None if held else Exit.UNEXPECTED


@contextlib.contextmanager
def _place(target: Path, *, temporary: bool) -> Iterator[Path]:
    if not temporary:
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="tadasu-demo-") as folder:
        yield Path(folder) / "tadasu-demo"


def _ingest(frame: Frame, tadasu: Tadasu, runner: asyncio.Runner, workspace: Workspace) -> dict[str, Any]:
    from tadasu.app.demo import DOCUMENTS_FOLDER
    from tadasu.cli.ingest import report_object, run_ingest, show_report

    if not frame.json:
        words = frame.say("Ingesting the documents of an invented maker of measuring instruments.")
        frame.out().print(words, style="bold")
    report = run_ingest(frame, tadasu, runner, [workspace.root / DOCUMENTS_FOLDER])
    if not frame.json:
        show_report(frame, report)
    return report_object(frame, report)


def _ask(frame: Frame, tadasu: Tadasu, runner: asyncio.Runner, question: DemoQuestion, number: int) -> dict[str, Any]:
    from tadasu.app.demo import unmet
    from tadasu.cli.jsonable import answer_object

    if not frame.json:
        console = frame.out()
        console.print()
        console.print(f"{number}. {frame.say(PATHS.get(question.path, question.path))}", style="bold magenta")
        console.print(f"   {question.question}", style="bold", soft_wrap=True)
    run = runner.run(tadasu.ask(question.question))
    failures = unmet(question.expect, run)
    if not frame.json:
        _show(frame, run, failures)
    return {
        "id": question.id,
        "path": question.path,
        "held": not failures,
        "failures": list(failures),
        **answer_object(run),
    }


def _show(frame: Frame, run: Run, failures: tuple[str, ...]) -> None:
    from tadasu.cli.answer_view import print_footer, print_sources
    from tadasu.cli.frame import clean

    console = frame.out()
    console.print(clean(run.answer.text), soft_wrap=True)
    print_sources(frame, console, run)
    print_footer(frame, console, run)
    for failure in failures:
        console.print(frame.say("Not as expected: {what}.", what=failure), style="red", soft_wrap=True)


def _conclude(frame: Frame, workspace: Workspace, results: list[dict[str, Any]], *, temporary: bool) -> None:
    console = frame.out()
    held = sum(result["held"] for result in results)
    console.print()
    text = "{held} of {count} questions went as expected."
    style = "bold green" if held == len(results) else "bold red"
    console.print(frame.say(text, held=held, count=len(results)), style=style)
    if temporary:
        return
    console.print(frame.say("Try next:"))
    try:
        where = str(workspace.root.relative_to(Path.cwd()))
    except ValueError:
        where = str(workspace.root)
    web = next((result for result in results if result["path"] == "incorrect_web"), results[-1])
    for command in (
        f"tadasu -w {shlex.quote(where)} ask",
        f"tadasu -w {shlex.quote(where)} trace {web['run']}",
        f"tadasu -w {shlex.quote(where)} why last service/warranty-policy-2023.md",
        f"tadasu -w {shlex.quote(where)} search 校正周期",
        f"tadasu -w {shlex.quote(where)} stats",
    ):
        console.print(f"  {command}", style="cyan", soft_wrap=True)
