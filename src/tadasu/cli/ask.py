"""`tadasu ask`: one question, a conversation, or a file of questions."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.filters import LanguageFilter, SinceFilter, SourceFilter, UntilFilter, check_dates, scope_of
from tadasu.cli.frame import Frame, clean, write_line, write_text
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.documents import Scope
    from tadasu.core.events import Event
    from tadasu.core.runs import Run


def ask(
    frame: Frame,
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question. Without one, a conversation begins.")
    ] = None,
    *,
    batch: Annotated[
        str | None,
        typer.Option("--batch", metavar="FILE", help='Ask every line of a JSONL file ({"question": …}); - for stdin.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where a batch writes; questions answered there are skipped."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=64, help="Questions of a batch at once.")
    ] = 4,
    filter_source: SourceFilter = "",
    since: SinceFilter = "",
    until: UntilFilter = "",
    language: LanguageFilter = "",
) -> Exit | None:
    """Answer a question, with sources.

    Streams the checked answer, then says where each part comes from, how the search was corrected, and what it cost.
    Without a question a conversation begins; an empty line or Ctrl-D ends it.

    \b
    Examples:
      tadasu ask "How long is the warranty of the KPT-340?"
      tadasu ask "保証期間は何年ですか" --since 2026-01-01
      tadasu ask --batch questions.jsonl --out runs.jsonl
    """
    check_dates(since=since, until=until)
    if batch is not None:
        if question is not None:
            raise InputInvalid(where="ask", reason="a question and --batch exclude each other", fix="Leave one out.")
        from tadasu.cli.batch import ask_batch

        with frame.opened() as (tadasu, runner):
            scope = scope_of(tadasu, source=filter_source, since=since, until=until, language=language)
            return ask_batch(frame, tadasu, runner, batch, out=out, concurrency=concurrency, scope=scope)
    if out is not None:
        raise InputInvalid(where="--out", reason="is for --batch only", fix="Redirect the output instead.")
    if question is not None and not question.strip():
        raise InputInvalid(where="ask", reason="the question is empty", fix="Write it in quotes after the command.")
    with frame.opened() as (tadasu, runner):
        scope = scope_of(tadasu, source=filter_source, since=since, until=until, language=language)
        if question is None:
            from tadasu.cli.conversation import converse

            return converse(frame, tadasu, runner, scope=scope)
        runner.run(ask_once(frame, tadasu, question, scope=scope))
    return None


async def ask_once(
    frame: Frame,
    tadasu: Tadasu,
    question: str,
    *,
    scope: Scope | None = None,
    history: tuple[Run, ...] = (),
    session: str = "",
) -> Run:
    """Ask, showing checked text as it comes, then sources and footer; with --json the one document.

    With a `session` (a conversation) each document is one line.
    """
    from tadasu.core.events import ignore

    listen = ignore if frame.json else partial(_stream, frame)
    run = await tadasu.ask(question, history=history, session=session, language=frame.lang, scope=scope, listen=listen)
    if frame.json:
        from tadasu.cli.jsonable import answer_object

        frame.emit(answer_object(run), indent=None if session else 2)
        return run
    from tadasu.cli.answer_view import print_footer, print_sources

    write_line(sys.stdout, "")
    console = frame.out()
    print_sources(frame, console, run)
    print_footer(frame, console, run)
    if not session:
        console.print(frame.say("How it came about: {command}", command="tadasu trace last"), style="dim")
    return run


def _stream(frame: Frame, event: Event) -> None:
    """Checked text as it comes; on a terminal also each step of the correction while it goes on."""
    from tadasu.core.events import RoundEnded, TextReleased

    if isinstance(event, TextReleased):
        write_text(sys.stdout, clean(event.text))
    elif isinstance(event, RoundEnded) and sys.stderr.isatty():
        from tadasu.cli.answer_view import step_words

        if words := step_words(frame, event.round):
            frame.err().print(words, style="dim")
