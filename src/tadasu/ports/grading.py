"""Graders, scorers, and where their results are remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tadasu.core.grades import Grade
from tadasu.core.retrieved import Retrieval
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.vectors import PassageText
from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    pass


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
