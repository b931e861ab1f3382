"""The full record of one answer: enough to explain every decision without the index it was made from."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from tadasu.core.answers import Answer, Evidence
from tadasu.core.documents import Origin, Reader, Scope, Span, Strip
from tadasu.core.grades import Grade, Thresholds, Verdict, VerdictRule
from tadasu.core.retrieved import DroppedPage
from tadasu.core.usage import Call, Cost, total


class ActionKind(enum.Enum):
    """What the pipeline did after a verdict."""

    REFINE = "refine"
    SEARCH_AGAIN = "search_again"
    SEARCH_WEB = "search_web"
    COMBINE = "combine"
    ABSTAIN = "abstain"


class SearchMode(enum.Enum):
    """How a round searched."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    DENSE = "dense"
    WEB = "web"


class StopReason(enum.Enum):
    """Why the correction loop ended: stable words to count by. The words for a reader are in `Action.reason`."""

    NOT_RECORDED = "not_recorded"
    """A run that was saved before these words were."""
    NOTHING_ASKED = "nothing_asked"
    CORRECT = "correct"
    SEARCHES_EXHAUSTED = "searches_exhausted"
    """Never CORRECT, and as many searches were made as the settings allow."""
    NO_OTHER_SEARCH = "no_other_search"
    """Never CORRECT, and no search was left that would differ from those before."""
    INCORRECT = "incorrect"
    """INCORRECT, and no round found anything better."""
    NO_DOCUMENTS = "no_documents"
    """No search of our documents found a passage."""
    GRADER_FAILED = "grader_failed"
    SEARCH_FAILED = "search_failed"
    BUDGET_SPENT = "budget_spent"
    UNGRADED = "ungraded"
    """A passage could not be graded, and the settings allow no answer then."""


class StripFate(enum.Enum):
    """What became of a strip of a passage that went on to refinement."""

    SELECTED = "selected"
    NEIGHBOUR = "neighbour"
    BELOW_THRESHOLD = "below_threshold"
    DUPLICATE = "duplicate"
    OVER_BUDGET = "over_budget"
    HOSTILE = "hostile"
    """Of a web passage that speaks to a model instead of to its readers."""


@dataclass(frozen=True, slots=True)
class Action:
    """A step and its reason, in words that stay true when read alone; `stop` where no round follows."""

    kind: ActionKind
    reason: str
    stop: StopReason | None = None


@dataclass(frozen=True, slots=True)
class GradedCandidate:
    """A candidate as the run keeps it: where it stood in each ranking, and its grade. No vectors, no passage text."""

    passage_id: str
    document_id: str
    source: str
    title: str
    span: Span
    page: int | None
    date: str
    origin: Origin
    fused: float
    dense_rank: int | None
    dense: float | None
    lexical_rank: int | None
    lexical: float | None
    queries: tuple[str, ...]
    grade: Grade


@dataclass(frozen=True, slots=True)
class Round:
    """One retrieval, its grades, its verdict and what was done about it.

    `changed` says what differs from the round before (empty for the first). `excluded_*` count what was ruled out.
    `dropped` are the web pages that were found and not used, each with its reason. `started_ms` counts from the start
    of the run. `queries` lists the queries of a round that made several at once (sub-questions, rewrites), and is empty
    where `query` was the only one. `borders` are those between the levels for passages in the question's language; None
    where the grader names none.
    """

    number: int
    mode: SearchMode
    query: str
    changed: str
    excluded_passages: int
    excluded_documents: int
    candidates: tuple[GradedCandidate, ...]
    verdict: Verdict
    rule: VerdictRule
    action: Action
    duration_ms: float
    error: str = ""
    dropped: tuple[DroppedPage, ...] = ()
    started_ms: float = 0.0
    queries: tuple[str, ...] = ()
    borders: Thresholds | None = None

    @property
    def searches(self) -> int:
        """How many searches the round was to make."""
        return len(self.queries) or 1


@dataclass(frozen=True, slots=True)
class StripRecord:
    """A strip of a passage that went on to refinement, kept or not, and why."""

    strip: Strip
    score: float
    fate: StripFate
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Packing:
    """How much evidence the answer was written from: `tokens` of at most `budget`, by the count of `counted_by`.

    `strength` is how much refinement took away, in the words of the settings. `restored`: nothing was found in the
    refined evidence, and the whole passages, as far as they fit, were given to a second try.
    """

    tokens: int
    budget: int
    counted_by: str
    strength: str = ""
    restored: bool = False


class Deferral(enum.Enum):
    """Whether the correction of an answer was put off."""

    NONE = "none"
    """It was not: all that was to be done is in the run."""
    PENDING = "pending"
    """The answer is from the first search alone; a job goes on with the correction."""
    DONE = "done"
    """This run is the correction of the run that it `corrects`."""


@dataclass(frozen=True, slots=True)
class Run:
    """Everything about one answer.

    `question` is what the user wrote, byte for byte; `query` is what retrieval searched for (the same, or the
    standalone form of a follow-up). `created_at` is an ISO 8601 UTC time from the clock port. `stop_reason` says why
    the correction loop ended, `stop` the same as a stable word. `scope` holds the filters that were asked for.
    `settings` is a hash of all settings that change answers. A run never changes: one whose correction was put off
    stays PENDING, and the run that `corrects` it is another.
    """

    id: str
    created_at: str
    question: str
    query: str
    language: str
    reader: Reader
    rounds: tuple[Round, ...]
    stop_reason: str
    strips: tuple[StripRecord, ...]
    evidence: tuple[Evidence, ...]
    answer: Answer
    calls: tuple[Call, ...]
    duration_ms: float
    settings: str = ""
    session: str = ""
    previous_run: str = ""
    warnings: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    stop: StopReason = StopReason.NOT_RECORDED
    deferred: Deferral = Deferral.NONE
    corrects: str = ""
    packing: Packing | None = None
    """None where nothing went on to refinement, and in runs that were saved before this was."""

    @property
    def verdict(self) -> Verdict:
        """The last round's verdict, of those that found passages where it found none; NO_DOCUMENTS without a round."""
        last = self.rounds[-1].verdict if self.rounds else Verdict.NO_DOCUMENTS
        if last is not Verdict.NO_DOCUMENTS:
            return last
        return next((one.verdict for one in reversed(self.rounds) if one.candidates), last)

    @property
    def cost(self) -> Cost:
        """What the run cost, unpriced calls counted apart."""
        return total(self.calls)
