"""`tadasu stats`: what is in the index, and how the latest runs went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.filters import check_dates
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from tadasu.app.statistics import CacheFigures, RunFigures, Statistics
    from tadasu.core.documents import Reader
    from tadasu.core.usage import Money
    from tadasu.ports import AccessTags, DocumentEntry


_OFFICE = "application/vnd.openxmlformats-officedocument."
_SHORT = {
    "application/pdf": "PDF",
    "application/jsonl": "JSONL",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "text",
    f"{_OFFICE}wordprocessingml.document": "DOCX",
    f"{_OFFICE}spreadsheetml.sheet": "XLSX",
    f"{_OFFICE}presentationml.presentation": "PPTX",
}


def stats(
    frame: Frame,
    *,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=100_000, help="Latest runs that the figures cover.")
    ] = 200,
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="Of these, only runs from this day on (budget.time_zone).")
    ] = "",
    documents: Annotated[
        bool, typer.Option("--documents", help="List the documents instead, with date, language and groups.")
    ] = False,
) -> Exit | None:
    """Count what is ingested and how runs went.

    Documents and passages by language and kind; answers, abstentions, verdicts and the share that asked the web; how
    many rounds runs took and why they ended; time and cost by stage; what the score cache saves.

    \b
    Examples:
      tadasu stats
      tadasu stats --since 2026-01-01
      tadasu stats --documents
      tadasu stats --runs 100 --json
    """
    check_dates(since=since)
    with frame.opened() as (tadasu, runner):
        container = tadasu.container
        if documents:
            _list(frame, runner.run(_entries(container.store, container.reader)))
            return None
        from tadasu.app.prices import money_of
        from tadasu.app.spending import period_of
        from tadasu.app.statistics import statistics
        from tadasu.app.time_zones import zone_of

        zone = zone_of(tadasu.settings.budget.time_zone)
        now = container.clock.now() if since else None
        found = runner.run(
            statistics(
                shelf=container.store,
                runs=container.runs,
                reader=container.reader,
                limit=runs,
                cache=container.cache,
                begins=period_of(now, zone, since=since).begins if now is not None else None,
            )
        )
        money = money_of(tadasu.settings)
    if frame.json:
        frame.emit(statistics_object(found))
    else:
        _show(frame, found, money)
    return None


async def _entries(tags: AccessTags, reader: Reader) -> Sequence[DocumentEntry]:
    return await tags.entries(reader=reader)


def _list(frame: Frame, entries: Sequence[DocumentEntry]) -> None:
    """A document a line: id, date, language, groups, source; ``-`` for no date, ``everybody`` for no groups."""
    from rich.cells import cell_len, set_cell_size

    from tadasu.cli.answer_view import one_line
    from tadasu.cli.jsonable import jsonable

    if frame.json:
        frame.emit({"documents": [jsonable(entry) for entry in entries]})
        return
    everybody = frame.say("everybody")
    named = [one_line(", ".join(entry.groups)) or everybody for entry in entries]
    width = max(map(cell_len, named), default=0)
    for entry, groups in zip(entries, named, strict=True):
        tags = set_cell_size(groups, width)
        line = f"{entry.id}  {entry.date or '-':10}  {entry.language:3}  {tags}  {one_line(entry.source)}"
        frame.out().print(line, soft_wrap=True, markup=False)


def statistics_object(found: Statistics) -> dict[str, object]:
    """The JSON: ``index``, ``runs`` with the figures together and by language, ``cache``, ``latest``."""
    from tadasu.cli.jsonable import jsonable

    cache = found.cache
    return {
        "index": jsonable(found.index),
        "runs": {**jsonable(found.overall), "by_language": jsonable(found.by_language)},
        "cache": None if cache is None else {**jsonable(cache), "hit_rate": cache.hit_rate},
        "latest": [
            {
                "run": run.id,
                "created_at": run.created_at,
                "question": run.question,
                "status": run.answer.status.value,
                "verdict": run.verdict.value if run.rounds else None,
                "duration_ms": round(run.duration_ms, 3),
            }
            for run in found.latest
        ],
    }


def _show(frame: Frame, found: Statistics, money: Money) -> None:
    from tadasu.cli.answer_view import one_line, seconds

    console = frame.out()
    index = found.index
    text = "{documents} documents, {passages} passages"
    console.print(frame.say(text, documents=index.documents, passages=index.passages), style="bold")
    if index.documents:
        console.print("  " + _counted(index.languages), soft_wrap=True)
        console.print(
            "  " + _counted({_SHORT.get(name, name): count for name, count in index.media_types.items()}),
            soft_wrap=True,
        )
    if found.cache is not None:
        console.print(cache_words(frame, found.cache), soft_wrap=True)
    if not found.overall.runs:
        console.print(frame.say("No question has been asked yet. Try: {command}", command='tadasu ask "…"'))
        return
    console.print()
    _figures(frame, console, frame.say("the latest {count} runs", count=found.overall.runs), found.overall, money)
    _course(frame, console, found.overall)
    if len(found.by_language) > 1:
        for language, figures in found.by_language.items():
            title = frame.say("answers in {tongue}: {count} runs", tongue=language, count=figures.runs)
            _figures(frame, console, title, figures, money)
    console.print()
    console.print(_stages(frame, found.overall, money))
    console.print()
    console.print(frame.say("latest runs"), style="bold")
    for run in found.latest:
        verdict = run.verdict.name if run.rounds else "–"
        parts = (run.id, run.created_at[:19], verdict, seconds(run.duration_ms), one_line(run.question, 80))
        console.print("  " + " · ".join(parts), soft_wrap=True)


def cache_words(frame: Frame, cache: CacheFigures) -> str:
    """What the cache of scores holds and how often it knew the answer."""
    if cache.trouble:
        return frame.say("score cache: done without it for now ({reason})", reason=cache.trouble)
    text = "score cache: {count} scores, {megabytes} MB; {rate} of {lookups} look-ups found"
    rate = "–" if cache.hit_rate is None else f"{cache.hit_rate:.0%}"
    size = f"{cache.bytes / 1_000_000:.1f}"
    return frame.say(text, count=cache.entries, megabytes=size, rate=rate, lookups=cache.hits + cache.misses)


def _course(frame: Frame, console: Console, figures: RunFigures) -> None:
    """How many rounds runs took, and why they ended."""
    rounds = ", ".join(f"{number} × {count}" for number, count in figures.rounds.items())
    console.print("  " + frame.say("rounds: {counts}", counts=rounds), soft_wrap=True)
    stops = {frame.say(_STOPS.get(name, name)): count for name, count in figures.stops.items()}
    console.print("  " + frame.say("ended because: {reason}", reason=_counted(stops)), soft_wrap=True)


_STOPS = {
    "not_recorded": "not recorded",
    "nothing_asked": "nothing was asked",
    "correct": "good evidence",
    "searches_exhausted": "searches exhausted",
    "no_other_search": "no other search left",
    "incorrect": "nothing relevant",
    "no_documents": "no documents",
    "grader_failed": "grader failed",
    "search_failed": "search failed",
    "budget_spent": "budget spent",
    "ungraded": "passages ungraded",
}


def _stages(frame: Frame, figures: RunFigures, money: Money) -> Table:
    from rich.table import Table

    from tadasu.cli.answer_view import money_words, seconds

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(frame.say("stage"))
    failed = any(one.failed for one in figures.stages.values())
    heads = ["calls", *(["failed"] if failed else []), "time per run", "p95", "cost"]
    for head in heads:
        table.add_column(frame.say(head), justify="right", no_wrap=True)
    for name, one in figures.stages.items():
        cells = [f"{one.calls:,}", *([f"{one.failed:,}"] if failed else [])]
        cells += [seconds(one.total_ms / one.runs), seconds(one.p95_ms), money_words(frame, one.cost, money)]
        table.add_row(name, *cells)
    return table


def _figures(frame: Frame, console: Console, title: str, figures: RunFigures, money: Money) -> None:
    console.print(title, style="bold")
    abstained = sum(figures.abstained.values())
    reasons = f" ({_counted(figures.abstained)})" if abstained else ""
    text = "answered {answered}, abstained {abstained}"
    console.print("  " + frame.say(text, answered=figures.answered, abstained=abstained) + reasons, soft_wrap=True)
    searched = sum(figures.verdicts.values())
    verdicts = ", ".join(f"{name.upper()} {count / searched:.0%}" for name, count in figures.verdicts.items())
    console.print("  " + frame.say("last verdicts: {shares}", shares=verdicts), soft_wrap=True)
    text = "corrected {corrected}, asked the web {web}"
    shares = {"corrected": f"{figures.corrected_share or 0:.0%}", "web": f"{figures.web_share or 0:.0%}"}
    console.print("  " + frame.say(text, **shares), soft_wrap=True)
    if figures.unsupported_share is not None:
        text = "sentences that nothing supports: {share} of {count}"
        share = f"{figures.unsupported_share:.1%}"
        console.print("  " + frame.say(text, share=share, count=figures.claims), soft_wrap=True)
    text = "time: median {median}, p95 {p95}; cost: {cost}"
    from tadasu.cli.answer_view import money_words, seconds

    times = {"median": seconds(figures.median_ms or 0.0), "p95": seconds(figures.p95_ms or 0.0)}
    console.print("  " + frame.say(text, **times, cost=money_words(frame, figures.cost, money)), soft_wrap=True)


def _counted(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered)
