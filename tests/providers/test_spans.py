"""Runs of tokens and the words they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.providers.spans import SpanRule, best_run, whole_words

RULE = SpanRule(below=3.0, cap=2.0, most=4, weights={"en": (0.0, 0.5, 0.5), "ja": (-1.0, 1.0, 0.0)})
LOGITS = st.lists(st.integers(-80, 80).map(lambda n: n / 8), min_size=1, max_size=12)


def test_the_run_of_high_tokens_is_taken_with_a_slight_dip_in_it() -> None:
    assert best_run(np.array([-9.0, 2.0, -1.5, 3.0, -9.0, 1.0]), RULE) == (1, 4)


@settings(max_examples=60)
@given(LOGITS)
def test_a_run_is_the_best_of_all_runs_that_are_not_too_long(logits: list[float]) -> None:
    tokens = np.array(logits)
    first, end = best_run(tokens, RULE)
    worth = np.minimum(tokens - (tokens.max() - RULE.below), RULE.cap)
    runs = [(a, b) for a in range(len(tokens)) for b in range(a + 1, min(a + RULE.most, len(tokens)) + 1)]
    assert (first, end) in runs
    assert worth[first:end].sum() == pytest.approx(max(worth[a:b].sum() for a, b in runs))


@settings(max_examples=40)
@given(LOGITS, st.sampled_from(["en", "ja", "und"]))
def test_probabilities_are_probabilities_and_rise_with_the_logits(logits: list[float], language: str) -> None:
    found = [RULE.probability(language, text=one, run=one) for one in sorted(logits)]
    assert found == sorted(found)
    assert all(0.0 <= one <= 1.0 for one in found)


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        ("It was Ann Lee, in 1912.", "nn L", "Ann Lee"),
        ("it was 1912, not 1913", " 191", "1912"),
        ("作者は、紫式部、である。", "、紫式部、", "紫式部"),
        ("1912年に生まれた。", "1912年", "1912年"),
    ],
)
def test_words_are_whole_and_without_a_rim(text: str, cut: str, whole: str) -> None:
    start = text.index(cut)
    begin, end = whole_words(text, start, start + len(cut))
    assert text[begin:end] == whole
