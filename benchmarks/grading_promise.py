"""Whether what `tau_low` promises is kept: chosen on a random half of the questions, looked at on the other half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.grading_measures import Labels, Numbers
from tadasu.answering.grading.thresholds import TARGET_MISSED, choose_low

Places = np.ndarray[tuple[int], np.dtype[np.intp]]


@dataclass(frozen=True, slots=True)
class Promise:
    """Of `splits` random splits, in how many the border was promised, and in how many of those it was `kept`.

    `missed` is the mean share of relevant passages of the unseen half below the border, `worst` the highest. Shares of
    AMBIGUOUS questions in the unseen half, by the rule any_high at the same tau_high: with the promised border, with
    the border that misses just the target share of the seen half (no promise: kept in about half of the splits, which
    `kept_without` counts), and with the shipped one.
    """

    language: str
    positives: int
    questions: int
    splits: int
    promised: int
    kept: int
    missed: float
    worst: float
    ambiguous: float
    ambiguous_without: float
    kept_without: int
    ambiguous_shipped: float
    border: float


def promise(
    language: str,
    probabilities: Numbers,
    labels: Labels,
    places: Places,
    *,
    high: float,
    low: float,
    splits: int = 200,
    seed: int = 0,
) -> Promise:
    """Split the questions (`places`: each pair's, from 0) in halves `splits` times; `high` and `low` are as shipped."""
    random = np.random.default_rng(seed)
    count = int(places.max()) + 1
    best = np.full(count, -np.inf)
    np.maximum.at(best, places, probabilities)
    relevant = labels == 1
    borders, shares, ambiguous, plain, plain_ambiguous, shipped = [], [], [], [], [], []
    for _ in range(splits):
        seen_questions = np.zeros(count, dtype=np.bool_)
        seen_questions[random.permutation(count)[: count // 2]] = True
        seen = seen_questions[places]
        positives, unseen = probabilities[seen & relevant], probabilities[~seen & relevant]
        negatives = probabilities[seen & ~relevant]
        border = choose_low(positives.tolist(), negatives.tolist(), future=len(unseen))
        unpromised = float(np.quantile(positives, TARGET_MISSED, method="lower"))
        others = best[~seen_questions]
        if border.promised:
            borders.append(border.value)
            shares.append(float((unseen < border.value).mean()))
            ambiguous.append(_ambiguous(others, border.value, high))
        plain.append(float((unseen < unpromised).mean()))
        plain_ambiguous.append(_ambiguous(others, unpromised, high))
        shipped.append(_ambiguous(others, low, high))
    return Promise(
        language=language,
        positives=int(relevant.sum()),
        questions=count,
        splits=splits,
        promised=len(shares),
        kept=_kept(shares),
        missed=_mean(shares),
        worst=max(shares, default=float("nan")),
        ambiguous=_mean(ambiguous),
        ambiguous_without=_mean(plain_ambiguous),
        kept_without=_kept(plain),
        ambiguous_shipped=_mean(shipped),
        border=_mean(borders),
    )


def _ambiguous(best: Numbers, low: float, high: float) -> float:
    """Questions whose best passage is neither HIGH nor LOW."""
    return float(((best >= min(low, high)) & (best < high)).mean())


def _kept(shares: Sequence[float]) -> int:
    return sum(share <= TARGET_MISSED for share in shares)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
