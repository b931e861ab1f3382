"""Where answers stand, in what forms, and what is left of a text without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.testing.datasets import normal
from tadasu.text.segment import segment
from training.grader.answers import aliases, answer_spans, says, without_answer


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        ("高さは約１５メートルある。", "約15メートル", ["約１５メートル"]),
        ("2月に始まり、12月に終わる。2月は寒い。", "2月", ["2月", "2月"]),
        ("It has 308 points, not 3080; 308  points.", "308 points", ["308 points", "308  points"]),
        ("Super_Bowl 50", "super bowl", ["Super_Bowl"]),
    ],
)
def test_spans_cover_the_answer_and_nothing_else(text: str, answer: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in answer_spans(text, (answer,))] == found


@given(st.text(max_size=30), st.text(alphabet="aB１２東 京_ｱﾞ", min_size=1, max_size=6), st.text(max_size=30))
def test_what_stands_in_a_span_is_the_answer(before: str, answer: str, after: str) -> None:
    text = f"{before}、{answer}、{after}"
    for start, end in answer_spans(text, (answer,)):
        assert normal(answer) in normal(text[start:end])


def test_bare_forms_of_an_answer_count_as_it() -> None:
    assert "鉄腕アトム" in aliases(("『鉄腕アトム』",))
    assert "Panthers" in aliases(("the Panthers.",))
    assert says("手塚の鉄腕アトムは1963年に放送された。", ("『鉄腕アトム』",))
    assert says("In 2015, Panthers won.", ("the Panthers.",))
    assert not says("鉄の腕をもつ少年。", ("『鉄腕アトム』",))
    assert not says("A panther was seen.", ("the Panthers.",))


@pytest.mark.parametrize(
    ("text", "answer", "left"),
    [
        (
            "倉庫は川崎にある。床面積は8,000平方メートルだ。食品を置く。",
            "8,000平方メートル",
            "倉庫は川崎にある。食品を置く。",
        ),
        (
            "It is in Kawasaki. It has 8,000 square metres. Food is kept.",
            "8,000 square metres",
            "It is in Kawasaki. Food is kept.",
        ),
        ("答えは雪です。", "雪", ""),
        ("It is snow.", "snow", ""),
    ],
)
def test_strips_with_the_answer_are_taken_out(text: str, answer: str, left: str) -> None:
    assert without_answer(text, segment(text), (answer,)) == left
