"""Writing the answer: writers, prompts and chat models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tadasu.core.answers import Evidence, Reason
from tadasu.core.grades import Verdict
from tadasu.core.usage import Stage, Tokens
from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    pass


def _unheard(remark: str) -> None:
    """Nobody listens."""
    del remark


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a writer gets: the user's question byte for byte, the evidence, the language to answer in, today's date.

    `query` is the question's standalone form where it is a follow-up (else empty): a writer that matches words, and the
    check of names, need it. `verdict` is that of the retrieval which the evidence comes from: how sure the grades are.
    `remark` takes what a writer has to say besides: a message id of `Warned`.
    `silence` is why there is no answer where the evidence holds none. `grades` are the probabilities of relevance of
    the passages behind the evidence, by id, of those that were graded.
    """

    question: str
    language: str
    evidence: tuple[Evidence, ...]
    today: str
    nonce: str
    query: str = ""
    verdict: Verdict = Verdict.CORRECT
    silence: Reason = Reason.INSUFFICIENT
    remark: Callable[[str], None] = field(default=_unheard, compare=False, repr=False)
    grades: Mapping[str, float] = field(default_factory=dict)


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
class JsonForm:
    """One JSON object that a reply should be: a JSON schema under a name (letters, digits, ``_``).

    Schemas keep to what every service understands: objects whose properties are all required and nothing besides,
    arrays, strings, numbers, booleans and enumerations of strings.
    """

    name: str
    schema: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `role` is ``system``, ``user`` or ``assistant``.

    `form` on the last one asks for a reply in that form: the model's service is told in the way that it understands
    (schema, tool call, JSON mode), and where it understands none only the words of the message say it. What comes is
    read with tolerance in any case; see `tadasu.runtime.formed_replies`.
    """

    role: str
    content: str
    form: JsonForm | None = None


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


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """One token of a completion, its log probability (natural, ≤ 0), and the likeliest ones at its place, it included.

    `logprob` is None and `likeliest` empty where the service does not tell them.
    """

    text: str
    logprob: float | None = None
    likeliest: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """How a model goes on with a prompt. `finish` is ``stop`` or ``length``; `tokens` is empty where none are told."""

    text: str
    tokens: tuple[WrittenToken, ...] = ()
    finish: str = "stop"


class CompletionModel(Protocol):
    """A model that goes on with raw text, special tokens included, and tells how likely its tokens were."""

    @property
    def id(self) -> str:
        """Provider and model, ``completions/selfrag-7b``."""
        ...

    async def complete(
        self, prompts: Sequence[str], *, max_tokens: int, logprobs: int, ledger: Ledger, stage: Stage
    ) -> Sequence[Completion]:
        """One completion per prompt, in order, the likeliest words (temperature 0), all in one request.

        `logprobs`: how many of the likeliest tokens are told at each place. Raises a ProviderError or BudgetSpent;
        writes its call into `ledger` whatever happens.
        """
        ...
