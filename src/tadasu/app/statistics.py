"""What is in the index, and how the latest runs went: counts and shares, nothing that needs a judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tadasu.core.answers import AnswerStatus
from tadasu.core.documents import Reader
from tadasu.core.runs import Run, SearchMode
from tadasu.core.usage import Cost, Outcome, Stage, total
from tadasu.ports import DocumentShelf, IndexStatistics, RunBook, ScoreCache
from tadasu.runtime.cache import CountedCache

LATEST_RUNS = 200


@dataclass(frozen=True, slots=True)
class StageFigures:
    """The calls of one stage over some runs: how many, how many of them failed, their time together and per run.

    Times are milliseconds; `p95_ms` is that of what a run spent in the stage, over the runs that reached it.
    """

    runs: int
    calls: int
    failed: int
    total_ms: float
    p95_ms: float
    cost: Cost


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures over some runs. Shares lie in [0, 1] and, like times, are None where there is no run to count.

    `verdicts` counts the last verdict of each run that searched, `web_share` the runs that asked the web,
    `corrected_share` those that needed more than one round, `rounds` how many runs took so many, `stops` why their
    loops ended, `stages` what each stage took. `claims` are the sentences that writers wrote and that claim something,
    `unsupported_share` those of them that nothing supports, whatever became of them. Times are milliseconds; p95 is the
    nearest-rank percentile.
    """

    runs: int
    answered: int
    abstained: Mapping[str, int]
    verdicts: Mapping[str, int]
    web_share: float | None
    corrected_share: float | None
    median_ms: float | None
    p95_ms: float | None
    cost: Cost
    rounds: Mapping[int, int] = field(default_factory=dict)
    stops: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, StageFigures] = field(default_factory=dict)
    claims: int = 0
    unsupported_share: float | None = None


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """How the cache of scores does, over all who use it, since it was made or cleared.

    `entries` and `bytes` are what it holds now. `trouble` says why it is done without at the moment; then the other
    figures are 0. `hit_rate` lies in [0, 1] and is None where nothing was looked up.
    """

    hits: int
    misses: int
    entries: int
    bytes: int
    trouble: str = ""

    @property
    def hit_rate(self) -> float | None:
        """Share of look-ups that found something."""
        looked_up = self.hits + self.misses
        return self.hits / looked_up if looked_up else None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The index as the reader sees it, and the figures of the latest runs, together and by language of the answer.

    `cache` is None where there is no cache, or one that keeps no counts.
    """

    index: IndexStatistics
    overall: RunFigures
    by_language: Mapping[str, RunFigures] = field(default_factory=dict)
    latest: tuple[Run, ...] = ()
    cache: CacheFigures | None = None


async def statistics(
    *,
    shelf: DocumentShelf,
    runs: RunBook,
    reader: Reader,
    limit: int = LATEST_RUNS,
    shown: int = 10,
    cache: ScoreCache | None = None,
    begins: datetime | None = None,
) -> Statistics:
    """Counts of what `reader` may see and figures over its `limit` latest runs; `shown` of them are passed on.

    Of these, only those are counted that were begun at `begins` or later.
    """
    latest = [run for run in runs.latest(limit=limit, reader=reader) if begins is None or _moment(run) >= begins]
    languages = sorted({run.language for run in latest})
    return Statistics(
        index=await shelf.statistics(reader=reader),
        overall=figures(latest),
        by_language={language: figures([run for run in latest if run.language == language]) for language in languages},
        latest=tuple(latest[:shown]),
        cache=await cache_figures(cache),
    )


async def cache_figures(cache: ScoreCache | None) -> CacheFigures | None:
    """What `cache` says about itself; None where there is none, or where it keeps no counts."""
    if not isinstance(cache, CountedCache):
        return None
    counts = await cache.statistics()
    return CacheFigures(
        hits=counts.hits,
        misses=counts.misses,
        entries=counts.entries,
        bytes=counts.bytes,
        trouble=getattr(cache, "trouble", ""),
    )


def _moment(run: Run) -> datetime:
    moment = datetime.fromisoformat(run.created_at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def figures(runs: Sequence[Run]) -> RunFigures:
    """Add up `runs`. A question that was answered at once and corrected later counts once, as it was corrected."""
    replaced = {run.corrects for run in runs if run.corrects}
    standing = [run for run in runs if run.id not in replaced]
    reasons = Counter(run.answer.reason.value for run in standing if run.answer.reason is not None)
    asked_web = sum(any(one.mode is SearchMode.WEB for one in run.rounds) for run in standing)
    claims = sum(run.answer.claims for run in standing)
    # Nobody waits for what goes on in the background.
    times = sorted(run.duration_ms for run in runs if not run.corrects)
    return RunFigures(
        runs=len(standing),
        answered=sum(run.answer.status is AnswerStatus.ANSWERED for run in standing),
        abstained=dict(sorted(reasons.items())),
        verdicts=dict(sorted(Counter(run.verdict.value for run in standing if run.rounds).items())),
        web_share=asked_web / len(standing) if standing else None,
        corrected_share=sum(len(run.rounds) > 1 for run in standing) / len(standing) if standing else None,
        median_ms=percentile(times, 0.5),
        p95_ms=percentile(times, 0.95),
        cost=total(call for run in runs for call in run.calls),
        rounds=dict(sorted(Counter(len(run.rounds) for run in standing).items())),
        stops=dict(Counter(run.stop.value for run in standing).most_common()),
        stages=_stages(runs),
        claims=claims,
        unsupported_share=sum(len(run.answer.unsupported) for run in standing) / claims if claims else None,
    )


def _stages(runs: Sequence[Run]) -> dict[str, StageFigures]:
    found = {}
    for stage in Stage:
        calls = [[call for call in run.calls if call.stage is stage] for run in runs]
        made = [call for of_run in calls for call in of_run]
        if made:
            times = sorted(sum(call.duration_ms for call in of_run) for of_run in calls if of_run)
            found[stage.value] = StageFigures(
                runs=len(times),
                calls=len(made),
                failed=sum(call.outcome is not Outcome.OK for call in made),
                total_ms=sum(times),
                p95_ms=percentile(times, 0.95) or 0.0,
                cost=total(made),
            )
    return found


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The nearest-rank percentile of numbers in ascending order; None of nothing.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([1.0, 2.0, 3.0, 4.0], 0.95), percentile([], 0.5)
    (2.0, 4.0, None)
    """
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
