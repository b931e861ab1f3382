"""`tadasu source`: where a citation stands in its document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean

if TYPE_CHECKING:
    from tadasu.answering.opening import OpenedCitation
    from tadasu.core.answers import Citation


def source(
    frame: Frame,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or last.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Number of the citation in the answer.")] = 1,
    *,
    around: Annotated[
        int, typer.Option("--around", metavar="N", min=0, max=100_000, help="Characters on each side of the quote.")
    ] = 300,
) -> Exit | None:
    """Open a citation: file, page, offsets, and the quote among what stands around it.

    \b
    Examples:
      tadasu source last 1
      tadasu source last 2 --around 1000
    """
    from tadasu.answering.opening import open_citation

    with frame.opened() as (tadasu, runner):
        found = tadasu.trace(run)
        opened = runner.run(open_citation(found, number, shelf=tadasu.container.store, around=around))
        file = file_of(opened.citation, tadasu.workspace.root)
    if frame.json:
        from tadasu.cli.jsonable import citation_object, jsonable

        frame.emit(
            {
                "run": found.id,
                **citation_object(opened.citation),
                "file": None if file is None else str(file),
                "state": opened.state.value,
                "stands_at": jsonable(opened.stands_at),
                "before": opened.before,
                "after": opened.after,
            }
        )
        return None
    _show(frame, opened, file)
    return None


def file_of(citation: Citation, root: Path) -> Path | None:
    """The file that a citation points into; None for a web page, and where there is none any more.

    Rows of a table have the file's name, ``#`` and the row for their source.
    """
    from tadasu.core.documents import Origin

    if citation.origin is Origin.WEB:
        return None
    for name in (citation.source, citation.source.rpartition("#")[0]):
        if name and (root / name).is_file():
            return (root / name).resolve()
    return None


def _show(frame: Frame, opened: OpenedCitation, file: Path | None) -> None:
    from rich.text import Text

    from tadasu.answering.opening import QuoteState
    from tadasu.cli.answer_view import source_line

    console, citation = frame.out(), opened.citation
    console.print(f"[{citation.marker}] {source_line(frame, citation)}", style="cyan", soft_wrap=True, markup=False)
    if file is not None:
        console.print(str(file), style="dim", soft_wrap=True, markup=False)
    span = opened.stands_at or citation.span
    console.print(frame.say("characters {start} to {end}", start=span.start, end=span.end), style="dim")
    match opened.state:
        case QuoteState.MOVED:
            told = frame.say("The document has changed since: the quote stands elsewhere in it now.")
        case QuoteState.CHANGED:
            told = frame.say("The document has changed since and does not hold the quote: this is what the run kept.")
        case QuoteState.GONE:
            told = frame.say("The document is not stored here: this is what the run kept.")
        case QuoteState.EXACT:
            told = ""
    if told:
        console.print(told, style="yellow", soft_wrap=True)
    # Where there are no colours the quote is told by its marks.
    left, right = ("", "") if console.is_terminal and not console.no_color else ("»", "«")
    text = Text()
    text.append(clean(opened.before), style="dim")
    text.append(left + clean(citation.quote) + right, style="bold reverse")
    text.append(clean(opened.after), style="dim")
    console.print()
    console.print(text, soft_wrap=True)
