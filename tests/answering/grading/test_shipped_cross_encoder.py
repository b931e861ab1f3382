"""The cross-encoder as it is shipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.grading.cross_encoder import CrossEncoder, open_cross_encoder
from tadasu.core.vectors import PassageText
from tadasu.text.segment import segment

FOLDER = Path(__file__).resolve().parents[3] / "models" / "grader"

pytestmark = pytest.mark.skipif(
    not (FOLDER / "grader.json").is_file(), reason="models/grader holds no cross-encoder; `tadasu-train` makes one"
)

PASSAGES = {
    "en": (
        "The lighthouse stands at the northern end of the island. It was built in 1874 by a Scottish engineer. "
        "Visitors can climb its 112 steps in summer.",
        "The island has two villages and a harbour. Ferries cross to the mainland twice a day.",
        "Bananas are rich in potassium and are grown in many warm countries.",
    ),
    "ja": (
        "灯台は島の北の端に立っている。1874年にスコットランド人の技師が建てた。夏には112段の階段を登ることができる。",
        "島には二つの村と港がある。本土へは一日に二度、連絡船が出ている。",
        "バナナはカリウムを多く含み、暖かい国々で栽培されている。",
    ),
}
QUESTIONS = {"en": "When was the lighthouse built?", "ja": "灯台はいつ建てられましたか。"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])


@pytest.fixture(scope="module")
def scorer() -> CrossEncoder:
    return open_cross_encoder()


def passages(language: str) -> list[PassageText]:
    return [PassageText(text, tuple(segment(text, language=language))) for text in PASSAGES[language]]


@LANGUAGES
def test_the_passage_and_the_strip_that_answer_score_best(scorer: CrossEncoder, language: str) -> None:
    found = scorer.score_now(QUESTIONS[language], passages(language))
    assert found[0].score == max(one.score for one in found)
    assert int(np.argmax(found[0].strips)) == 1


@LANGUAGES
def test_a_score_has_the_same_bits_whatever_stands_beside_it(scorer: CrossEncoder, language: str) -> None:
    given = passages(language)
    together = scorer.score_now(QUESTIONS[language], given)
    assert scorer.score_now(QUESTIONS[language], given[::-1])[::-1] == together
    assert [scorer.score_now(QUESTIONS[language], [one])[0] for one in given] == together


@LANGUAGES
def test_an_answer_at_the_end_of_a_long_passage_is_found(scorer: CrossEncoder, language: str) -> None:
    right, *others = PASSAGES[language]
    filler = f"{' '.join(others)} " * 12
    long, empty = (
        PassageText(text, tuple(segment(text, language=language))) for text in (filler + right, filler + others[0])
    )
    found, without = scorer.score_now(QUESTIONS[language], [long, empty])
    assert found.score > without.score
    assert found.hit is not None
    assert "1874" in found.hit.of(long.text)
