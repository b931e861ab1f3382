"""One question on the terminal: its checked text as it comes, then sources and footer."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from tadasu.cli.frame import Frame, clean, write_line, write_text

if TYPE_CHECKING:
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.documents import Scope
    from tadasu.core.events import Event
    from tadasu.core.runs import Run


async def ask_once(
    frame: Frame,
    tadasu: Tadasu,
    question: str,
    *,
    scope: Scope | None = None,
    history: tuple[Run, ...] = (),
    session: str = "",
    defer: bool = False,
) -> Run:
    """Ask, showing checked text as it comes, then sources and footer; with --json the one document.

    With a `session` (a conversation) each document is one line.
    """
    from tadasu.core.events import ignore

    listen = ignore if frame.json else partial(_stream, frame)
    run = await tadasu.ask(
        question, history=history, session=session, language=frame.lang, scope=scope, defer=defer, listen=listen
    )
    if frame.json:
        from tadasu.cli.jsonable import answer_object

        frame.emit(answer_object(run), indent=None if session else 2)
        return run
    from tadasu.app.prices import money_of
    from tadasu.cli.answer_view import print_footer, print_sources
    from tadasu.core.runs import Deferral

    write_line(sys.stdout, "")
    console = frame.out()
    print_sources(frame, console, run)
    print_footer(frame, console, run, money=money_of(tadasu.settings))
    if run.deferred is Deferral.PENDING:
        text = "The correction goes on where `tadasu work` runs; `tadasu trace {run}` shows what came of it."
        console.print(frame.say(text, run=run.id), style="dim", soft_wrap=True)
    elif not session:
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
