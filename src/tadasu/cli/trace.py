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

    A tree of searches, grades, verdicts, strips kept and dropped, checks, calls, cost and time.

    \b
    Examples:
      tadasu trace last
      tadasu trace run-019ac2b4f1c0-9f86d08188 --json
    """
    with frame.opened() as (tadasu, _):
        found = tadasu.trace(run)
    if frame.json:
        from tadasu.cli.jsonable import jsonable

        whole = jsonable(found)
        whole["verdict"] = found.verdict.value
        whole["cost"] = jsonable(found.cost)
        frame.emit(whole)
        return None
    from tadasu.cli.run_tree import run_tree

    frame.out().print(run_tree(frame, found))
    return None
