from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.answering.grading.score_bytes import packed, unpacked
from tadasu.core.documents import Span
from tadasu.core.scores import PairScore, unscored

_finite = st.floats(allow_nan=False, allow_infinity=False) | st.floats(width=32, allow_nan=False, allow_infinity=False)
_hits = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)).map(lambda pair: Span(*pair))
_scores = st.builds(
    PairScore,
    score=_finite,
    strips=st.lists(_finite, max_size=6).map(tuple),
    hit=st.none() | _hits,
    reason=st.just(""),
)


@given(_scores)
def test_a_score_comes_back_bit_by_bit(score: PairScore) -> None:
    back = unpacked(packed(score))
    assert back == score
    assert back is not None
    assert math.copysign(1.0, back.score) == math.copysign(1.0, score.score)


@given(_scores, st.data())
def test_changed_bytes_are_no_score(score: PairScore, data: st.DataObject) -> None:
    good = packed(score)
    at = data.draw(st.integers(0, len(good) - 1))
    flipped = good[at] ^ data.draw(st.integers(1, 255))
    assert unpacked(good[:at] + bytes([flipped]) + good[at + 1 :]) is None
    assert unpacked(good[:at]) is None
    assert unpacked(good + b"\0") is None


@given(st.binary(max_size=80))
def test_any_bytes_are_no_score_and_no_error(data: bytes) -> None:
    assert unpacked(data) is None


def test_numbers_of_our_own_models_take_four_bytes() -> None:
    def single(number: float) -> float:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])

    own = PairScore(single(1.3), tuple(map(single, (0.1, -7.25, 3.3))))
    assert len(packed(own)) == 5 + 4 * 4 + 4
    assert len(packed(PairScore(1.3, (0.1, -7.25, 3.3)))) == 5 + 4 * 8 + 4
    assert unpacked(packed(PairScore(1e300))) == PairScore(1e300)


def test_a11_a_failure_has_no_bytes() -> None:
    with pytest.raises(ValueError, match="not kept"):
        packed(unscored("timed out"))
