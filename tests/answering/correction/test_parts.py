"""Questions about several things, taken apart by rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.correction.parts import MOST_PARTS, may_have_parts, parts_of
from tadasu.answering.correction.rewrite import same_query


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the difference between the PT-300 and the PT-500?", ["PT-300", "PT-500"]),
        ("PT-300とPT-500の違いは何ですか？", ["PT-300", "PT-500"]),
        ("Compare the warranty of the PT-300 and the PT-500.", ["warranty PT-300", "warranty PT-500"]),
        ("How long is the warranty of the PT-300 compared to the PT-500?", ["warranty PT-300", "warranty PT-500"]),
        ("PT-300、PT-500、LD-90の価格は？", ["PT-300の価格", "PT-500の価格", "LD-90の価格"]),
        (
            "What is the difference between annual leave and special leave in the first year?",
            ["annual leave first year", "special leave first year"],
        ),
        ("有給休暇と特別休暇の違いを教えてください", ["有給休暇", "特別休暇"]),
        ("What is the range and the weight of the PT-300?", ["range PT-300", "weight PT-300"]),
        ("PT-300の保証期間と重量を教えてください", ["PT-300の保証期間", "PT-300の重量"]),
        ("When was Tesla born and where did he die?", ["Tesla born", "Tesla he die"]),
        (
            "PT-300の保証期間は何年ですか。また、修理の連絡先はどこですか？",
            ["PT-300の保証期間 年", "PT-300 修理の連絡先"],
        ),
    ],
)
def test_each_thing_that_is_asked_about_becomes_a_query_of_its_own(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts
    assert may_have_parts(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the PT-300?",
        "PT-300とは何ですか？",
        "Who painted the Mona Lisa?",
        "保証期間は？",
        "",
        "and",
        "と",
        "?。?",
    ],
)
def test_a_question_about_one_thing_has_no_parts(question: str) -> None:
    assert parts_of(question) == []


@pytest.mark.parametrize("question", ["Who painted the Mona Lisa?", "保証期間は何年？"])
def test_without_a_word_that_joins_no_model_is_asked(question: str) -> None:
    assert not may_have_parts(question)


@pytest.mark.parametrize(
    ("question", "shared"),
    [
        ("How do the PT-300 and the PT-500 differ at 20 °C?", "20 °C"),
        ("「安全」モードで PT-300 と PT-500 の価格は 3,000 円ですか？", "3,000"),
    ],
)
def test_what_all_parts_share_stays_in_each(question: str, shared: str) -> None:
    parts = parts_of(question)
    assert len(parts) == 2
    assert all(shared in part for part in parts)


@settings(max_examples=80)
@given(st.text(alphabet="ABpt-3とやの、。? andvs違い比較()「」0", max_size=60))
def test_parts_are_few_distinct_and_never_empty(question: str) -> None:
    parts = parts_of(question)
    assert len(parts) == len({same_query(part) for part in parts}) <= MOST_PARTS
    assert len(parts) != 1
    assert all(same_query(part) for part in parts)
