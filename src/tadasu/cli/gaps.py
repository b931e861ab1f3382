"""`tadasu gaps`: the topics that the documents say too little about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.filters import check_dates
from tadasu.cli.frame import Frame
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from rich.console import Console

    from tadasu.app.gaps import Gaps, Share, Topic

_STYLES = {"too_few": "dim", "usual": "green", "raised": "yellow", "needs_work": "red", "surely_needs_work": "bold red"}


def gaps(
    frame: Frame,
    *,
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="First day. [default: 29 days before the last]")
    ] = "",
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Last day. [default: today]")] = "",
    most: Annotated[int, typer.Option("--topics", metavar="N", min=1, help="Topics that are shown.")] = 10,
) -> Exit | None:
    """Show what the documents say too little about.

    Questions are grouped by topic, English and Japanese together. Shown are those that fall back to the web or get no
    answer most often, with examples and the period before. 25 to 30 in 100 are usual; above 40 the documents need
    work. Only runs that the configured reader may read are counted.

    \b
    Examples:
      tadasu gaps
      tadasu gaps --since 2026-01-01 --topics 5
      tadasu gaps --json
    """
    check_dates(since=since, until=until)
    if since and until and since > until:
        raise InputInvalid(where="--since", reason=f"{since} is after {until}", fix="Name the earlier day first.")
    from tadasu.app.gaps import gaps as find

    with frame.opened() as (tadasu, runner):
        found = runner.run(find(tadasu.container, since=since, until=until))
    if frame.json:
        frame.emit(gaps_object(found, most=most))
    else:
        _show(frame, found, most=most)
    return None


def gaps_object(found: Gaps, *, most: int) -> dict[str, object]:
    """The JSON: ``period``, ``previous``, ``overall``, ``topics``, ``set_aside``, ``left_out``."""
    days = {"period": found.period, "previous": found.previous}
    return {
        **{name: {"since": one.since, "until": one.until, "time_zone": one.zone} for name, one in days.items()},
        "overall": _topic_object(found.overall),
        "topics": [_topic_object(topic) for topic in found.topics[:most]],
        "more_topics": max(0, len(found.topics) - most),
        "set_aside": found.set_aside,
        "left_out": found.left_out,
    }


def _topic_object(topic: Topic) -> dict[str, object]:
    shares = {name: _share_object(getattr(topic, name)) for name in ("fallback", "abstained", "gap", "before")}
    examples = [{"question": one.question, "times": one.times, "run": one.run_id} for one in topic.examples]
    return {"words": list(topic.words), **shares, "mark": topic.gap.mark.value, "examples": examples}


def _share_object(share: Share) -> dict[str, object]:
    low, high = share.interval
    return {"count": share.count, "questions": share.questions, "share": share.value, "low": low, "high": high}


def _show(frame: Frame, found: Gaps, *, most: int) -> None:
    console, period = frame.out(), found.period
    title = "{since} to {until} ({zone})"
    console.print(frame.say(title, since=period.since, until=period.until, zone=period.zone), style="bold")
    if not found.overall.gap.questions:
        text = "No question in these days tells of the documents. Ask with {ask}, or look further back with {since}."
        console.print(frame.say(text, ask='tadasu ask "…"', since="--since DATE"), soft_wrap=True)
        return
    _shares(frame, console, found.overall, name=frame.say("all questions"))
    if not found.topics:
        console.print(frame.say("Every question was answered from the documents."), style="green")
    for number, topic in enumerate(found.topics[:most], 1):
        console.print()
        _shares(frame, console, topic, name=f"{number}. " + (" · ".join(topic.words) or "–"))
        _examples(frame, console, topic)
    console.print()
    _notes(frame, console, found, most=most)


def _shares(frame: Frame, console: Console, topic: Topic, *, name: str) -> None:
    from rich.text import Text

    from tadasu.cli.answer_view import one_line

    head = Text(one_line(name, 60), style="bold")
    head.append(f"  {_mark(frame, topic.gap)}", style=_STYLES[topic.gap.mark.value])
    console.print(head)
    low, high = topic.gap.interval
    text = "{count} of {questions} questions: {share} ({low} to {high}) · {trend}"
    words = frame.say(
        text,
        count=topic.gap.count,
        questions=topic.gap.questions,
        share=_percent(topic.gap.value),
        low=_percent(low),
        high=_percent(high),
        trend=_trend(frame, topic),
    )
    console.print(f"  {words}", soft_wrap=True)
    words = frame.say("from the web {web}, no answer {none}", web=topic.fallback.count, none=topic.abstained.count)
    console.print(f"  {words}", style="dim", soft_wrap=True)


def _examples(frame: Frame, console: Console, topic: Topic) -> None:
    from tadasu.cli.answer_view import one_line

    for example in topic.examples:
        times = " " + frame.say("({count} times)", count=example.times) if example.times > 1 else ""
        console.print(f"  – {one_line(example.question, 68)}{times}", soft_wrap=True)


def _mark(frame: Frame, share: Share) -> str:
    words = {
        "too_few": "too few to say",
        "usual": "usual",
        "raised": "more than usual",
        "needs_work": "the documents may need work",
        "surely_needs_work": "the documents need work",
    }
    return frame.say(words[share.mark.value])


def _trend(frame: Frame, topic: Topic) -> str:
    before = topic.before
    if not before.questions:
        return frame.say("not asked in the period before")
    arrow = "↗" if (topic.gap.value or 0.0) > (before.value or 0.0) else "↘"
    if topic.gap.value == before.value:
        arrow = "→"
    text = "{arrow} before: {share} of {questions}"
    return frame.say(text, arrow=arrow, share=_percent(before.value), questions=before.questions)


def _notes(frame: Frame, console: Console, found: Gaps, *, most: int) -> None:
    if len(found.topics) > most:
        text = "{count} more topics: --topics N shows them."
        console.print(frame.say(text, count=len(found.topics) - most), style="dim", soft_wrap=True)
    if found.set_aside:
        text = "Set aside: {count} runs of small talk, or that failed or ran out of budget."
        console.print(frame.say(text, count=found.set_aside), style="dim", soft_wrap=True)
    if found.left_out:
        console.print(frame.say("Only the newest 2,000 questions of each period were looked at."), style="yellow")
    text = "25 to 30 in 100 are usual; above 40 the documents need work. What a run did: {command}"
    console.print(frame.say(text, command="tadasu trace RUN"), style="dim", soft_wrap=True)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
