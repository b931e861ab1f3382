"""Verdicts where the answer is there and where it is not, and what a promised threshold keeps of its promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.grading_groups import Group
from benchmarks.grading_measures import Share
from benchmarks.grading_rows import GraderRow
from tadasu.answering.correction.verdicts import verdict_of
from tadasu.core.grades import Verdict, VerdictRule

PAPER = 0.843
"""Accuracy of the CRAG paper's fine-tuned T5-large on PopQA (Yan et al. 2024), in its own setting: single passages of
another search, judged relevant or not, on other questions."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One grader's verdicts (rule any_high) with the answer taken away from a random half of the questions.

    `right` counts CORRECT where it is there and INCORRECT where it is not; AMBIGUOUS is an error. `majority` is the
    share that always saying the more frequent of the two would get. `over_halves` is the mean of `right` over many
    random halves of the same questions: a single half of so few questions moves by chance.
    """

    row: str
    right: Share
    right_there: Share
    right_gone: Share
    ambiguous: Share
    wrong_correct: Share
    majority: float
    over_halves: float


def measure_verdicts(
    row: GraderRow, present: Sequence[Group], absent: Sequence[Group], *, seed: int = 0, halves: int = 200
) -> Verdicts:
    """Grade every question in both states, then look at the state that the seeded half gives it."""
    there = [_verdict(row, group) for group in present]
    gone = [_verdict(row, group) for group in absent]
    random = np.random.default_rng(seed)
    removed = _half(len(there), random)
    shown = [gone[place] if removed[place] else there[place] for place in range(len(there))]
    kept = [one for one, away in zip(shown, removed, strict=True) if not away]
    taken = [one for one, away in zip(shown, removed, strict=True) if away]
    hits_there, hits_gone = kept.count(Verdict.CORRECT), taken.count(Verdict.INCORRECT)
    good_there = np.array([one is Verdict.CORRECT for one in there])
    good_gone = np.array([one is Verdict.INCORRECT for one in gone])
    several = [np.where(_half(len(there), random), good_gone, good_there).mean() for _ in range(halves)]
    return Verdicts(
        row=row.name,
        right=Share(hits_there + hits_gone, len(shown)),
        right_there=Share(hits_there, len(kept)),
        right_gone=Share(hits_gone, len(taken)),
        ambiguous=Share(Counter(shown)[Verdict.AMBIGUOUS], len(shown)),
        wrong_correct=Share(taken.count(Verdict.CORRECT), len(taken)),
        majority=max(len(kept), len(taken)) / max(len(shown), 1),
        over_halves=float(np.mean(several)),
    )


def _half(count: int, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[random.permutation(count)[: count // 2]] = True
    return chosen


def _verdict(row: GraderRow, group: Group) -> Verdict:
    return verdict_of(row.grade(group).grades or (), rule=VerdictRule.ANY_HIGH)
