"""`tadasu search`: one retrieval with both rankings, grades and verdict, and nothing done about it."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.filters import LanguageFilter, SinceFilter, SourceFilter, UntilFilter, check_dates, scope_of
from tadasu.cli.frame import Frame
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tadasu.app.tadasu import Tadasu
    from tadasu.core.grades import Grade
    from tadasu.core.runs import GradedCandidate, Round


_FIGURES_WIDTH = 66
_ROOM_FOR_WORDS = 50


class Mode(enum.Enum):
    """How to search."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    DENSE = "dense"


def search(
    frame: Frame,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to search for.")],
    *,
    k: Annotated[
        int | None,
        typer.Option("--k", "-k", metavar="N", min=1, max=1000, help="Passages at the most. [default: retrieval.k]"),
    ] = None,
    mode: Annotated[
        Mode, typer.Option("--mode", metavar="hybrid|lexical|dense", help="Both rankings fused, or one of them alone.")
    ] = Mode.HYBRID,
    filter_source: SourceFilter = "",
    since: SinceFilter = "",
    until: UntilFilter = "",
    language: LanguageFilter = "",
) -> Exit | None:
    """Search without answering.

    Shows both rankings, the grades and the verdict.

    \b
    Examples:
      tadasu search "calibration interval"
      tadasu search 校正周期 --mode lexical -k 20
    """
    from tadasu.core.runs import SearchMode

    if not query.strip():
        raise InputInvalid(where="search", reason="the query is empty", fix="Write it in quotes after the command.")
    check_dates(since=since, until=until)
    with frame.opened() as (tadasu, runner):
        scope = scope_of(tadasu, source=filter_source, since=since, until=until, language=language)
        found = runner.run(tadasu.search(query, k=k, mode=SearchMode(mode.value), scope=scope))
        if frame.json:
            frame.emit(found_object(found))
            return None
        texts = runner.run(_first_words(tadasu, found))
    _show(frame, found, texts)
    return None


def found_object(found: Round) -> dict[str, object]:
    """The JSON of a search: query, mode, verdict, and the candidates in fused order with ranks and grades."""
    from tadasu.cli.jsonable import jsonable

    return {
        "query": found.query,
        "mode": found.mode.value,
        "verdict": found.verdict.value,
        "rule": found.rule.value,
        "error": found.error,
        "duration_ms": round(found.duration_ms, 3),
        "candidates": [{"rank": rank, **jsonable(one)} for rank, one in enumerate(found.candidates, 1)],
    }


async def _first_words(tadasu: Tadasu, found: Round) -> dict[str, str]:
    from tadasu.core.documents import Scope

    scope = Scope(reader=tadasu.container.reader)
    stored = await tadasu.container.store.fetch([one.passage_id for one in found.candidates], scope=scope)
    return {one.passage.id: one.passage.text for one in stored}


def _show(frame: Frame, found: Round, texts: dict[str, str]) -> None:
    from rich.table import Table

    from tadasu.answering.correction.marks import failures
    from tadasu.cli.answer_view import one_line, seconds
    from tadasu.cli.error_words import refusal_words

    console = frame.out()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        (frame.say("rank"), "right"),
        (frame.say("fused"), "right"),
        (frame.say("dense (rank)"), "right"),
        (frame.say("keywords (rank)"), "right"),
        (frame.say("grade"), "left"),
    ):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    left = console.width - _FIGURES_WIDTH
    roomy = left >= _ROOM_FOR_WORDS
    table.add_column(frame.say("source"), overflow="fold", min_width=10)
    if roomy:
        table.add_column(frame.say("first words"), no_wrap=True, overflow="ellipsis", width=left * 3 // 5)
    for rank, one in enumerate(found.candidates, 1):
        first = (one_line(texts.get(one.passage_id, one.title), 120),) if roomy else ()
        table.add_row(
            str(rank),
            f"{one.fused:.4f}",
            _ranked(one.dense, one.dense_rank, 3),
            _ranked(one.lexical, one.lexical_rank, 1),
            grade_words(one),
            one_line(one.source),
            *first,
        )
    if found.candidates:
        console.print(table)
    else:
        console.print(frame.say("Nothing was found."))
    for warning in failures([found]):
        console.print(refusal_words(frame, warning), style="red", soft_wrap=True)
    words = frame.say("verdict {verdict} by the rule {rule}", verdict=found.verdict.name, rule=found.rule.value)
    console.print(f"{words} · {seconds(found.duration_ms)}", style="bold")
    if told := calibration_words(frame, [one.grade for one in found.candidates]):
        console.print(told, style="dim", soft_wrap=True)


def grade_words(one: GradedCandidate) -> str:
    """Level and probability of a candidate, such as ``HIGH 0.91``."""
    grade = one.grade
    return grade.level.name if grade.probability is None else f"{grade.level.name} {grade.probability:.2f}"


def calibration_words(frame: Frame, grades: Sequence[Grade]) -> str:
    """What `grades` were fitted on; empty where it is these documents, as far as they count."""
    from tadasu.core.grades import Calibration, Level

    known = [grade for grade in grades if grade.probability is not None and grade.tier != "guard"]
    known = list({grade.passage_id: grade for grade in known}.values())
    marks = {grade.calibration for grade in known}
    if Calibration.STALE in marks:
        return frame.say("the calibration of these grades may no longer hold: see `tadasu doctor`")
    bare = sum(grade.calibration is Calibration.NONE and grade.level is not Level.LOW for grade in known)
    if Calibration.PUBLIC in marks and bare:
        text = "{bare} of {count} grades are not calibrated, the others on public data: see `tadasu label`"
        return frame.say(text, bare=bare, count=len(known))
    if Calibration.PUBLIC in marks:
        return frame.say("grades calibrated on public data, not on these documents: see `tadasu label`")
    # Across languages no grade is calibrated; a LOW one among calibrated ones is not worth a word.
    counting = known if marks == {Calibration.NONE} else [grade for grade in known if grade.level is not Level.LOW]
    if any(grade.calibration is Calibration.NONE for grade in counting):
        return frame.say("some grades are not calibrated: they sort passages, and promise no more")
    return ""


def _ranked(score: float | None, rank: int | None, digits: int) -> str:
    if score is None and rank is None:
        return "–"
    number = "?" if score is None else f"{score:.{digits}f}"
    return f"{number} ({rank})" if rank is not None else number
