"""Before work that may cost money: what it will take, and whether somebody agrees."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.frame import Frame, clean, write_line
from tadasu.errors import ConsentMissing

if TYPE_CHECKING:
    from tadasu.app.estimates import Estimate
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.usage import Money, Stage

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Agree to what it may cost; the estimate is still shown.")]


def agreed(
    frame: Frame,
    tadasu: Tadasu,
    *,
    questions: int,
    yes: bool,
    concurrency: int = 1,
    stages: frozenset[Stage] | None = None,
    stdin_is_input: bool = False,
) -> bool:
    """Whether the work may begin: it costs nothing, `yes` was said, or somebody at the terminal agrees.

    The estimate goes to stderr. Raises ConsentMissing where it may cost something, `yes` was not said, and there is no
    terminal to ask at (or stdin is what is worked on).
    """
    from tadasu.app.estimates import estimate
    from tadasu.app.prices import money_of

    if not questions:
        return True
    found = estimate(tadasu.container, questions=questions, concurrency=concurrency, stages=stages)
    if found is None:
        return True
    words = estimate_words(frame, found, money_of(tadasu.settings))
    if not (yes or found.free) and (stdin_is_input or not _terminal()):
        raise ConsentMissing(estimate=words)
    write_line(sys.stderr, clean(words))
    if yes or found.free:
        return True
    if typer.confirm(frame.say("Go on?"), default=False, err=True):
        return True
    write_line(sys.stderr, frame.say("Nothing was begun."))
    return False


def _terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def estimate_words(frame: Frame, found: Estimate, money: Money) -> str:
    """The estimate as one line: amount, time, and what both rest on."""
    shown = {
        "questions": f"{found.questions:,}",
        "cost": money.shown(found.usd),
        "time": _duration(found.seconds),
        "runs": found.runs,
        "highest": money.shown(found.highest_usd),
    }
    if found.runs:
        text = "{questions} questions: about {cost} and {time}; median of {runs} earlier runs, at most {highest}"
    else:
        text = "{questions} questions: about {cost} and {time}; by prices and usual lengths, for want of earlier runs"
    words = frame.say(text, **shown)
    if found.unpriced:
        words += frame.say("; without a known price and in no amount: {names}", names=", ".join(found.unpriced))
    return words


def _duration(seconds: float) -> str:
    """A long time as people read it.

    >>> _duration(4.2), _duration(300), _duration(7300)
    ('4 s', '5 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
