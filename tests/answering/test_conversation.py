from __future__ import annotations

import pytest

from tadasu.answering.conversation import standalone


@pytest.mark.parametrize(
    ("earlier", "question", "names"),
    [
        (["What does the PT-300 measure?"], "How long is its warranty?", ["PT-300", "warranty"]),
        (["PT-300は何を測りますか？"], "その保証期間は？", ["PT-300", "保証期間"]),
        (["What does the PT-300 measure?", "How long is its warranty?"], "And the price?", ["PT-300", "price"]),
        (["PT-300の校正間隔は？", "費用はいくらですか？"], "では納期は？", ["PT-300", "納期"]),
    ],
)
def test_a_follow_up_takes_its_topic_from_the_turns_before(earlier: list[str], question: str, names: list[str]) -> None:
    query = standalone(question, earlier)
    assert all(name in query for name in names)
    assert query.endswith(question)


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ([], "How long is its warranty?"),
        (["What does the PT-300 measure?"], "How long is the warranty period of the LD-90 in Germany?"),
        (["PT-300は何を測りますか？"], "LD-90のドイツでの保証期間は何年ですか？"),
        (["Hello"], "{x} %s {{y}} $z"),
    ],
)
def test_a_question_that_names_its_topic_stands_alone_byte_for_byte(earlier: list[str], question: str) -> None:
    if "%s" in question:
        assert question in standalone(question, earlier)
    else:
        assert standalone(question, earlier) == question
