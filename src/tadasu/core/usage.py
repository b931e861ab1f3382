"""The ledger: every paid or timed call of a run, failed and retried ones too."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final


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
    """Tokens of one model call as the provider counted them; `estimated` where it did not, and we did."""

    input: int = 0
    output: int = 0
    estimated: bool = False


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


class Currency(enum.Enum):
    """What amounts are shown, limited and priced in. The ledger itself counts US dollars."""

    USD = "USD"
    JPY = "JPY"


@dataclass(frozen=True, slots=True)
class Money:
    """How amounts of the ledger are shown: in `currency`, of which `per_usd` units make one US dollar."""

    currency: Currency = Currency.USD
    per_usd: float = 1.0

    def of_usd(self, usd: float) -> float:
        """Units of the currency for an amount of the ledger."""
        return usd * self.per_usd

    def shown(self, usd: float) -> str:
        """An amount of the ledger as people read it; what is not nothing is never shown as nothing.

        >>> Money().shown(0.01234), Money().shown(1234.5), Money().shown(1e-9), Money().shown(0.0)
        ('$0.0123', '$1,234.50', '<$0.0001', '$0')
        >>> Money(Currency.JPY, 150.0).shown(0.01234), Money(Currency.JPY, 150.0).shown(20.0)
        ('¥1.851', '¥3,000')
        """
        amount = self.of_usd(usd)
        dollars = self.currency is Currency.USD
        sign, small, large = ("$", 4, 2) if dollars else ("¥", 3, 0)
        if amount == 0.0:
            return f"{sign}0"
        places = small if abs(amount) < 100.0 else large
        if round(abs(amount), places) == 0.0:
            return f"<{sign}{10.0**-places:.{places}f}"
        return f"{'-' if amount < 0 else ''}{sign}{abs(amount):,.{places}f}"


DOLLARS: Final = Money()
"""Amounts as the ledger counts them."""


@dataclass(frozen=True, slots=True)
class Used:
    """What some work took: ledger lines, tokens in and out, US dollars of what has a price, seconds."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Used) -> Used:
        return Used(
            self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd, self.seconds + other.seconds
        )


def used_by(calls: Iterable[Call], *, seconds: float = 0.0) -> Used:
    """What `calls` took, in `seconds` of wall time."""
    made = tuple(calls)
    tokens = sum(call.tokens.input + call.tokens.output for call in made)
    return Used(len(made), tokens, total(made).usd, seconds)


@dataclass(frozen=True, slots=True)
class Charge:
    """What a call is expected to take at the most. `usd` is None where `model` of `provider` has no price."""

    what: str
    usd: float | None = 0.0
    tokens: int = 0
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day of some time zone: its date, and as UTC times its first moment and the first one after it."""

    date: str
    begins: datetime
    ends: datetime
    zone: str = "UTC"

    @property
    def ends_here(self) -> str:
        """When the next day begins, as the clocks of the zone show it."""
        after = datetime.fromisoformat(self.date) + timedelta(days=1)
        return f"{after:%Y-%m-%d} 00:00 {self.zone}"


def day_of(moment: datetime, zone: tzinfo) -> Day:
    """The day that `moment` (with a time zone of its own) falls on in `zone`.

    >>> from datetime import timezone
    >>> day = day_of(datetime(2026, 3, 1, 16, tzinfo=UTC), timezone(timedelta(hours=9)))
    >>> day.date, day.begins.isoformat(), day.ends_here
    ('2026-03-02', '2026-03-01T15:00:00+00:00', '2026-03-03 00:00 UTC+09:00')
    """
    date = moment.astimezone(zone).date()
    begins, ends = (datetime.combine(one, time(), zone) for one in (date, date + timedelta(days=1)))
    return Day(date.isoformat(), begins.astimezone(UTC), ends.astimezone(UTC), str(zone))


_ASCII_PER_TOKEN = 3.0
_TOKENS_PER_OTHER = 1.25
_TOKENS_PER_TEXT = 4


def estimated_tokens(*texts: str) -> int:
    """How many tokens `texts` are at the most, for models whose own counter is not at hand.

    The rule: a token for every three ASCII characters, five for every four others, and four for each text. Common
    vocabularies need about a quarter less for English and for Japanese.

    >>> estimated_tokens("How long is the warranty?"), estimated_tokens("保証は何年ですか")
    (13, 14)
    """
    found = 0
    for text in texts:
        plain = sum(char < "\x80" for char in text) if not text.isascii() else len(text)
        found += math.ceil(plain / _ASCII_PER_TOKEN + (len(text) - plain) * _TOKENS_PER_OTHER) + _TOKENS_PER_TEXT
    return found
