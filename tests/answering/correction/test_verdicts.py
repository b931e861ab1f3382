from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.correction.verdicts import verdict_of
from tadasu.core.grades import Grade, Thresholds, Verdict, VerdictRule, ungraded

HIGH, MEDIUM, LOW = 0.9, 0.5, 0.1


def grades(*probabilities: float | None) -> list[Grade]:
    return [
        ungraded(str(i), reason="it raised", grader="g")
        if p is None
        else Grade(str(i), Thresholds().level(p), p, "r", "g")
        for i, p in enumerate(probabilities)
    ]


@pytest.mark.parametrize(
    ("given_grades", "any_high", "high_share"),
    [
        ((), Verdict.NO_DOCUMENTS, Verdict.NO_DOCUMENTS),
        ((HIGH, LOW, LOW), Verdict.CORRECT, Verdict.AMBIGUOUS),
        ((HIGH, HIGH, LOW), Verdict.CORRECT, Verdict.CORRECT),
        ((MEDIUM, LOW), Verdict.AMBIGUOUS, Verdict.AMBIGUOUS),
        ((LOW, LOW), Verdict.INCORRECT, Verdict.INCORRECT),
        ((LOW, None), Verdict.AMBIGUOUS, Verdict.AMBIGUOUS),
        ((None, None), Verdict.GRADER_FAILED, Verdict.GRADER_FAILED),
        ((HIGH, None), Verdict.CORRECT, Verdict.AMBIGUOUS),
    ],
)
def test_each_rule_reads_the_grades_as_the_design_says(
    given_grades: tuple[float | None, ...], any_high: Verdict, high_share: Verdict
) -> None:
    assert verdict_of(grades(*given_grades), rule=VerdictRule.ANY_HIGH) is any_high
    assert verdict_of(grades(*given_grades), rule=VerdictRule.HIGH_SHARE) is high_share


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=12),
    st.sampled_from(VerdictRule),
    st.floats(0, 1),
)
def test_an_ungraded_passage_forbids_incorrect_and_order_does_not_matter(
    probabilities: list[float | None], rule: VerdictRule, share: float
) -> None:
    given_grades = grades(*probabilities)
    verdict = verdict_of(given_grades, rule=rule, quality_threshold=share)
    assert verdict is verdict_of(given_grades[::-1], rule=rule, quality_threshold=share)
    if None in probabilities:
        assert verdict is not Verdict.INCORRECT
    if verdict is Verdict.CORRECT:
        assert any(p is not None and p >= Thresholds().high for p in probabilities)
