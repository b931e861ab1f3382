"""The ledger: every paid or timed call of a run, failed and retried ones too."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Stage(enum.Enum):
    """The part of a run that a call served."""

    EMBED = "embed"
    RETRIEVE = "retrieve"
    GRADE = "grade"
    REWRITE = "rewrite"
    SEARCH = "search"
    FETCH = "fetch"
    STRIP = "strip"
    GENERATE = "generate"
    CHECK = "check"


class Priority(enum.IntEnum):
    """Who goes first where calls have to wait: lower numbers. Waiting makes a call more urgent, so nothing starves."""

    HIGH = 1
    """Somebody is waiting for the answer."""
    NORMAL = 2
    LOW = 3
    """Work that may wait: deferred corrections, batches, judges."""


class Outcome(enum.Enum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Pricing(enum.Enum):
    """Where a cost comes from. UNPRICED is said aloud and never counted as zero."""

    LOCAL = "local"
    PRICED = "priced"
    UNPRICED = "unpriced"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one model call as the provider counted them."""

    input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One call. Times in milliseconds, `started_ms` from the start of the run; `cost_usd` is None when unpriced.

    `items` is what it was asked about (texts, pairs, pages), `cached` how many of them a cache served.
    """

    stage: Stage
    provider: str
    model: str = ""
    started_ms: float = 0.0
    duration_ms: float = 0.0
    tokens: Tokens = Tokens()
    pricing: Pricing = Pricing.LOCAL
    cost_usd: float | None = 0.0
    outcome: Outcome = Outcome.OK
    attempt: int = 1
    items: int = 1
    error: str = ""
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """Total of some calls: US dollars of the priced ones, and how many had no price."""

    usd: float
    unpriced_calls: int

    def __str__(self) -> str:
        text = f"${self.usd:.4f}" if self.usd else "$0"
        return f"{text} + {self.unpriced_calls} unpriced calls" if self.unpriced_calls else text


def total(calls: Iterable[Call]) -> Cost:
    """Add up `calls`; unpriced ones are counted apart.

    >>> str(total([Call(Stage.GRADE, "local"), Call(Stage.GENERATE, "x", pricing=Pricing.UNPRICED, cost_usd=None)]))
    '$0 + 1 unpriced calls'
    """
    usd, unpriced = 0.0, 0
    for call in calls:
        if call.cost_usd is None:
            unpriced += 1
        else:
            usd += call.cost_usd
    return Cost(usd=usd, unpriced_calls=unpriced)
