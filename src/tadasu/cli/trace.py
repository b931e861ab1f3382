"""`tadasu trace`: a run as a tree."""

from __future__ import annotations

from typing import Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame


def trace(
    frame: Frame,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or last.")] = "last",
) -> Exit | None:
    """Show how an answer came about.

    A tree of searches, grades, verdicts, strips kept and dropped, checks, calls, cost and time; and what became of a
    correction that was put off.

    \b
    Examples:
      tadasu trace last
      tadasu trace run-019ac2b4f1c0-9f86d08188 --json
    """
    from tadasu.app.prices import money_of
    from tadasu.core.runs import Deferral

    with frame.opened() as (tadasu, _):
        found = tadasu.trace(run)
        money = money_of(tadasu.settings)
        put_off = tadasu.deferred(found) if found.deferred is Deferral.PENDING else None
        better = tadasu.current(found.id) if put_off is not None and put_off.corrected_by else None
    if frame.json:
        from tadasu.cli.jsonable import jsonable

        whole = jsonable(found)
        whole["verdict"] = found.verdict.value
        whole["cost"] = jsonable(found.cost)
        if put_off is not None:
            from tadasu.cli.deferral import deferral_object

            whole["correction"] = deferral_object(put_off)
        frame.emit(whole)
        return None
    from tadasu.cli.run_tree import run_tree

    console = frame.out()
    console.print(run_tree(frame, found, money=money))
    if put_off is not None:
        from tadasu.cli.deferral import deferral_words

        console.print(deferral_words(frame, put_off), style="bold", soft_wrap=True)
    if better is not None:
        from tadasu.cli.answer_view import one_line

        console.print(one_line(better.answer.text, 2000), soft_wrap=True)
    if found.corrects:
        console.print(frame.say("It corrects {run}.", run=found.corrects), style="bold", soft_wrap=True)
    return None
