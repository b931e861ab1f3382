"""The borders between the levels, chosen for promises that can be kept: without numpy, over plain sequences.

- `tau_low`, for the share of relevant passages that are called LOW. The border is a score of a labelled relevant
  passage; how many of the *next* relevant passages lie below it is beta-binomial, whatever the scores look like, so the
  promise needs no model: "of the next m relevant passages at most the share `target` is called LOW, with `confidence`".
- `tau_high`, for the share of HIGH passages that are relevant. Borders are tried from the top down, in an order that
  does not look at labels, and the trying stops at the first that cannot be shown to hold (exact binomial bound of
  Clopper and Pearson; fixed-sequence testing, so that trying many borders costs nothing).

With too few labels a border is not promised: it stays where it was, and `needed` says how many more would do.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tadasu.core.grades import Thresholds
from tadasu.core.proportions import clopper_pearson_lower, design_effect, predicted_misses, wilson

TARGET_MISSED = 0.10
TARGET_PRECISION = 0.90
CONFIDENCE = 0.95
CAREFUL = 0.99
"""Of a promise that is to hold in 95 of 100 cases four fifths of the risk are kept back where the labels suffice for
it: at 95 % itself, 200 splits of one set come out at 190 or more only in every second trial."""
AT_LEAST_AHEAD = 200
"""A promise is about the next so many relevant passages at least: a share of ten passages is mostly luck."""
_STEP = 1.1
_SEARCHED_UP_TO = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """A border and what speaks for it.

    `value` is the border, as a score on the scale that went in. `promised` says whether the labels carry the promise;
    where they do not, `value` is the border that was there before. `hits` of `counted` labelled passages are the
    observed `share` (missed relevant ones for the low border, relevant ones among the HIGH for the high border), with
    its 95 % Wilson `interval`. `bound` is what is promised about the share: not above it for the low border, not below
    it for the high one; NaN where nothing can be said. `needed` counts the further relevant labels (low border) or
    labels above the border (high border) that a promise would take; 0 where it is given, None where more of the same
    would not help.
    """

    value: float
    promised: bool
    target: float
    confidence: float
    hits: int
    counted: int
    bound: float
    needed: int | None = 0

    @property
    def share(self) -> float:
        """The share observed; NaN where nothing was counted."""
        return self.hits / self.counted if self.counted else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of `share`."""
        return wilson(self.hits, self.counted)


def choose_low(
    positives: Sequence[float],
    negatives: Sequence[float] = (),
    *,
    target: float = TARGET_MISSED,
    confidence: float = CONFIDENCE,
    careful: float = CAREFUL,
    future: int | None = None,
    groups: Sequence[object] | None = None,
    weights: Sequence[float] | None = None,
    keep: float = 0.3,
    at_most: float = math.inf,
) -> Border:
    """The highest border below which at most `target` of the next relevant passages fall, at `confidence`.

    Args:
        positives: scores of labelled relevant passages, in any order and on any scale where higher is more relevant.
        negatives: scores of the others; the border goes no higher than it must to call the same ones of them LOW.
        target: the share of relevant passages that may be called LOW.
        confidence: how often the promise holds, over the drawing of labels and of the passages to come.
        careful: the higher confidence that is taken instead where the labels allow it; `Border.confidence` tells.
        future: how many relevant passages to come the promise is about; as many as are labelled, and 200 at least, if
            not given.
        groups: the question of each positive, where several belong to one: they count for less than as many
            independent ones (`design_effect`).
        weights: how many passages to come each positive stands for, where some were likelier to be labelled.
        keep: the border where nothing can be promised.
        at_most: the border is not put above this.
    """
    order = sorted(range(len(positives)), key=positives.__getitem__)
    ranked = [positives[index] for index in order]
    effect = max(1.0, design_effect(positives, groups)) if groups is not None and len(ranked) > 1 else 1.0
    ahead = max(len(ranked), AT_LEAST_AHEAD) if future is None else future
    mass = _Mass([1.0] * len(ranked) if weights is None else [weights[index] for index in order], effect)
    if _highest_place(mass, ahead, target, max(careful, confidence)):
        confidence = max(careful, confidence)
    place = _highest_place(mass, ahead, target, confidence)
    if place == 0:
        missed = bisect.bisect_left(ranked, keep)
        needed = math.ceil(_fewest(ahead, target, confidence) * mass.per_row) - len(ranked)
        return Border(
            value=keep, promised=False, target=target, confidence=confidence, hits=missed, counted=len(ranked),
            bound=_bound(mass, missed + 1, ahead, confidence), needed=max(1, needed),
        )  # fmt: skip
    value = min(ranked[place - 1], at_most)
    value = _no_higher_than_useful(value, ranked, negatives)
    missed = bisect.bisect_left(ranked, value)
    return Border(
        value=value, promised=True, target=target, confidence=confidence,
        hits=missed, counted=len(ranked), bound=_bound(mass, missed + 1, ahead, confidence),
    )  # fmt: skip


