"""Sentences become questions that people might type, about what the sentence says."""

from __future__ import annotations

import pytest

from tadasu.ports import Encoder
from tests.training.grader.conftest import mined
from training.grader import questions
from training.grader.questions import pseudo_groups, pseudo_questions


@pytest.mark.parametrize(
    ("title", "sentence", "asked"),
    [
        ("Eiffel Tower", "The tower was built by Gustave Eiffel in 1889.", "who built the tower"),
        ("Eiffel Tower", "The tower was built by Gustave Eiffel in 1889.", "when was the tower built"),
        ("Etan Boritzer (writer)", "He is an American writer of children's books.", "who is Etan Boritzer"),
        ("Super_Bowl_50", "Fellow lineman Mario Addison added six sacks that year.", "how many sacks that year"),
        ("Lake Biwa", "Lake Biwa is the largest lake of all Japan.", "what is Lake Biwa"),
        ("Denmark", "Copenhagen, on two islands, is the capital of Denmark.", "what is the capital of Denmark"),
    ],
)
def test_a_sentence_is_asked_for_what_it_says(title: str, sentence: str, asked: str) -> None:
    assert asked in pseudo_questions(title, sentence)


@pytest.mark.parametrize("sentence", ["", "SHA: eef61bdfa49b8652fd660b5b8b7e74cf51922505", "So it was."])
def test_what_says_too_little_is_not_asked(sentence: str) -> None:
    assert pseudo_questions("Title", sentence) == []


async def test_groups_hold_the_source_and_what_is_found_and_no_label(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "open_questions", lambda split: [])
    async with mined("en", encoder) as mine:
        groups = await pseudo_groups(mine, limit=4, name="pseudo_en")
        again = await pseudo_groups(mine, limit=4, name="pseudo_en")
    assert groups == again
    assert len(groups) == 4
    assert len({one.id for one in groups}) == 4
    for group in groups:
        assert {one.label for one in group.passages} == {-1}
        source = mine.by_id[group.id.partition("#")[0]]
        assert group.passages[0].text == source.text
        assert len({one.text for one in group.passages}) == len(group.passages) > 1
