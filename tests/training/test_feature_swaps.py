"""Questions are given a word that their passage does not hold, and nothing else of them changes."""

from __future__ import annotations

import pytest

from tadasu.testing.datasets import Part, PassageRow, Question, normal
from training.feature_sets import Asked
from training.feature_swaps import Swapper


def _row(number: int, text: str, *, part: Part) -> PassageRow:
    return PassageRow(part=part, id=f"p{number}", title="", text=text, key=f"title:{number}")


def _question(number: int, text: str, *, part: Part) -> Question:
    return Question(part=part, id=f"q{number}", text=text, answers=("x",), gold=(f"p{number}",), key=f"title:{number}")


ROWS = {
    "ja": ("川崎倉庫の床面積は8,000平方メートルです。", "札幌の雪まつりは2月に開かれます。"),
    "en": ("The Kawasaki warehouse has 8,000 square metres.", "The festival of Sapporo is held in February."),
}
QUESTIONS = {
    "ja": ("川崎倉庫の床面積は何平方メートルですか", "札幌の雪まつりはいつですか"),
    "en": ("How large is the Kawasaki warehouse?", "When is the festival of Sapporo held?"),
}


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_word_that_the_passage_holds_gives_way_to_one_that_it_does_not(language: str) -> None:
    part = Part.JAQUAD_TRAIN if language == "ja" else Part.XQUAD_EN
    rows = [_row(number, text, part=part) for number, text in enumerate(ROWS[language])]
    pool = [_question(number, text, part=part) for number, text in enumerate(QUESTIONS[language])]
    swapper = Swapper(language, pool=pool, rows=rows)
    before = Asked(pool[0], frozenset({"p0"}))
    after = swapper.swapped(before)
    assert after is not None
    name = {"ja": ("川崎", "札幌"), "en": ("Kawasaki", "Sapporo")}[language]
    assert after.question.text == before.question.text.replace(*name)
    assert normal(name[1]) not in normal(ROWS[language][0])
    assert after.gold == before.gold
    assert swapper.swapped(before) == after


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_question_without_such_a_word_is_left_alone(language: str) -> None:
    part = Part.JAQUAD_TRAIN if language == "ja" else Part.XQUAD_EN
    rows = [_row(number, text, part=part) for number, text in enumerate(ROWS[language])]
    asked = _question(0, {"ja": "どうしてですか", "en": "Why is that?"}[language], part=part)
    assert Swapper(language, pool=[asked], rows=rows).swapped(Asked(asked, frozenset({"p0"}))) is None
