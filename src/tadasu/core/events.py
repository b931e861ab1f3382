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
    """Checked text of the answer, to be appended to what was released before, and all citations so far.

    It stands before any unchecked text.
    """

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class TextRevised:
    """The unchecked text behind the released text: `taken` goes from its end, and `text` is put there instead.

    Only where the settings release text at once. It never holds a citation, and none of it is left when the run ends.
    """

    taken: str
    text: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is complete and saved; its answer's text equals all released text."""

    run: Run


Event = RunStarted | RoundEnded | TextReleased | TextRevised | RunEnded
Listener = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """A listener for those who only want the result."""


class Shown:
    """The text on a reader's screen, kept up by the events of one run.

    >>> shown = Shown()
    >>> for event in (TextRevised("", "It weigs"), TextRevised("gs", "ghs 3"), TextRevised("It weighs 3", "")):
    ...     shown(event)
    >>> shown(TextReleased("It weighs 3 kg [1]."))
    >>> shown.checked, shown.unchecked
    ('It weighs 3 kg [1].', '')
    """

    __slots__ = ("checked", "citations", "unchecked")

    def __init__(self) -> None:
        self.checked = ""
        self.unchecked = ""
        self.citations: tuple[Citation, ...] = ()

    def __call__(self, event: Event) -> None:
        """Take in one event; raises ValueError where it takes back what is not there."""
        if isinstance(event, TextReleased):
            self.checked += event.text
            self.citations = event.citations or self.citations
        elif isinstance(event, TextRevised):
            if not self.unchecked.endswith(event.taken):
                raise ValueError(f"{event.taken!r} is not the end of {self.unchecked!r}")
            self.unchecked = self.unchecked[: len(self.unchecked) - len(event.taken)] + event.text

    @property
    def text(self) -> str:
        """Both together, as they stand."""
        return self.checked + self.unchecked
