from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.retrieval.embedders.windows import normalised, owners, pool_strips, windows_of


@given(tokens=st.integers(0, 5000), room=st.integers(1, 600), overlap=st.integers(0, 100))
def test_windows_give_every_token_once_and_never_exceed_the_room(tokens: int, room: int, overlap: int) -> None:
    windows = windows_of(tokens, room=room, overlap=overlap)
    given_away = [token for window in windows for token in range(window.first, window.last)]
    assert given_away == list(range(tokens))
    for window in windows:
        assert window.end - window.start <= room
        assert window.start <= window.first <= window.last <= window.end <= tokens


@given(tokens=st.integers(600, 5000))
def test_neighbouring_windows_share_the_overlap(tokens: int) -> None:
    windows = windows_of(tokens, room=500, overlap=64)
    assert len(windows) > 1
    for earlier, later in itertools.pairwise(windows):
        assert earlier.end - later.start >= 64


def test_a_window_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room"):
        windows_of(3, room=0)


def test_a_token_belongs_to_the_strip_that_holds_its_middle() -> None:
    strips = [(0, 5), (5, 9), (12, 20)]
    offsets = [(0, 2), (3, 5), (4, 8), (5, 6), (9, 11), (11, 15), (20, 21)]
    assert owners(offsets, strips).tolist() == [0, 0, 1, 1, -1, 2, -1]


def test_without_tokens_or_strips_nothing_is_owned() -> None:
    assert owners([], [(0, 4)]).tolist() == []
    assert owners([(0, 1), (1, 2)], []).tolist() == [-1, -1]


def test_a_strip_without_tokens_gets_the_fallback() -> None:
    tokens = np.array([[3.0, 4.0], [3.0, 4.0], [0.0, 2.0]], dtype=np.float32)
    fallback = np.array([1.0, 0.0], dtype=np.float32)
    pooled = pool_strips(tokens, np.array([0, 0, 2]), strips=3, fallback=fallback)
    assert pooled == pytest.approx(np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32))


def test_a_zero_vector_stays_zero() -> None:
    assert normalised(np.zeros(4, dtype=np.float32)).tolist() == [0.0] * 4
