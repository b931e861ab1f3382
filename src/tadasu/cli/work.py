"""`tadasu work`: the worker that goes on with corrections which were put off."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean, write_line
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.app.tadasu import Tadasu
    from tadasu.app.worker import Attempt, Begun


def work(
    frame: Frame,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do one job, if one is due, and stop.")] = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="Stop when no job is due; what is to be tried later stays.")
    ] = False,
) -> Exit | None:
    """Go on with corrections that were put off.

    Takes the jobs that `tadasu ask --defer` left, one after the other, searches on as a question without --defer would,
    and saves the better answer, which `tadasu trace` of the first run leads to. Every correction runs with the rights
    of the one who asked and within a budget of its own; its outside calls let everybody else go first.

    Start as many workers as you like, here and on other machines that share the state: a job is in one worker's hands.
    A worker that is killed loses nothing; its job is another's a minute later. Ctrl-C or SIGTERM stops a worker at
    once, and its job is free again. What fails is tried again later, and the first answer stays until then.

    \b
    Examples:
      tadasu work
      tadasu work --until-empty --json
    """
    if once and until_empty:
        raise InputInvalid(where="work", reason="--once and --until-empty exclude each other", fix="Leave one out.")
    shown = _Shown(frame, at_the_end=once or until_empty)
    with frame.opened() as (tadasu, runner):
        stopped = runner.run(_work(tadasu, shown, once=once, until_empty=until_empty))
        left = tadasu.container.queue.pending()
    shown.conclude(left, stopped)
    if stopped is signal.SIGINT:
        return Exit.INTERRUPTED
    return Exit.PARTIAL if shown.failed else None


async def _work(tadasu: Tadasu, shown: _Shown, *, once: bool, until_empty: bool) -> signal.Signals | None:
    """The signal that ended the work, where one did."""
    import asyncio

    stop = asyncio.Event()
    received: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        received.append(number)
        stop.set()

    with _heard(end):
        shown.begin()
        await tadasu.work(until_empty=until_empty, at_most=1 if once else None, stop=stop, watch=shown)
    return received[0] if received else None


@contextlib.contextmanager
def _heard(end: Any) -> Iterator[None]:
    """SIGINT and SIGTERM call `end`, where the platform and the thread allow it."""
    import asyncio

    loop = asyncio.get_running_loop()
    numbers = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, end, number)
            numbers.append(number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


class _Shown:
    """What a worker tells: a line a job on stderr; with --json an object a job, all in one document at the end if any.

    Questions and answers are not shown: whoever runs a worker need not be allowed to read them.
    """

    def __init__(self, frame: Frame, *, at_the_end: bool) -> None:
        self._frame = frame
        self._at_the_end = at_the_end
        self._objects: list[dict[str, Any]] = []
        self._counts = {"done": 0, "failed": 0, "dead": 0, "given_back": 0, "lost": 0}

    @property
    def failed(self) -> bool:
        """Whether a job did not come to its end."""
        return bool(self._counts["failed"] or self._counts["dead"])

    def begin(self) -> None:
        """Say that work begins."""
        if not self._at_the_end:
            self._say(self._frame.say("Waiting for corrections that were put off. Ctrl-C stops."))

    def __call__(self, event: Begun | Attempt) -> None:
        """Tell of one attempt."""
        from tadasu.app.worker import Attempt

        if not isinstance(event, Attempt):
            text = "{run}: attempt {number} …"
            self._say(self._frame.say(text, run=event.job.subject, number=event.number))
            return
        self._counts[event.outcome.value] += 1
        self._say(self._words(event))
        if self._frame.json:
            self._objects.append(_attempt_object(event))
            if not self._at_the_end:
                self._frame.emit(self._objects.pop(), indent=None)

    def conclude(self, left: int, stopped: signal.Signals | None) -> None:
        """Say how it went; `left` jobs wait or are in other hands."""
        if self._frame.json and self._at_the_end:
            self._frame.emit({**self._counts, "left": left, "jobs": self._objects})
        if stopped is not None:
            self._say(self._frame.say("Stopped; what was not done is free for other workers."))
        counts = self._counts
        text = "{done} corrected, {failed} to be tried again, {dead} given up; {left} jobs are left"
        words = self._frame.say(text, done=counts["done"], failed=counts["failed"], dead=counts["dead"], left=left)
        self._say(words)

    def _words(self, attempt: Attempt) -> str:
        from tadasu.app.worker import Outcome
        from tadasu.cli.answer_view import seconds, verdict_path
        from tadasu.cli.deferral import reason_words

        say, run = self._frame.say, attempt.job.subject
        reason = reason_words(self._frame, attempt.reason)
        match attempt.outcome:
            case Outcome.DONE if attempt.run is not None:
                parts = (
                    say("{run}: corrected by {by}", run=run, by=attempt.run.id),
                    verdict_path(self._frame, attempt.run),
                    seconds(attempt.seconds * 1000.0),
                )
                return " · ".join(part for part in parts if part)
            case Outcome.FAILED:
                return say("{run}: failed ({reason}); it is tried again later", run=run, reason=reason)
            case Outcome.DEAD:
                return say("{run}: failed ({reason}) and is given up", run=run, reason=reason)
            case Outcome.LOST:
                return say("{run}: took too long and is another worker's now ({reason})", run=run, reason=reason)
            case _:
                return say("{run}: given back", run=run)

    @staticmethod
    def _say(text: str) -> None:
        write_line(sys.stderr, clean(text))


def _attempt_object(attempt: Attempt) -> dict[str, Any]:
    return {
        "run": attempt.job.subject,
        "outcome": attempt.outcome.value,
        "attempt": attempt.number,
        "corrected_by": None if attempt.run is None else attempt.run.id,
        "reason": attempt.reason,
        "seconds": round(attempt.seconds, 3),
    }
