"""Every question that one part of Tadasu may ask of another.

What can be swapped is here, in the order a question meets it: the world (clock, ids, chance), the encoder, the store,
the grader, the web, the writer and its chat model, the run book. Protocols have one to three methods; scores, units
and failures are said where they are declared. Built-in implementations are plugins like anybody else's (entry-point
groups ``tadasu.stores``, ``.graders``, ``.chat``, ``.websearch``) and pass ``tadasu.testing.conformance``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from tadasu.core.answers import Evidence
from tadasu.core.documents import Document, Passage, Reader, Scope
from tadasu.core.grades import Grade, Verdict
from tadasu.core.jobs import Claim, Job, JobState, JobStatus, Settlement
from tadasu.core.limits import Admission, Ration
from tadasu.core.retrieved import FetchedPages, Hit, Metric, Retrieval, StoredPassage, WebPage
from tadasu.core.runs import Run, SearchMode
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Call, Charge, Day, Priority, Stage, Tokens, Used
from tadasu.core.vectors import PassageText, PassageVectors

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix, FloatVector

# --- the world -----------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, so that a run can be replayed."""

    def now(self) -> datetime:
        """The current time, with time zone."""
        ...

    def elapsed(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


class Ids(Protocol):
    """New identifiers."""

    def new(self, kind: str) -> str:
        """A fresh id such as ``run-…``; never the same twice."""
        ...


class Chance(Protocol):
    """Randomness (jitter, delimiters, sampling)."""

    def token(self) -> str:
        """An unguessable word of letters and digits."""
        ...

    def uniform(self) -> float:
        """A number in [0, 1)."""
        ...


class Ledger(Protocol):
    """Where every call of a run is written down, failed ones too."""

    def record(self, call: Call) -> None:
        """Add one call."""
        ...

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began."""
        ...


@runtime_checkable
class Allowance(Protocol):
    """What a ledger may offer besides: the limits of its run, for parts that make several calls."""

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, not below 0; None without one."""
        ...

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        """Raise BudgetSpent where `what` does not fit any more; `under_way` calls have begun and are in no ledger."""
        ...


@runtime_checkable
class Standing(Protocol):
    """What a ledger may say of whose run it is: how urgent its calls are, and for which tenant."""

    @property
    def priority(self) -> Priority: ...  # noqa: D102 - said above
    @property
    def tenant(self) -> str: ...  # noqa: D102


@runtime_checkable
class Purse(Protocol):
    """What a ledger may offer besides: room for a call that is about to be made, held until its true cost is known."""

    def hold(self, charge: Charge) -> AbstractAsyncContextManager[Ledger]:
        """A ledger for the one call in the block. Its first line there takes the place of the estimate.

        Raises BudgetSpent where `charge` does not fit beside what is used and held, PriceUnknown where a limit of money
        needs a price and there is none.
        """
        ...


class DayBook(Protocol):
    """What a day's work takes, over all processes that share it. Blocking: callers move it off the event loop."""

    def enter(
        self, key: str, *, tenant: str, moment: datetime, day: Day, used: Used, allow: Callable[[Used, Used], None]
    ) -> None:
        """Write that the work `key`, begun at `moment`, takes `used`, what it holds included; replaces its last entry.

        Before that, ``allow(of all, of the tenant)`` is told what else was used on `day`; what it raises leaves the
        book as it was. The whole is one step: no other process can come in between.
        """
        ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Errand:
    """A call of an outside service that wants its turn.

    `provider` is whose limits count (``openai``, ``tavily``, a host), `what` names the call in errors. `tokens` and
    `usd` are estimates of what it will take. `tenant` shares fairly among those who wait.
    """

    provider: str
    stage: Stage
    what: str
    tokens: int = 0
    usd: float = 0.0
    priority: Priority = Priority.NORMAL
    tenant: str = ""


class Scheduler(Protocol):
    """The one way out: limits, order, retries and circuit breakers of every outside call (DESIGN §3.4)."""

    def turn(self, errand: Errand, *, ledger: Ledger) -> AbstractAsyncContextManager[None]:
        """One attempt: waits until `errand` may run, and gives its place back however the block ends.

        Raises BudgetSpent where the run's budget or deadline does not allow it, ProviderUnreachable while the
        provider's circuit is open.
        """
        ...

    async def call(self, errand: Errand, work: Callable[[int], Awaitable[T]], *, ledger: Ledger) -> T:
        """What ``work(attempt)`` gives (attempts count from 1), each attempt in a turn of its own.

        Tried again on ProviderUnreachable and ProviderLimited, after the wait that was asked for or a jittered one,
        while the deadline and the number of attempts allow; then the last error is raised.
        """
        ...


class LimitStore(Protocol):
    """Counts what is under way at each provider, for all who share it. Any thread and event loop may ask."""

    async def admit(self, provider: str, ration: Ration, *, tokens: int = 0, riding: bool = False) -> Admission:
        """A place within `ration`, or a wait; a call that is `riding` on another's place counts in the rates only."""
        ...

    async def give_back(self, provider: str, ticket: str) -> None:
        """The call of `ticket` has ended. Never raises; unknown tickets are ignored."""
        ...

    async def close_for(self, provider: str, seconds: float) -> None:
        """Admit nobody at `provider` for `seconds`; what was asked for longer stays."""
        ...


# --- text to vectors -----------------------------------------------------------------------------


class TokenCounter(Protocol):
    """How long a text is for a model."""

    def count(self, text: str) -> int:
        """Tokens of `text`, without special ones."""
        ...


class Encoder(Protocol):
    """Texts to L2-normalised vectors. Thread-safe; blocking (callers move it off the event loop)."""

    @property
    def id(self) -> str:
        """Name and version; an index remembers it."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        """(n, d) float32, one row per query, in order."""
        ...

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        """One result per passage, in order; strips pooled from the passage's own pass. Nothing is cut silently."""
        ...


# --- the store -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage ready to be stored: `tokens` are the analyser's search terms, in order."""

    passage: Passage
    tokens: tuple[str, ...]
    vectors: PassageVectors


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """What a reader can see of an index. Counts cover visible documents only."""

    documents: int
    passages: int
    languages: Mapping[str, int]
    media_types: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A stored document as lists show it; `groups` are in order, none where all of its tenant may see it."""

    id: str
    source: str
    date: str
    language: str
    groups: tuple[str, ...]


class PassageSearch(Protocol):
    """Ranked search. `scope` is applied inside, before anything is ranked: what it hides is nowhere in the result."""

    dense_metric: Metric

    async def dense(self, vector: FloatVector, *, k: int, scope: Scope) -> Sequence[Hit]:
        """At most `k` hits, nearest first, scores raw in `dense_metric` (missing = unknown)."""
        ...

    async def lexical(self, terms: Sequence[str], *, k: int, scope: Scope) -> Sequence[Hit]:
        """At most `k` hits that hold any of `terms`, best BM25 first, score ≥ 0, higher is better."""
        ...

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> Sequence[StoredPassage]:
        """The passages of `ids` that `scope` allows, in the order of `ids`; unknown ones are left out."""
        ...


class TermWeights(Protocol):
    """How telling a term is in the corpus that a reader can see."""

    async def term_weights(self, terms: Sequence[str], *, reader: Reader) -> Mapping[str, float]:
        """Inverse document frequency per term, ``ln(1 + (N - n + ½) / (n + ½))`` ≥ 0 (Robertson; as in Lucene)."""
        ...


class DocumentShelf(Protocol):
    """Whole documents, for citations, `why` and `stats`."""

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        """The document if it exists and `reader` may see it."""
        ...

    async def sources(self, *, reader: Reader) -> Sequence[tuple[str, str]]:
        """(document id, source) of every visible document, by source."""
        ...

    async def statistics(self, *, reader: Reader) -> IndexStatistics:
        """Counts over what `reader` may see."""
        ...


class PassageIndex(Protocol):
    """Writing. Each call is one transaction: readers see all of a document or nothing of it."""

    async def put(self, document: Document, passages: Sequence[IndexedPassage]) -> None:
        """Store a document, replacing what was stored under its id."""
        ...

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Remove documents; unknown ids are ignored."""
        ...

    async def fingerprints(self, *, tenant: str, source_prefix: str = "") -> Mapping[str, str]:
        """source → content hash of every stored document of `tenant` below the prefix."""
        ...


class AccessTags(Protocol):
    """Who may see what."""

    async def entries(self, *, reader: Reader) -> Sequence[DocumentEntry]:
        """Every document that `reader` may see, without its text, by source."""
        ...

    async def groups(self, *, tenant: str) -> Mapping[str, frozenset[str]]:
        """source → access groups of every stored document of `tenant`, for ingestion; empty where all may see it."""
        ...


class TaggedIndex(PassageIndex, AccessTags, Protocol):
    """What an ingest needs of an index: to write, and to know what was said about access before."""


class Store(PassageSearch, TermWeights, DocumentShelf, TaggedIndex, Protocol):
    """All that an engine offers. Parts ask for the small protocol that they need."""

    async def close(self) -> None:
        """Give back files and connections."""
        ...


class CandidateSearch(Protocol):
    """Retrieval as the correction loop sees it: a query in, candidates in fused order out."""

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        """At most `k` candidates that `scope` allows; raises SearchFailed or a StoreError."""
        ...


# --- grading -------------------------------------------------------------------------------------


class Grader(Protocol):
    """Scores (question, passage) pairs."""

    @property
    def id(self) -> str:
        """Name and version, as grades carry it."""
        ...

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        """One grade per candidate of `retrieval`, in order. A passage that cannot be graded is UNGRADED with a reason;

        raises GradingFailed only when nothing could be graded.
        """
        ...


class PairScorer(Protocol):
    """A model that scores pairs: the second tier. It knows nothing of thresholds, levels or calibration.

    Plugins of the group ``tadasu.scorers`` are functions ``open_scorer(settings: ScorerSettings) -> PairScorer``.
    """

    @property
    def id(self) -> str:
        """Name and version: two scorers with one id give the same scores. It is part of the cache's key."""
        ...

    @property
    def scale(self) -> ScoreScale:
        """What its scores mean."""
        ...

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """One score per passage, in order, all in one batch; a pair that cannot be scored has a reason instead.

        Raises ModelUnavailable or a ProviderError where nothing can be scored. Nothing is cut silently: a passage
        longer than the model's window is read in overlapping windows, and the best one counts.
        """
        ...


@dataclass(frozen=True, slots=True)
class ScorerSettings:
    """What a scorer plugin is opened with; each reads what it needs.

    `scale` is None where the settings do not say, and then the model's own card must. `path` is a folder of a local
    model, `base_url`, `model` and `key_variable` name a service (the key is read when the first call is made).
    """

    scale: ScoreScale | None = None
    path: Path | None = None
    base_url: str = ""
    model: str = ""
    key_variable: str = ""
    timeout_s: float = 10.0
    threads: int = 2
    max_tokens: int = 512
    price: float | None = None
    """US dollars per thousand pairs, where the service does not say; None: unpriced."""


@dataclass(frozen=True, slots=True)
class GraderParts:
    """What a grader plugin is opened with: the group ``tadasu.graders`` holds ``open_grader(parts) -> Grader``.

    `folder` is where the shipped models of graders lie. The thresholds are None unless the settings name them.
    `scorer` and `assessor` (a grader that asks a language model) are what the settings chose, None where nothing was
    chosen. Whether a scorer's scores go through a cache is not the grader's business: it is a `PairScorer` too.
    """

    folder: Path
    tau_high: float | None = None
    tau_low: float | None = None
    scorer: PairScorer | None = None
    assessor: Grader | None = None
    fall_back: bool = False
    """Where a later tier fails: keep what the earlier one said, instead of UNGRADED."""
    timeout_s: float = 30.0
    """How long `scorer` may take for the passages of one search, in seconds."""


class ScoreCache(Protocol):
    """Bytes by key, for results that cost something. A key holds everything that the result depends on."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """What is known, by key; unknown, damaged and expired ones are left out. Never raises for a broken cache."""
        ...

    async def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep `entries`; the oldest used go where there is no room. Never raises for a broken cache."""
        ...

    async def close(self) -> None:
        """Give back files and connections."""
        ...


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """What a cache plugin (group ``tadasu.caches``, ``open_cache(settings) -> ScoreCache``) is opened with.

    `file` is where a cache on this machine lies; `url_variable` names the environment variable that holds a server's
    address. Entries go after `days` without use, the longest unused ones first beyond `max_mb`.
    """

    file: Path | None = None
    url_variable: str = ""
    max_mb: int = 256
    days: float = 90.0
    memory_entries: int = 20_000


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Since the cache was made: look-ups that found something, those that did not, and what it holds now."""

    hits: int
    misses: int
    entries: int
    bytes: int


class CacheCounters(Protocol):
    """How well a cache does."""

    async def statistics(self) -> CacheStatistics:
        """Counts over all processes that share the cache, as far as it knows them."""
        ...


# --- correction ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WebSearchSettings:
    """What a web search plugin (group ``tadasu.websearch``, ``open_search(settings) -> WebSearch``) is opened with.

    Each reads what it needs. `base_url` is empty for the provider's own address; `key_variable` names the environment
    variable that holds the key, read when the first call is made. `engine` is an id that some providers want beside the
    key (Google's ``cx``). `price` is in US dollars per thousand searches; None: unpriced.
    """

    folder: Path | None = None
    base_url: str = ""
    key_variable: str = ""
    engine: str = ""
    timeout_s: float = 10.0
    price: float | None = None


class WebSearch(Protocol):
    """One provider of web pages. Queries derive from the question only, never from passages."""

    @property
    def id(self) -> str:
        """Provider's name."""
        ...

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """At most `limit` pages, best first; raises SearchFailed or a ProviderError."""
        ...


class PageFetch(Protocol):
    """Gets the pages that a search named. The web is hostile: see DESIGN §3.3 for what it has to withstand."""

    async def fetch(self, pages: Sequence[WebPage], *, ledger: Ledger) -> FetchedPages:
        """`pages` with their bodies, in order; pages that have one are left alone, unusable ones are in `dropped`.

        Never raises for what a page or its server did; one slow or broken page costs no other. Raises BudgetSpent where
        nothing may be fetched any more.
        """
        ...


class OutsideSearch(Protocol):
    """The web as the correction loop sees it: pages found, read, split and ranked like passages of our own."""

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        """Candidates from at most `limit` pages; `inside` lends the question's vector and term weights.

        Raises SearchFailed or a ProviderError.
        """
        ...


# --- writing the answer --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a writer gets: the user's question byte for byte, the evidence, the language to answer in, today's date.

    `query` is the question's standalone form where it is a follow-up (else empty): a writer that matches words, and the
    check of names, need it. `verdict` is that of the retrieval which the evidence comes from: how sure the grades are.
    """

    question: str
    language: str
    evidence: tuple[Evidence, ...]
    today: str
    nonce: str
    query: str = ""
    verdict: Verdict = Verdict.CORRECT


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


# --- runs ----------------------------------------------------------------------------------------


class RunBook(Protocol):
    """Where runs are kept. A reader sees the runs of its tenant whose evidence it may see."""

    def save(self, run: Run) -> None:
        """Commit `run`: another connection sees it when this returns."""
        ...

    def load(self, run_id: str, *, reader: Reader) -> Run:
        """The run, ``last`` for the latest; raises RunNotFound."""
        ...

    def latest(self, *, limit: int, reader: Reader) -> Sequence[Run]:
        """The newest runs first."""
        ...


class Corrections(Protocol):
    """Which run took the place of another."""

    def correction_of(self, run_id: str) -> str:
        """The id of the run that corrected the run `run_id`; empty where none did."""
        ...


# --- work in the background ----------------------------------------------------------------------


class JobIntake(Protocol):
    """Where work for later is left."""

    def put(self, job: Job) -> None:
        """Leave `job`. One that is waiting, running or done stays as it is; one that was given up begins anew."""
        ...


class JobQueue(Protocol):
    """Where workers get their work: at least once each job, one worker at a time. Any thread and process may ask.

    Blocking: callers move it off the event loop. All of it can be said in the words of a message queue with visibility
    time-outs; what must not happen twice is kept from it by whoever saves the result.
    """

    def claim(self) -> Claim | None:
        """The job that has been due longest, until its lease ends; None where nothing is due."""
        ...

    def keep(self, claim: Claim) -> Claim | None:
        """A sign of life: the same claim with a new lease; None where the job is not in these hands any more."""
        ...

    def settle(self, claim: Claim, settlement: Settlement) -> JobState | None:
        """Part from the job: how it stands then. None, and nothing is changed, where it is not in these hands."""
        ...


class JobBoard(Protocol):
    """How jobs stand. A reader sees those that were left by readers who could see no more."""

    def job(self, job_id: str, *, reader: Reader) -> JobStatus | None:
        """The job of that id, if `reader` may see it."""
        ...

    def jobs(self, *, reader: Reader, states: Sequence[JobState] = (), limit: int = 50) -> Sequence[JobStatus]:
        """The newest `limit` jobs in one of `states` (none: in any), newest first."""
        ...

    def pending(self) -> int:
        """How many jobs of all readers wait or run."""
        ...