def choose_high(
    scores: Sequence[float],
    labels: Sequence[bool],
    *,
    target: float = TARGET_PRECISION,
    confidence: float = CONFIDENCE,
    weights: Sequence[float] | None = None,
    keep: float = 0.7,
    at_least: float = -math.inf,
) -> Border:
    """The lowest border from which on at least `target` of the passages are relevant, at `confidence`.

    Counting is from the top down and begins with half as many passages as there are relevant ones (with as many as a
    proof takes, at least); each border takes a tenth more. `weights` say how many passages each one stands for; `keep`
    is the border where nothing can be promised; the border is not put below `at_least`.
    """
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    ranked = [scores[index] for index in order]
    top = _Top([bool(labels[index]) for index in order], [1.0 if weights is None else weights[i] for i in order])
    chosen = 0
    count = max(_fewest_right(target, confidence), top.right[-1] // 2)
    while count <= len(ranked):
        whole = _with_ties(ranked, count)
        if top.bound(whole, confidence) < target:
            break
        chosen = whole
        count = max(whole + 1, math.ceil(whole * _STEP))
    value = max(ranked[chosen - 1], at_least) if chosen else keep
    above = sum(score >= value for score in ranked)
    return Border(
        value=value,
        promised=chosen > 0,
        target=target,
        confidence=confidence,
        hits=top.right[above],
        counted=above,
        bound=top.bound(above, confidence) if above else math.nan,
        needed=0 if chosen else more_needed(top.right[above], above, target, confidence),
    )


def ordered(low: Border, high: Border) -> Thresholds:
    """Both borders of probabilities as thresholds; where they cross, the low one gives way: fewer are called LOW.

    >>> from dataclasses import replace
    >>> border = Border(value=0.4, promised=True, target=0.1, confidence=0.95, hits=0, counted=40, bound=0.1)
    >>> ordered(border, replace(border, value=0.3))
    Thresholds(high=0.3, low=0.3)
    """
    high_value = min(1.0, max(0.0, high.value))
    return Thresholds(high=high_value, low=min(max(0.0, low.value), high_value))


def missed_share(scores: Sequence[float], labels: Sequence[bool], border: float) -> tuple[int, int]:
    """(relevant passages below `border`, relevant passages)."""
    positives = [score for score, label in zip(scores, labels, strict=True) if label]
    return sum(score < border for score in positives), len(positives)


def ambiguous_share(scores: Sequence[float], groups: Sequence[object], thresholds: Thresholds) -> tuple[int, int]:
    """(questions whose verdict is AMBIGUOUS by the rule ``any_high``, questions): nothing HIGH, and not all LOW."""
    best: dict[object, float] = {}
    for score, group in zip(scores, groups, strict=True):
        best[group] = max(best.get(group, -math.inf), score)
    return sum(thresholds.low <= score < thresholds.high for score in best.values()), len(best)


class _Mass:
    """How much the k smallest of some rows weigh, in independent rows (Kish's effective number)."""

    def __init__(self, weights: Sequence[float], effect: float = 1.0) -> None:
        total, squares = sum(weights), sum(weight * weight for weight in weights)
        self.seen = total * total / squares / effect if squares else 0.0
        self.count = len(weights)
        self.per_row = self.count / self.seen if self.seen else 1.0
        reached, self._below = 0.0, [0.0]
        for weight in weights:
            reached += weight
            self._below.append(min(1.0, reached / total) * self.seen)

    def below(self, place: int) -> float:
        return self._below[place]


def _highest_place(mass: _Mass, ahead: int, target: float, confidence: float) -> int:
    """The largest k for which the k-th smallest positive keeps the promise; 0 where none does."""
    allowed = math.floor(target * ahead + 1e-9)
    low, high = 0, mass.count
    while low < high:
        middle = (low + high + 1) // 2
        below = mass.below(middle)
        kept = below <= target * mass.seen + 1.0 and (
            predicted_misses(below, mass.seen, future=ahead, confidence=confidence) <= allowed
        )
        low, high = (middle, high) if kept else (low, middle - 1)
    return low


@lru_cache(maxsize=64)
def _fewest(ahead: int, target: float, confidence: float) -> int:
    """How many independent positives a promise takes at the least."""
    low, high = 1, _SEARCHED_UP_TO
    allowed = math.floor(target * ahead + 1e-9)
    while low < high:
        middle = (low + high) // 2
        if predicted_misses(1, middle, future=ahead, confidence=confidence) <= allowed:
            high = middle
        else:
            low = middle + 1
    return low


def _bound(mass: _Mass, place: int, ahead: int, confidence: float) -> float:
    if not mass.count or not ahead or place > mass.count:
        return 1.0 if mass.count and ahead else math.nan
    return predicted_misses(mass.below(place), mass.seen, future=ahead, confidence=confidence) / ahead


def _no_higher_than_useful(value: float, ranked: Sequence[float], negatives: Sequence[float]) -> float:
    if not negatives:
        return value
    below = [score for score in negatives if score < value]
    if not below:
        return min(value, ranked[0])
    lowest = bisect.bisect_right(ranked, max(below))
    return min(value, ranked[lowest]) if lowest < len(ranked) else value


def _fewest_right(target: float, confidence: float) -> int:
    """How many passages, all of them relevant, show that `target` holds."""
    return math.ceil(math.log(1.0 - confidence) / math.log(target))


class _Top:
    """The passages from the top down: how many of the first so many are relevant, and what that shows."""

    def __init__(self, labels: Sequence[bool], weights: Sequence[float]) -> None:
        self.right, self._hits, self._mass, self._squares = [0], [0.0], [0.0], [0.0]
        for label, weight in zip(labels, weights, strict=True):
            self.right.append(self.right[-1] + label)
            self._hits.append(self._hits[-1] + label * weight)
            self._mass.append(self._mass[-1] + weight)
            self._squares.append(self._squares[-1] + weight * weight)

    def bound(self, count: int, confidence: float) -> float:
        mass = self._mass[count]
        seen = mass * mass / self._squares[count]
        share = min(1.0, self._hits[count] / mass)
        return clopper_pearson_lower(share * seen, seen, confidence=confidence)


def _with_ties(ranked: Sequence[float], count: int) -> int:
    while count < len(ranked) and ranked[count] == ranked[count - 1]:
        count += 1
    return count


def more_needed(right: int, counted: int, target: float, confidence: float) -> int | None:
    """Passages at or above a border still to be labelled, if they come out as the `counted` so far; None: hopeless."""
    share = (right + 1) / (counted + 1)  # one right one more: nobody is perfect for ever, nor hopeless from the start
    share = min(share, right / counted) if counted and right < counted else share
    if share <= target:
        return None
    total = max(counted + 1, _fewest_right(target, confidence))
    while total < _SEARCHED_UP_TO:
        if clopper_pearson_lower(math.floor(share * total), total, confidence=confidence) >= target:
            return total - counted
        total = math.ceil(total * 1.05)
    return None
