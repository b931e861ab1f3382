"""`tadasu stats`: what is in the index, and how the latest runs went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from tadasu.app.statistics import CacheFigures, RunFigures, Statistics
    from tadasu.core.documents import Reader
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
    documents: Annotated[
        bool, typer.Option("--documents", help="List the documents instead, with date, language and groups.")
    ] = False,
) -> Exit | None:
    """Count what is ingested and how runs went.

    Documents and passages by language and kind; answers, abstentions, verdicts, times and cost of the latest runs;
    what the score cache saves.

    \b
    Examples:
      tadasu stats
      tadasu stats --documents
      tadasu stats --runs 100 --json
    """
    with frame.opened() as (tadasu, runner):
        container = tadasu.container
        if documents:
            _list(frame, runner.run(_entries(container.store, container.reader)))
            return None
        from tadasu.app.statistics import statistics

        found = runner.run(
            statistics(
                shelf=container.store,
                runs=container.runs,
                reader=container.reader,
                limit=runs,
                cache=container.cache,
            )
        )
    if frame.json:
        frame.emit(statistics_object(found))
    else:
        _show(frame, found)
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


def _show(frame: Frame, found: Statistics) -> None:
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
    _figures(frame, console, frame.say("the latest {count} runs", count=found.overall.runs), found.overall)
    if len(found.by_language) > 1:
        for language, figures in found.by_language.items():
            title = frame.say("answers in {tongue}: {count} runs", tongue=language, count=figures.runs)
            _figures(frame, console, title, figures)
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


def _figures(frame: Frame, console: Console, title: str, figures: RunFigures) -> None:
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
    text = "time: median {median}, p95 {p95}; cost: {cost}"
    from tadasu.cli.answer_view import seconds

    times = {"median": seconds(figures.median_ms or 0.0), "p95": seconds(figures.p95_ms or 0.0)}
    console.print("  " + frame.say(text, **times, cost=str(figures.cost)), soft_wrap=True)


def _counted(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered)
