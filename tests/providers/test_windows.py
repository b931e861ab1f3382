"""Windows cover the text, fit the model, overlap, and keep sentences whole."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.core.documents import Span
from tadasu.providers.windows import token_estimate, windows

_text = st.text(alphabet=st.sampled_from("ab cd. 圧力計。"), min_size=1, max_size=300)


@given(text=_text, tokens=st.integers(2, 60), cuts=st.lists(st.integers(0, 320), max_size=12))
def test_windows_cover_fit_and_overlap(text: str, tokens: int, cuts: list[int]) -> None:
    strips = list(itertools.pairwise(sorted({0, len(text), *cuts})))
    found = windows(text, strips, tokens=tokens)
    assert found[0].start == 0
    assert found[-1].end == len(text)
    for earlier, later in itertools.pairwise(found):
        assert earlier.start < later.start <= earlier.end < later.end
    assert all(token_estimate(span.of(text)) <= tokens for span in found)


def test_a_text_that_fits_is_one_window() -> None:
    assert windows("The range is 50 bar.", [(0, 20)], tokens=20) == [Span(0, 20)]
    assert windows("", [], tokens=20) == [Span(0, 0)]


@pytest.mark.parametrize("sentence", ["The range of it is 0 to 50 bar. ", "測定範囲は0から50 barです。"])
def test_borders_fall_between_sentences_and_one_is_read_twice(sentence: str) -> None:
    text = sentence * 20
    strips = [(at, at + len(sentence)) for at in range(0, len(text), len(sentence))]
    found = windows(text, strips, tokens=4 * token_estimate(sentence))
    assert len(found) > 3
    assert all(span.start % len(sentence) == 0 and span.end % len(sentence) == 0 for span in found)
    assert all(earlier.end - later.start == len(sentence) for earlier, later in itertools.pairwise(found))


def test_a_megabyte_without_a_border_is_cut_quickly() -> None:
    found = windows("x" * 1_000_000, [], tokens=400)
    assert len(found) > 800
