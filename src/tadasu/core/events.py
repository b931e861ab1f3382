"""What a run tells while it goes on, for those who watch: a terminal, a stream, a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tadasu.core.answers import Citation
from tadasu.core.runs import Round, Run


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A question has arrived: the id that its run will have, and when (ISO 8601, UTC)."""

    run_id: str
    created_at: str


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """One retrieval was graded and decided upon."""

    round: Round


@dataclass(frozen=True, slots=True)
class TextReleased:
    """Checked text of the answer, to be appended to what was released before, and all citations so far."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is complete and saved; its answer's text equals all released text."""

    run: Run


Event = RunStarted | RoundEnded | TextReleased | RunEnded
Listener = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """A listener for those who only want the result."""
