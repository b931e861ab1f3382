"""Windows cover everything; strips get what their tokens say."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.runtime.pair_windows import bounds_of, pool_strips, windows_of


@st.composite
def _cases(draw: st.DrawFn) -> tuple[int, int, int, list[int]]:
    tokens = draw(st.integers(0, 900))
    room = draw(st.integers(1, 300))
    overlap = draw(st.integers(0, 100))
    borders = draw(st.lists(st.integers(0, max(tokens - 1, 0)), max_size=40, unique=True).map(sorted)) if tokens else []
    return tokens, room, overlap, borders


@settings(max_examples=30)
@given(_cases())
def test_windows_cover_every_token_and_fit_their_room(case: tuple[int, int, int, list[int]]) -> None:
    tokens, room, overlap, borders = case
    windows = windows_of(tokens, room=room, borders=np.array(borders, dtype=np.int64), overlap=overlap)
    assert windows[0][0] == 0
    assert windows[-1][1] == tokens
    assert all(0 <= end - start <= room for start, end in windows)
    shared = min(overlap, room // 3)
    for (start, end), (later, after) in itertools.pairwise(windows):
        assert start < later <= end - shared
        assert end < after


@settings(max_examples=30)
@given(_cases(), st.integers(0, 899), st.integers(1, 100))
def test_what_is_no_longer_than_the_overlap_lies_whole_in_a_window(
    case: tuple[int, int, int, list[int]], at: int, length: int
) -> None:
    tokens, room, overlap, borders = case
    windows = windows_of(tokens, room=room, borders=np.array(borders, dtype=np.int64), overlap=overlap)
    first = min(at, tokens)
    last = min(first + min(length, overlap, room // 3), tokens)
    assert any(start <= first and last <= end for start, end in windows)


def test_windows_begin_and_end_between_strips_where_strips_are_short() -> None:
    borders = np.arange(0, 700, 23)
    windows = windows_of(700, room=256, borders=borders)
    assert len(windows) <= 4
    for (_, end), (start, _) in itertools.pairwise(windows):
        assert end in borders
        assert start in borders


def test_a_passage_a_little_too_long_is_not_read_nearly_twice() -> None:
    windows = windows_of(280, room=256, borders=np.empty(0, dtype=np.int64))
    assert sum(end - start for start, end in windows) == 280 + 64


def test_a_token_belongs_to_the_strip_that_holds_its_last_code_point() -> None:
    # Two sentences; the third token begins with the space before its word, and a strip of spaces has no token.
    last = np.array([2, 5, 9, 12, 13])
    assert bounds_of(last, [(0, 6), (6, 14), (14, 16)]).tolist() == [[0, 2], [2, 5], [5, 5]]
    assert bounds_of(last, []).shape == (0, 2)
    assert bounds_of(np.empty(0, dtype=np.int64), [(0, 3)]).tolist() == [[0, 0]]


@settings(max_examples=30)
@given(
    st.lists(st.floats(-9_000, 90), min_size=1, max_size=40),
    st.lists(st.integers(-10, 60), max_size=12).map(sorted),
)
def test_a_strip_is_the_log_of_its_tokens_summed_exponentials(logits: list[float], edges: list[int]) -> None:
    tokens = np.array(logits)
    bounds = np.array(list(itertools.pairwise(edges))[::2], dtype=np.int64).reshape(-1, 2)
    pooled = pool_strips(tokens, bounds, nothing=-30.0)
    top = max(logits)
    for (start, end), found in zip(bounds.tolist(), pooled.tolist(), strict=True):
        inside = tokens[max(start, 0) : max(end, 0)]
        by_hand = float(np.logaddexp.reduce(inside)) if len(inside) else -30.0
        # What is far below the row's highest token is nothing beside it.
        assert found == (by_hand if by_hand > max(-30.0, top - 700) else -30.0) or abs(found - by_hand) < 1e-6


def test_no_strips_have_no_scores() -> None:
    assert pool_strips(np.array([1.0]), np.empty((0, 2), dtype=np.int64), nothing=-30.0).shape == (0,)
