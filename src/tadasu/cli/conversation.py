"""A conversation on the terminal, or with lines piped in: history makes follow-ups understood."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tadasu.cli.asking import ask_once
from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean
from tadasu.errors import StoreError, TadasuError, UsageError

if TYPE_CHECKING:
    import asyncio

    from tadasu.app.tadasu import Tadasu
    from tadasu.core.documents import Scope
    from tadasu.core.runs import Run

_TURNS_KEPT = 20


def converse(frame: Frame, tadasu: Tadasu, runner: asyncio.Runner, *, scope: Scope, defer: bool = False) -> Exit | None:
    """Ask line by line until an empty line or the end of the input.

    A question that fails is reported and the conversation goes on; what no question could survive (settings, the
    index) ends it.
    """
    session = tadasu.container.ids.new("session")
    history: list[Run] = []
    failed = False
    console = frame.out()
    if sys.stdin.isatty() and not frame.json:
        console.print(frame.say("Ask about your documents. An empty line ends the conversation."), style="dim")
    # The loop runs only while a question is answered: at the prompt Ctrl-C must reach input().
    while line := _next_line(frame):
        earlier = tuple(history[-_TURNS_KEPT:])
        try:
            asked = ask_once(frame, tadasu, line, scope=scope, history=earlier, session=session, defer=defer)
            run = runner.run(asked)
        except (UsageError, StoreError):
            raise
        except TadasuError as error:
            frame.show_error(error)
            failed = True
            continue
        history.append(run)
        if not frame.json:
            if run.query != run.question:
                words = frame.say("searched for: {query}", query=clean(run.query))
                console.print(words, style="dim", soft_wrap=True)
            console.print()
    return Exit.PARTIAL if failed else None


def _next_line(frame: Frame) -> str:
    """The next line without its end; empty when the conversation is over."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - line editing and history for input()

    try:
        return input("" if frame.json else "> ").strip()
    except EOFError:
        return ""
