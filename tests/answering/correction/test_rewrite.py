from __future__ import annotations

import pytest

from tadasu.answering.correction.rewrite import anchors_only, keywords_only, probes, web_query
from tadasu.core.runs import SearchMode


@pytest.mark.parametrize(
    ("question", "kept", "gone"),
    [
        ("What is the warranty period for the PT-300?", ["warranty period", "PT-300"], ["What", "?"]),
        ('Could you tell me how many 12.5 mm probes "Model X" ships with?', ["12.5 mm", "Model X"], ["tell me"]),
        ("PT-300の保証期間は何年ですか？", ["PT-300", "保証期間"], ["ですか", "？"]),
        ("「安全弁」の点検方法を教えてください。", ["安全弁", "点検方法"], ["教えて"]),
    ],
)
def test_keywords_keep_entities_numbers_and_quotes_and_drop_what_makes_a_question(
    question: str, kept: list[str], gone: list[str]
) -> None:
    query = keywords_only(question)
    assert all(part in query for part in kept)
    assert not any(part in query for part in gone)


@pytest.mark.parametrize("question", ["what?", "何ですか？", "?", "", "   ", "the of and"])
def test_a_question_of_scaffold_alone_does_not_become_empty_or_raise(question: str) -> None:
    assert keywords_only(question) == keywords_only(question)
    assert bool(keywords_only(question)) == bool(question.strip())
    assert list(probes(question, k=10))


@pytest.mark.parametrize("question", ["How accurate is the LD-90 at 50 m?", "LD-90は50 mでどれくらい正確ですか？"])
def test_probes_begin_with_the_question_itself_and_never_repeat(question: str) -> None:
    made = list(probes(question, k=10))
    assert made[0].query == question
    assert made[0].mode is SearchMode.HYBRID
    assert len({(p.query, p.mode) for p in made}) == len(made) >= 2
    assert "LD-90" in anchors_only(question)
    assert "50" in anchors_only(question)


def test_the_web_query_derives_from_the_question_only() -> None:
    assert set(web_query("What is the range of the PT-300?").split()) <= {"range", "PT-300"}
