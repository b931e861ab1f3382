"""Corrections, true and false ones: a side of a contradiction each, and never more."""

from __future__ import annotations

import pytest

from tadasu.answering.generation import ExtractiveWriter
from tests.answering.writing import compose, evidence

FARE = {"en": "What is the fare of the Ostrey ferry?", "ja": "オストレー渡船の運賃はいくらですか。"}


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        (
            "en",
            "The fare of the Ostrey ferry is 7 euros.",
            "Correction: the fare of the Ostrey ferry is 12 euros, not 7 euros.",
        ),
        (
            "en",
            "The fare of the Ostrey ferry is 7 euros.",
            "The earlier fare is outdated; the Ostrey ferry now costs 12 euros.",
        ),
        ("ja", "オストレー渡船の運賃は700円です。", "訂正:オストレー渡船の運賃は、正しくは1200円です。"),
        (
            "ja",
            "オストレー渡船の運賃は700円です。",
            "オストレー渡船の運賃は700円ではなく1200円です。古い案内は誤りです。",
        ),
    ],
)
@pytest.mark.parametrize("documents", [("a", "b"), ("a", "a")], ids=["two pages", "one page"])
async def test_a_correction_and_what_it_denies_are_both_shown(
    language: str, old: str, new: str, documents: tuple[str, str]
) -> None:
    pieces = evidence((documents[0], old), (documents[1], new))
    answer = await compose(ExtractiveWriter(), FARE[language], pieces, language=language)
    assert answer.text.startswith(("Sources differ:", "資料により記載が異なります"))
    assert len(answer.citations) == 2


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (
            "en",
            "The fare of the Ostrey ferry is 7 euros.",
            "Correction: the fare of the Ostrey ferry is 7 euros, not 12 euros.",
        ),
        (
            "en",
            "The fare of the Ostrey ferry is 7 euros.",
            "The fare of the Ostrey ferry is paid on board in 2 minutes.",
        ),
        ("ja", "オストレー渡船の運賃は700円です。", "オストレー渡船の運賃は1200円ではなく700円です。"),
    ],
)
async def test_what_agrees_is_no_contradiction(language: str, one: str, other: str) -> None:
    answer = await compose(ExtractiveWriter(), FARE[language], evidence(("a", one), ("b", other)), language=language)
    assert not answer.text.startswith(("Sources differ:", "資料により記載が異なります"))


@pytest.mark.parametrize(
    ("question", "one", "other", "language"),
    [
        (
            "On which day of the week is the mill of Ostrey closed?",
            "The mill of Ostrey is closed on Tuesday.",
            "The mill of Ostrey is closed on Friday.",
            "en",
        ),
        (
            "オストレーの製粉所は何曜日が休みですか。",
            "オストレーの製粉所は火曜日が休みです。",
            "オストレーの製粉所は金曜日が休みです。",
            "ja",
        ),
    ],
)
async def test_two_days_of_the_week_exclude_each_other(question: str, one: str, other: str, language: str) -> None:
    answer = await compose(ExtractiveWriter(), question, evidence(("a", one), ("b", other)), language=language)
    assert len(answer.citations) == 2
    assert answer.text.startswith(("Sources differ:", "資料により記載が異なります"))
