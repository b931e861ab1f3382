"""Every question that one part of Tadasu may ask of another.

What can be swapped is here, in the order a question meets it: the world (`world`), calls of outside services (`calls`),
encoder and store (`retrieval`), the grader (`grading`), the web (`web`), the models that read (`reading`), the
writer and its chat model (`writing`), the
run book and work in the background (`runs`). All are imported from here. Protocols have one to three methods; scores,
units and failures are said where they are declared. Built-in implementations are plugins like anybody else's
(entry-point groups ``tadasu.stores``, ``.graders``, ``.scorers``, ``.checkers``, ``.caches``, ``.chat``,
``.websearch``) and pass ``tadasu.testing.conformance``.
"""

from __future__ import annotations

from tadasu.ports.calls import Allowance, DayBook, Errand, Ledger, LimitStore, Purse, Scheduler, Standing
from tadasu.ports.grading import (
    CacheCounters,
    CacheSettings,
    CacheStatistics,
    Grader,
    GraderParts,
    PairScorer,
    ScoreCache,
    ScorerSettings,
)
from tadasu.ports.reading import CheckerSettings, Claim, FoundSpan, SpanReader, SupportModel
from tadasu.ports.retrieval import (
    AccessTags,
    CandidateSearch,
    DocumentEntry,
    DocumentShelf,
    Encoder,
    IndexedPassage,
    IndexStatistics,
    PassageIndex,
    PassageSearch,
    PromptSpace,
    Store,
    TaggedIndex,
    TermWeights,
    TokenCounter,
)
from tadasu.ports.runs import Corrections, JobBoard, JobIntake, JobQueue, RunBook
from tadasu.ports.web import OutsideSearch, PageFetch, WebSearch, WebSearchSettings
from tadasu.ports.world import Chance, Clock, Ids
from tadasu.ports.writing import (
    AnswerWriter,
    ChatDelta,
    ChatModel,
    Completion,
    CompletionModel,
    JsonForm,
    Message,
    PromptTemplate,
    WritingTask,
    WrittenToken,
)

__all__ = [
    "AccessTags",
    "Allowance",
    "AnswerWriter",
    "CacheCounters",
    "CacheSettings",
    "CacheStatistics",
    "CandidateSearch",
    "Chance",
    "ChatDelta",
    "ChatModel",
    "CheckerSettings",
    "Claim",
    "Clock",
    "Completion",
    "CompletionModel",
    "Corrections",
    "DayBook",
    "DocumentEntry",
    "DocumentShelf",
    "Encoder",
    "Errand",
    "FoundSpan",
    "Grader",
    "GraderParts",
    "Ids",
    "IndexStatistics",
    "IndexedPassage",
    "JobBoard",
    "JobIntake",
    "JobQueue",
    "JsonForm",
    "Ledger",
    "LimitStore",
    "Message",
    "OutsideSearch",
    "PageFetch",
    "PairScorer",
    "PassageIndex",
    "PassageSearch",
    "PromptSpace",
    "PromptTemplate",
    "Purse",
    "RunBook",
    "Scheduler",
    "ScoreCache",
    "ScorerSettings",
    "SpanReader",
    "Standing",
    "Store",
    "SupportModel",
    "TaggedIndex",
    "TermWeights",
    "TokenCounter",
    "WebSearch",
    "WebSearchSettings",
    "WritingTask",
    "WrittenToken",
]
