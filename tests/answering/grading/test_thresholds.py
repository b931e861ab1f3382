from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading.thresholds import (
    Border,
    ambiguous_share,
    choose_high,
    choose_low,
    missed_share,
    ordered,
)
from tadasu.core.grades import Thresholds

SPLITS = 200


def kept_splits(positives: Sequence[float], negatives: Sequence[float], *, seed: int) -> tuple[int, float]:
    """In how many of 200 random splits the unseen half's share of missed passages stays at 10 % or less, and the

    mean share of passages between the borders.
    """
    rng = random.Random(seed)
    rows = [(score, True) for score in positives] + [(score, False) for score in negatives]
    kept, between = 0, 0.0
    for _ in range(SPLITS):
        rng.shuffle(rows)
        seen, unseen = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        coming = sum(label for _, label in unseen)
        low = choose_low(
            [score for score, label in seen if label],
            [score for score, label in seen if not label],
            future=coming,
            keep=-1e9,
        )
        high = choose_high([score for score, _ in seen], [label for _, label in seen], keep=1e9)
        missed, relevant = missed_share([s for s, _ in unseen], [label for _, label in unseen], low.value)
        kept += missed <= 0.1 * relevant
        between += sum(low.value <= score < high.value for score, _ in unseen) / len(unseen)
    return kept, between / SPLITS


@pytest.mark.parametrize(("count", "shift"), [(60, 2.0), (200, 2.0), (500, 1.0), (800, 3.0)])
def test_the_unseen_half_keeps_the_promise_in_95_of_100_splits(count: int, shift: float) -> None:
    rng = random.Random(count)
    positives = [rng.gauss(shift, 1.0) for _ in range(count)]
    negatives = [rng.gauss(-shift, 1.5) for _ in range(3 * count)]
    kept, _ = kept_splits(positives, negatives, seed=count)
    assert kept >= 0.95 * SPLITS


def test_the_promise_holds_with_ties_and_heavy_tails() -> None:
    rng = random.Random(5)
    positives = [round(rng.betavariate(2.0, 0.4), 1) for _ in range(300)]
    kept, _ = kept_splits(positives, [round(rng.betavariate(0.4, 2.0), 1) for _ in range(900)], seed=5)
    assert kept >= 0.95 * SPLITS


def test_the_promise_holds_for_questions_with_several_relevant_passages() -> None:
    rng = random.Random(11)
    kept = naive = 0
    for _ in range(SPLITS):
        questions = [(index, rng.gauss(0.0, 1.0)) for index in range(120)]
        rows = [(ease + rng.gauss(0.0, 0.3), index) for index, ease in questions for _ in range(4)]
        coming = [ease + rng.gauss(0.0, 0.3) for ease in (rng.gauss(0.0, 1.0) for _ in range(120)) for _ in range(4)]
        scores = [score for score, _ in rows]
        careful = choose_low(scores, groups=[index for _, index in rows], keep=-1e9)
        careless = choose_low(scores, keep=-1e9)
        kept += sum(score < careful.value for score in coming) <= 0.1 * len(coming)
        naive += sum(score < careless.value for score in coming) <= 0.1 * len(coming)
    assert kept >= 0.95 * SPLITS
    assert naive < kept


def test_too_few_relevant_passages_keep_the_border_and_say_how_many_are_missing() -> None:
    border = choose_low([0.9, 0.8, 0.2] * 5, keep=0.3)
    assert (border.value, border.promised, border.hits, border.counted) == (0.3, False, 5, 15)
    assert border.needed == 15
    assert border.bound > 0.3
    promised = choose_low([0.2 + index / 100 for index in range(15 + border.needed)])
    assert promised.promised
    assert promised.value == 0.2
    assert promised.bound <= 0.1
    nothing = choose_low([])
    assert (nothing.promised, nothing.value, nothing.counted, nothing.needed) == (False, 0.3, 0, 30)


def test_the_low_border_is_no_higher_than_it_is_good_for() -> None:
    positives = [0.6 + index / 1000 for index in range(300)]
    negatives = [0.1 + index / 1000 for index in range(300)]
    apart = choose_low(positives, negatives)
    assert (apart.value, apart.hits) == (0.6, 0)
    assert choose_low(positives).value > 0.6
    assert choose_low(positives, at_most=0.5).value == 0.5


