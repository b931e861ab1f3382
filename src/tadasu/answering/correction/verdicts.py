"""What one retrieval adds up to, from the grades of its passages (DESIGN §3.1, step 3)."""

from __future__ import annotations

from collections.abc import Sequence

from tadasu.core.grades import Grade, Level, Verdict, VerdictRule


def verdict_of(grades: Sequence[Grade], *, rule: VerdictRule, quality_threshold: float = 0.6) -> Verdict:
    """The verdict of one retrieval.

    ``any_high`` is the rule of the CRAG paper (Yan et al. 2024, §4.3): one HIGH passage is CORRECT, only LOW ones are
    INCORRECT, all else AMBIGUOUS. ``high_share`` wants the share of HIGH passages among all of them to reach
    `quality_threshold` (in [0, 1]). A passage that could not be graded may be the good one, so any UNGRADED passage
    forbids INCORRECT; where none could be graded the state is GRADER_FAILED, and NO_DOCUMENTS where there is none.
    """
    if not grades:
        return Verdict.NO_DOCUMENTS
    count = {level: sum(grade.level is level for grade in grades) for level in Level}
    if count[Level.UNGRADED] == len(grades):
        return Verdict.GRADER_FAILED
    if count[Level.LOW] == len(grades):
        return Verdict.INCORRECT
    match rule:
        case VerdictRule.ANY_HIGH:
            good = count[Level.HIGH] > 0
        case VerdictRule.HIGH_SHARE:
            good = count[Level.HIGH] > 0 and count[Level.HIGH] / len(grades) >= quality_threshold
    return Verdict.CORRECT if good else Verdict.AMBIGUOUS
