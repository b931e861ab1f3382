"""`tadasu why`: what became of one document in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame
from tadasu.errors import DocumentNotFound

if TYPE_CHECKING:
    from rich.console import Console

    from tadasu.answering.explain import Explanation


def why(
    frame: Frame,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or last.")],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="Path of a document as it was ingested, or its id.")
    ],
) -> Exit | None:
    """Say what happened to a document in a run.

    It was filtered out, ranked too low, graded LOW, its strips were dropped, or it is cited.

    \b
    Examples:
      tadasu why last products/kpt-340.md
      tadasu why last warranty-2023.pdf
    """
    from tadasu.answering.explain import Fate, explain
    from tadasu.cli.jsonable import jsonable
    from tadasu.runtime.ledger import RunLedger

    with frame.opened() as (tadasu, runner):
        container = tadasu.container
        found = runner.run(
            explain(
                tadasu.trace(run),
                document,
                shelf=container.store,
                search=container.search,
                ledger=RunLedger(container.clock),
            )
        )
    if found.fate is Fate.UNKNOWN:
        raise DocumentNotFound(document=document)
    if frame.json:
        frame.emit({**jsonable(found), "explanation": summary(frame, found)})
        return None
    console = frame.out()
    console.print(summary(frame, found), style="bold", soft_wrap=True)
    _details(frame, console, found)
    return None


def summary(frame: Frame, found: Explanation) -> str:
    """The outcome in one sentence."""
    from tadasu.answering.explain import Fate
    from tadasu.cli.answer_view import one_line
    from tadasu.cli.search import grade_words

    source = one_line(found.source)
    match found.fate:
        case Fate.UNKNOWN:
            return frame.say(DocumentNotFound.message, document=one_line(found.document))
        case Fate.FILTERED:
            text = "{source} was hidden by the filters of the question: {filters}."
            return frame.say(text, source=source, filters=", ".join(found.filters))
        case Fate.NOT_FOUND if found.wide_rank is None:
            text = "{source} was not among the candidates, nor is it among the first {k} for this query."
            return frame.say(text, source=source, k=found.wide_k)
        case Fate.NOT_FOUND:
            text = "{source} was not among the candidates: its best passage is ranked {rank} for this query."
            return frame.say(text, source=source, rank=found.wide_rank)
        case Fate.GRADED_OUT:
            best = min(found.sightings, key=lambda one: one.rank)
            text = "{source} was found at rank {rank} in round {number}, graded {grade}, and did not go on."
            grade = grade_words(best.candidate)
            return frame.say(text, source=source, rank=best.rank, number=best.round, grade=grade)
        case Fate.CUT:
            return frame.say("{source} went on to refinement, but none of its strips was kept.", source=source)
        case Fate.NOT_CITED:
            return frame.say("{source} was part of the evidence, but the answer does not cite it.", source=source)
        case Fate.CITED:
            markers = ", ".join(f"[{citation.marker}]" for citation in found.citations)
            return frame.say("{source} is cited as {markers}.", source=source, markers=markers)


def _details(frame: Frame, console: Console, found: Explanation) -> None:
    from tadasu.cli.answer_view import one_line
    from tadasu.cli.run_tree import ranks_words, strip_words
    from tadasu.cli.search import calibration_words, grade_words

    for one in found.sightings:
        text = "round {number}: rank {rank}, {grade} ({ranks})"
        grade, ranks = grade_words(one.candidate), ranks_words(frame, one.candidate)
        console.print("  " + frame.say(text, number=one.round, rank=one.rank, grade=grade, ranks=ranks), soft_wrap=True)
        if one.candidate.grade.reason:
            console.print(f"    {one_line(one.candidate.grade.reason)}", style="dim", soft_wrap=True)
        signals = ", ".join(f"{name} {value:.3g}" for name, value in one.candidate.grade.signals.items())
        if signals:
            console.print(f"    {signals}", style="dim", soft_wrap=True)
    if told := calibration_words(frame, [one.candidate.grade for one in found.sightings]):
        console.print(f"  {told}", style="dim", soft_wrap=True)
    for record in found.strips:
        console.print(f"  {strip_words(frame, record)}: {one_line(record.strip.text, 200)}", soft_wrap=True)
    for citation in found.citations:
        console.print(f"  [{citation.marker}] “{one_line(citation.quote)}”", style="cyan", soft_wrap=True)
