"""Whatever a scorer does, every passage ends with a sound score or a reason."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading.scoring import checked_scores, sound_scores
from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, ScoreScale, unscored
from tadasu.core.vectors import PassageText
from tadasu.errors import BudgetSpent, ModelUnavailable, ProviderUnreachable
from tadasu.ports import PairScorer
from tests.answering.grading.scorers import Book, Scoring, TableScorer, WildScorer, raising

PASSAGES = [
    PassageText("The range is 0 to 50 bar.", ((0, 25),), "Ranges"),
    PassageText("保証は3年です。部品代を含みます。", ((0, 8), (8, 17)), "保証"),
    PassageText("", ()),
]


async def scored(scorer: PairScorer, *, timeout_s: float | None = 5.0) -> list[PairScore]:
    scores = await checked_scores(scorer, "What is the range?", PASSAGES, ledger=Book(), timeout_s=timeout_s)
    assert len(scores) == len(PASSAGES)
    assert all(one.reason for one in scores if one.failed)
    assert all(math.isfinite(one.score) for one in scores if not one.failed)
    return scores


def giving(*scores: Any) -> Scoring:
    return lambda question, passages: list(scores)


async def test_good_scores_come_through_as_they_are() -> None:
    fine = [PairScore(2.5, (2.5,)), PairScore(-1.0, (-3.0, -1.0), Span(0, 8)), PairScore(0.0)]
    assert await scored(WildScorer(giving(*fine))) == fine


async def test_nothing_is_asked_about_no_passage() -> None:
    scorer = TableScorer()
    assert await checked_scores(scorer, "q", [], ledger=Book(), timeout_s=1) == []
    assert scorer.asked == []


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (ProviderUnreachable(provider="there", reason="no answer"), "there cannot be reached (no answer)"),
        (ModelUnavailable(path="m.onnx", reason="damaged"), "m.onnx"),
        (BudgetSpent(what="$1"), "$1"),
        (ValueError("shapes (3,) and (4,)\nnot aligned"), "raised ValueError: shapes (3,) and (4,) not aligned"),
        (KeyError("logits"), "raised KeyError: 'logits'"),
        (TimeoutError(), "raised TimeoutError"),
        (RecursionError("too deep"), "raised RecursionError: too deep"),
        (asyncio.CancelledError(), "broke off its own work"),
        (Exception("x" * 10_000), "xxx…"),
    ],
)
async def test_whatever_it_raises_becomes_the_reason_of_each(problem: BaseException, word: str) -> None:
    scores = await scored(WildScorer(raising(problem)))
    assert all(one.failed for one in scores)
    assert all(word in one.reason and len(one.reason) <= 300 for one in scores)


async def test_a_batch_that_takes_too_long_has_no_score() -> None:
    fine = [PairScore(1.0)] * 3
    scores = await scored(WildScorer(giving(*fine), delay_s=5), timeout_s=0.02)
    assert {one.reason for one in scores} == {"the scorer gave no answer within 0.02 s"}
    assert await scored(WildScorer(giving(*fine), delay_s=0.01), timeout_s=None) == fine


async def test_cancelling_the_question_passes_through() -> None:
    task = asyncio.create_task(scored(WildScorer(giving(*[PairScore(1.0)] * 3), delay_s=5)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await scored(WildScorer(giving(*[PairScore(1.0)] * 3), delay_s=5))
    with pytest.raises(KeyboardInterrupt):
        await checked_scores(WildScorer(raising(KeyboardInterrupt())), "q", PASSAGES, ledger=Book(), timeout_s=1)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 30])
async def test_too_few_or_too_many_scores_shift_nothing(count: int) -> None:
    scores = await scored(WildScorer(giving(*[PairScore(3.0)] * count)))
    assert all(one.failed for one in scores)
    assert f"{count} scores for 3 passages" in scores[0].reason


@pytest.mark.parametrize(
    "whole",
    [None, "abc", b"abc", 3.0, {0: PairScore(1.0)}, iter([PairScore(1.0)] * 3), np.zeros(3), float("nan")],
    ids=lambda value: type(value).__name__,
)
async def test_what_is_no_list_scores_nobody(whole: object) -> None:
    scores = await scored(WildScorer(lambda question, passages: whole))
    assert all(one.failed and "no list of scores" in one.reason for one in scores)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (None, "no score for it (None)"),
        (0.7, "no score for it (0.7)"),
        ("0.7", "no score for it ('0.7')"),
        (PairScore(math.nan), "no finite number: nan"),
        (PairScore(math.inf), "no finite number: inf"),
        (PairScore(-math.inf), "no finite number: -inf"),
        (PairScore(10**400), "no finite number"),
        (PairScore("0.9"), "no number: '0.9'"),  # type: ignore[arg-type]
        (PairScore(None), "no number: None"),  # type: ignore[arg-type]
        (PairScore(True), "no number: True"),
        (PairScore(1 + 0j), "no number"),  # type: ignore[arg-type]
        (unscored("the pair was too long"), "the pair was too long"),
        (PairScore(math.nan, reason=3), "no finite number"),  # type: ignore[arg-type]
    ],
)
async def test_one_bad_score_costs_its_own_passage_only(bad: Any, word: str) -> None:
    scores = await scored(WildScorer(giving(PairScore(2.0), bad, PairScore(-2.0))))
    assert [one.failed for one in scores] == [False, True, False]
    assert word in scores[1].reason
    assert (scores[0].score, scores[2].score) == (2.0, -2.0)


@pytest.mark.parametrize("value", [1.0000001, -0.0001, 7.0, -3.0])
async def test_a_probability_outside_its_range_is_no_score(value: float) -> None:
    scorer = WildScorer(giving(PairScore(0.0), PairScore(value), PairScore(1.0)), scale=ScoreScale.PROBABILITY)
    scores = await scored(scorer)
    assert [one.failed for one in scores] == [False, True, False]
    assert "a probability lies in [0, 1]" in scores[1].reason


@pytest.mark.parametrize("scale", [None, "logit", 1, object()])
async def test_a_scale_that_is_not_declared_scores_nobody(scale: object) -> None:
    scores = await scored(WildScorer(giving(*[PairScore(0.5)] * 3), scale=scale))
    assert all("does not say what its scores mean" in one.reason for one in scores)


@pytest.mark.parametrize(
    ("strips", "word"),
    [
        ((1.0,), "1 for 2 strips"),
        ((1.0, 2.0, 3.0), "3 for 2 strips"),
        ((1.0, math.nan), "no finite number: nan"),
        ((1.0, "2"), "no number: '2'"),
        (None, "NoneType"),
        (2.0, "float"),
    ],
)
async def test_strips_that_do_not_fit_are_left_out_with_a_note(strips: Any, word: str) -> None:
    scores = await scored(WildScorer(giving(PairScore(1.0), PairScore(2.0, strips), PairScore(3.0))))
    assert scores[1].score == 2.0
    assert scores[1].strips == ()
    assert not scores[1].failed
    assert "strip scores were left out" in scores[1].reason
    assert word in scores[1].reason


@pytest.mark.parametrize("hit", [Span(0, 18), Span(-1, 3), Span(4, 4), Span(9, 2), (0, 3), "all"])
async def test_a_window_outside_the_passage_is_forgotten(hit: Any) -> None:
    scores = await scored(WildScorer(giving(PairScore(1.0), PairScore(2.0, hit=hit), PairScore(3.0))))
    assert scores[1] == PairScore(2.0)


async def test_numbers_of_other_libraries_are_numbers() -> None:
    values: list[Any] = [np.float32(0.5), Fraction(1, 4), 1]
    scores = await scored(WildScorer(giving(*map(PairScore, values))))
    assert [one.score for one in scores] == [0.5, 0.25, 1.0]
    assert all(type(one.score) is float for one in scores)


async def test_a_damaged_passage_is_not_sent_and_shifts_nothing() -> None:
    damaged = PassageText(None, ())  # type: ignore[arg-type]
    scorer = TableScorer({PASSAGES[1].text: 4.0})
    scores = await checked_scores(scorer, "q", [damaged, PASSAGES[1]], ledger=Book(), timeout_s=1)
    assert [one.failed for one in scores] == [True, False]
    assert scores[1].score == 4.0
    assert "damaged" in scores[0].reason
    assert scorer.asked == [("q", (PASSAGES[1].text,))]


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


_values = st.one_of(
    st.floats(),
    st.integers(),
    st.none(),
    st.text(max_size=3),
    st.booleans(),
    st.just(Unshowable()),
    st.complex_numbers(),
)
_scores = st.one_of(
    _values,
    st.builds(PairScore, _values, st.one_of(_values, st.lists(_values, max_size=3).map(tuple)), st.none(), _values),
)


@given(
    given_=st.one_of(_values, st.lists(_scores, max_size=4)),
    count=st.integers(0, 3),
    scale=st.sampled_from(list(ScoreScale)),
)
def test_anything_at_all_becomes_one_sound_score_a_passage(given_: Any, count: int, scale: ScoreScale) -> None:
    passages: Sequence[PassageText] = PASSAGES[:count]
    scores = sound_scores(given_, passages, scale=scale)
    assert len(scores) == count
    for one, passage in zip(scores, passages, strict=True):
        assert one.failed is bool(not math.isfinite(one.score))
        assert one.reason or not one.failed
        assert len(one.strips) in {0, len(passage.strips)}
        assert all(math.isfinite(strip) for strip in one.strips)
        if scale is ScoreScale.PROBABILITY:
            assert all(0 <= value <= 1 for value in (one.score, *one.strips) if math.isfinite(value))
