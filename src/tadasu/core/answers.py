"""What is shown to the one who asked: text, citations, and what was checked."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tadasu.core.documents import Origin, Span, Strip


class AnswerStatus(enum.Enum):
    """Whether a question was answered."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


class Reason(enum.Enum):
    """Why there is no answer. Stable codes; said to the user in their language."""

    NO_DOCUMENTS = "no_documents"
    ALL_FILTERED = "all_filtered"
    SEARCH_FAILED = "search_failed"
    GRADER_FAILED = "grader_failed"
    INSUFFICIENT = "insufficient"
    UNSUPPORTED = "unsupported"
    CONFLICT = "conflict"
    BUDGET_SPENT = "budget_spent"
    NO_QUESTION = "no_question"


class Support(enum.Enum):
    """What the check says of a sentence and the strips it cites."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNCITED = "uncited"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A strip that reaches the prompt: `number` (from 1) is how the answering model cites it.

    `score` is the strip's probability of relevance; `merged` lists the ids of near-duplicates that it stands for, and
    `also` the other sources that they stand in, each once.
    """

    number: int
    strip: Strip
    score: float
    merged: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """One source behind an answer, as shown: `marker` counts from 1 in order of first use.

    `quote` is the cited text exactly as it stands at `span` of the document; `strips` are the ids behind it, `also` the
    other sources that say the same.
    """

    marker: int
    strips: tuple[str, ...]
    document_id: str
    source: str
    title: str
    quote: str
    span: Span
    page: int | None = None
    date: str = ""
    origin: Origin = Origin.INTERNAL
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of the answer, the markers it cites, and what the check found.

    `findings` name what does not occur in the cited strips (``number 42``, ``name Bosch``), empty when supported.
    `instead` is what was written in place of a sentence that was taken out, empty where nothing was.
    """

    text: str
    markers: tuple[int, ...]
    support: Support
    findings: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as shown. ABSTAINED answers carry a reason and no citations.

    `removed` are sentences that the model wrote and the check took out, with the finding. A sentence of `sentences`
    that is UNSUPPORTED is marked so in the text, and cites nothing.
    """

    text: str
    status: AnswerStatus
    language: str
    citations: tuple[Citation, ...] = ()
    sentences: tuple[CheckedSentence, ...] = ()
    removed: tuple[CheckedSentence, ...] = ()
    reason: Reason | None = None
    writer: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.reason is None) is not (self.status is AnswerStatus.ANSWERED):
            raise ValueError("an answer has a reason exactly when it abstains")
        if self.status is AnswerStatus.ABSTAINED and self.citations:
            raise ValueError("an abstention cites nothing")

    @property
    def unsupported(self) -> tuple[CheckedSentence, ...]:
        """The sentences that the model wrote and nothing supports, whatever became of them."""
        return (*self.removed, *(one for one in self.sentences if one.support is Support.UNSUPPORTED))

    @property
    def claims(self) -> int:
        """How many of the model's sentences claim something: the supported and the unsupported ones.

        What took the place of a sentence that was taken out is not counted beside it.
        """
        again = sum(bool(one.instead) for one in self.removed)
        supported = sum(one.support is Support.SUPPORTED for one in self.sentences)
        return max(supported - again, 0) + len(self.unsupported)
