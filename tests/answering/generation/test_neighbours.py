"""Close neighbours of what is asked for: a sister, another year, another owner, another cell."""

from __future__ import annotations

import pytest

from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.core.answers import AnswerStatus
from tests.answering.writing import compose, evidence

FLEET = evidence(
    ("fleet", "The hold of the MV Alba is 4.2 metres high. "),
    ("fleet", "The MV Brio was built in Gdynia. "),
    ("safety", "The lifts of the MV Alba are 80 cm wide."),
    ("climate", "In 2025 the fleet emitted 41,300 tonnes of CO2, 12 % less than in 2024."),
)
SHIPS = evidence(
    ("「つばめ丸」の仕様", "潤滑油は1,200時間ごとに交換する。"),
    ("規則", "本人の結婚は5日、父母の死亡は5日、祖父母の死亡は2日とする。"),
    ("環境", "2025年の排出量は29,800トンで、2024年より4%減った。"),
)
TIMES = evidence(("times", "| 航路 | 出港 | 入港 | 船 |"), ("times", "| 長崎→福江 | 12:00 | 15:10 | つばめ丸 |"))


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How wide are the lifts of the MV Brio?"),
        ("en", "How many tonnes of CO2 did the fleet emit in 2024?"),
        ("ja", "かもめ丸の潤滑油は何時間ごとに交換しますか"),
        ("ja", "兄弟の死亡は何日ですか"),
        ("ja", "2024年の排出量は何トンですか"),
    ],
)
async def test_the_neighbour_of_what_is_asked_for_is_no_answer(language: str, question: str) -> None:
    pieces = FLEET if language == "en" else SHIPS
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    assert answer.status is AnswerStatus.ABSTAINED


@pytest.mark.parametrize(
    ("language", "question", "quoted"),
    [
        ("en", "How wide are the lifts of the MV Alba?", "80 cm"),
        ("en", "How many tonnes of CO2 did the fleet emit in 2025?", "41,300"),
        ("ja", "つばめ丸の潤滑油は何時間ごとに交換しますか", "1,200時間"),
        ("ja", "祖父母の死亡は何日ですか", "2日"),
        ("ja", "2025年の排出量は何トンですか", "29,800トン"),
    ],
)
async def test_what_is_asked_for_itself_is_quoted(language: str, question: str, quoted: str) -> None:
    pieces = FLEET if language == "en" else SHIPS
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    assert quoted in answer.text


async def test_a_row_shows_the_cells_of_the_kind_that_was_asked_for() -> None:
    answer = await compose(ExtractiveWriter(), "長崎から福江への船は何時に出ますか", TIMES, language="ja")
    assert "12:00" in answer.text
