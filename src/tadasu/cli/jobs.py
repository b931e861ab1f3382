"""`tadasu jobs`: corrections that were put off, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    from tadasu.core.jobs import JobStatus


def jobs(
    frame: Frame,
    *,
    every: Annotated[bool, typer.Option("--all", help="Those that are done, too.")] = False,
    retry: Annotated[
        str, typer.Option("--retry", metavar="RUN", help="Begin a correction that was given up anew.")
    ] = "",
) -> Exit | None:
    """List corrections that were put off.

    The newest 50 that wait, run or were given up, with what the last attempt failed of. Only those that you may see.

    \b
    Examples:
      tadasu jobs
      tadasu jobs --retry run-019ac2b4f1c0-9f86d08188
    """
    from tadasu.core.jobs import JobState

    with frame.opened() as (tadasu, _):
        if retry:
            tadasu.retry(retry)
        open_states = (JobState.WAITING, JobState.RUNNING, JobState.DEAD)
        reader = tadasu.container.reader
        found = tadasu.container.queue.jobs(reader=reader, states=() if every else open_states)
    if frame.json:
        frame.emit({"jobs": [_object(one) for one in found]})
        return None
    console = frame.out()
    for one in found:
        console.print(_words(frame, one), soft_wrap=True)
    if not found:
        console.print(frame.say("No correction is waiting."))
    return None


def _object(status: JobStatus) -> dict[str, object]:
    from tadasu.cli.deferral import moment

    return {
        "run": status.job.subject,
        "kind": status.job.kind.value,
        "state": status.state.value,
        "attempts": status.attempts,
        "due": moment(status.due),
        "reason": status.reason,
        "created_at": status.job.created_at,
    }


def _words(frame: Frame, status: JobStatus) -> str:
    from tadasu.cli.deferral import moment, reason_words
    from tadasu.core.jobs import JobState

    state = {
        JobState.WAITING: "waiting, due {when}",
        JobState.RUNNING: "in a worker's hands until {when}",
        JobState.DONE: "done {when}",
        JobState.DEAD: "given up {when}",
    }[status.state]
    attempts = frame.say("attempts: {count}", count=status.attempts)
    parts = [status.job.subject, frame.say(state, when=moment(status.due)), attempts]
    if status.reason:
        parts.append(reason_words(frame, status.reason))
    return " · ".join(parts)
