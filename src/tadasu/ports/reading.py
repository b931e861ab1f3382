"""Models that read: where in a text an answer stands, and whether a text supports what is claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    from tadasu.ports.world import Chance
    from tadasu.ports.writing import ChatModel, PromptTemplate


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """The likeliest answer in one text: characters `start` to `end` of it, and in [0, 1] how likely that is.

    `probability` is that of this span being an answer at all, so that texts can be compared with each other, and a
    low best one means that none of them answers.
    """

    start: int
    end: int
    probability: float


class SpanReader(Protocol):
    """Finds the words that answer a question."""

    @property
    def id(self) -> str:
        """Name and version."""
        ...

    async def read(self, question: str, texts: Sequence[str], *, ledger: Ledger) -> Sequence[FoundSpan | None]:
        """One span per text, in order; None for a text without words. Long texts are read in overlapping windows.

        Raises ModelUnavailable where nothing can be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, the question it answers, and the text that it cites as `source`."""

    sentence: str
    source: str
    question: str = ""


class SupportModel(Protocol):
    """Says how likely it is that a source supports a sentence.

    Plugins of the group ``tadasu.checkers`` are functions ``open_checker(settings: CheckerSettings) -> SupportModel``.
    """

    @property
    def id(self) -> str:
        """Name and version."""
        ...

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """One probability in [0, 1] per claim, in order, all in one batch.

        Raises ModelUnavailable where nothing can be judged.
        """
        ...


@dataclass(frozen=True, slots=True)
class CheckerSettings:
    """What a checker plugin is opened with; each reads what it needs.

    `path` is the folder of a local model, `chat` the chat model of the role ``check`` with its `prompts` by language
    and `chance` for delimiters. `max_tokens` is the longest input read at once.
    """

    path: Path | None = None
    threads: int = 2
    max_tokens: int = 512
    chat: ChatModel | None = None
    prompts: Mapping[str, PromptTemplate] = field(default_factory=dict)
    chance: Chance | None = None
