"""Writing the answer: writers, prompts and chat models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tadasu.core.answers import Evidence, Reason
from tadasu.core.grades import Verdict
from tadasu.core.usage import Stage, Tokens
from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a writer gets: the user's question byte for byte, the evidence, the language to answer in, today's date.

    `query` is the question's standalone form where it is a follow-up (else empty): a writer that matches words, and the
    check of names, need it. `verdict` is that of the retrieval which the evidence comes from: how sure the grades are.
    `silence` is why there is no answer where the evidence holds none.
    """

    question: str
    language: str
    evidence: tuple[Evidence, ...]
    today: str
    nonce: str
    query: str = ""
    verdict: Verdict = Verdict.CORRECT
    silence: Reason = Reason.INSUFFICIENT


class AnswerWriter(Protocol):
    """Writes an answer from the evidence only, citing by ``[number]``. Extractive or through a chat model."""

    @property
    def id(self) -> str:
        """Name and version of the writer (and its prompt)."""
        ...

    def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """Pieces of text as they come; empty where it has nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `role` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


class PromptTemplate(Protocol):
    """A versioned prompt. Values are put in once and can never act as placeholders."""

    @property
    def id(self) -> str:
        """Name, language and content hash, ``answer/en@1f2e3d4c``."""
        ...

    def messages(self, **values: str) -> tuple[Message, ...]:
        """The chat messages with `values` in place; raises SettingsInvalid where they do not match the text."""
        ...


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a streamed reply; the last one carries `tokens` and `finish` (``stop``, ``length``, ``refusal``)."""

    text: str = ""
    tokens: Tokens | None = None
    finish: str = ""


class ChatModel(Protocol):
    """A chat model behind any provider."""

    @property
    def id(self) -> str:
        """Provider and model, ``openai/gpt-…``."""
        ...

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        """The reply as it comes; raises a ProviderError; writes its call into `ledger` whatever happens."""
        ...
