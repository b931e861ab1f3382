from __future__ import annotations

import pytest

from tadasu.text.faq import asks, question_of, without_label

QUESTIONS = [
    "Q: Is it free?", "Q1. Opening hours", "What does it cost?", "Question 3: fees", "問1 送料について", "Q：返品はできますか。",
    "送料はいくらですか。", "予約できますか",
]  # fmt: skip
NO_QUESTIONS = [
    "Quality: good", "It costs 5 euros.", "A: Yes.", "Questions go to the desk.", "送料は550円です。", "何回かあります。",
    "質問は受付まで。", "いくつかある。",
]  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_are_known(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", NO_QUESTIONS)
def test_what_only_looks_like_one_is_not(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "texts",
    [
        ["Is it free?", "Yes."],
        ["Q: Is it free?", "A: For members.", "Others pay."],
        ["送料はいくらですか。", "全国一律550円です。"],
        ["Q: 送料はいくらですか。", "A: 全国一律550円です。", "離島は別です。"],
    ],
)
def test_the_line_below_a_question_answers_it_and_no_other_line(texts: list[str]) -> None:
    assert [question_of(texts, i) for i in range(len(texts))] == [None, 0, None][: len(texts)]


def test_marked_answers_may_follow_at_a_distance() -> None:
    texts = ["Q: Is it free?", "(asked often)", "A: Yes.", "Q: いくらですか。", "A: 550円です。"]
    assert [question_of(texts, i) for i in range(5)] == [None, 0, 0, None, 3]


@pytest.mark.parametrize(
    ("text", "bare"), [("A: Yes.", "Yes."), ("答：はい。", "はい。"), ("回答: 550円です。", "550円です。")]
)
def test_the_mark_of_an_answer_is_left_out(text: str, bare: str) -> None:
    assert without_label(text) == bare