@given(st.lists(st.floats(0, 1), min_size=40, max_size=200), st.lists(st.floats(0, 1), max_size=100))
def test_a_promised_low_border_never_misses_more_than_it_says(positives: list[float], negatives: list[float]) -> None:
    border = choose_low(positives, negatives)
    assert border.promised
    assert border.hits == sum(score < border.value for score in positives)
    assert border.share <= border.bound <= border.target


def test_the_high_border_is_the_lowest_that_can_be_shown() -> None:
    scores = [index / 1000 for index in range(1000)]
    border = choose_high(scores, [score > 0.5 for score in scores])
    assert border.promised
    assert 0.45 <= border.value <= 0.5
    assert border.bound >= 0.9
    assert border.share >= 0.9


def test_the_high_border_holds_on_what_comes() -> None:
    kept = 0
    for seed in range(SPLITS):
        rng = random.Random(seed)

        def draw(count: int, rng: random.Random = rng) -> tuple[list[float], list[bool]]:
            scores = [rng.random() for _ in range(count)]
            return scores, [rng.random() < score for score in scores]

        border = choose_high(*draw(400), target=0.8, keep=2.0)
        scores, labels = draw(20_000)
        above = [label for score, label in zip(scores, labels, strict=True) if score >= border.value]
        kept += not above or sum(above) / len(above) >= 0.8
    assert kept >= 0.95 * SPLITS


def test_too_few_high_passages_keep_the_border_and_say_how_many_are_missing() -> None:
    border = choose_high([0.9] * 10 + [0.1] * 10, [True] * 10 + [False] * 10, keep=0.7)
    assert (border.value, border.promised, border.hits, border.counted) == (0.7, False, 10, 10)
    assert border.needed is not None
    assert 19 <= border.needed <= 60
    hopeless = choose_high([0.9] * 100, [True, False] * 50, keep=0.7)
    assert (hopeless.promised, hopeless.needed) == (False, None)
    assert choose_high([], [], keep=0.7).counted == 0


def test_borders_that_cross_call_fewer_passages_low() -> None:
    def at(value: float) -> Border:
        return Border(value=value, promised=True, target=0.1, confidence=0.95, hits=0, counted=50, bound=0.1)

    assert ordered(at(0.6), at(0.4)) == Thresholds(high=0.4, low=0.4)
    assert ordered(at(-3.0), at(7.0)) == Thresholds(high=1.0, low=0.0)


def test_a_question_is_ambiguous_where_nothing_is_high_and_not_all_is_low() -> None:
    scores = [0.8, 0.1, 0.5, 0.1, 0.2, 0.1]
    groups = ["a", "a", "b", "b", "c", "c"]
    assert ambiguous_share(scores, groups, Thresholds(high=0.7, low=0.3)) == (1, 3)


def real_scores(language: str) -> list[tuple[list[float], list[bool]]]:
    """Per question, what the shipped first tier (version 2) said of the search's ten candidates on the TEST splits of

    JSQuAD (ja) or XQuAD and CovidQA (en), and whether each holds the answer.
    """
    rows = [json.loads(line) for line in (Path(__file__).parent / "real_scores.jsonl").read_text().splitlines()]
    return [(row["scores"], [bool(label) for label in row["labels"]]) for row in rows if row["language"] == language]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_real_scores_keep_the_promise_and_the_cost_is_known(language: str) -> None:
    questions = real_scores(language)
    rng = random.Random(20)
    kept, ambiguous = 0, 0.0
    for _ in range(SPLITS):
        rng.shuffle(questions)
        seen, unseen = questions[: len(questions) // 2], questions[len(questions) // 2 :]
        pairs = [pair for scores, labels in seen for pair in zip(scores, labels, strict=True)]
        coming = [score for scores, labels in unseen for score, label in zip(scores, labels, strict=True) if label]
        low = choose_low([s for s, label in pairs if label], [s for s, label in pairs if not label], future=len(coming))
        high = choose_high([score for score, _ in pairs], [label for _, label in pairs])
        assert low.promised
        kept += sum(score < low.value for score in coming) <= 0.1 * len(coming)
        flat = [(score, at) for at, (scores, _) in enumerate(unseen) for score in scores]
        unsure, asked = ambiguous_share([s for s, _ in flat], [at for _, at in flat], ordered(low, high))
        ambiguous += unsure / asked / SPLITS
    assert kept >= 0.95 * SPLITS
    # Mixed English sets are hard for words and cosines alone: about two questions of five stay open, one of ten in ja.
    assert ambiguous <= {"en": 0.55, "ja": 0.2}[language]
