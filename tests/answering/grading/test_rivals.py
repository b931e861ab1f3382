"""Codes of sister products, with the shipped grader where grades are concerned."""

from __future__ import annotations

import numpy as np
import pytest

from tadasu.answering.grading.features import open_features
from tadasu.answering.grading.rivals import code_patterns, kept_shares, kept_without_name
from tadasu.answering.grading.views import PASSAGE_COLUMN, PASSAGE_SIGNALS
from tadasu.core.grades import Level
from tadasu.core.retrieved import Candidate, Retrieval
from tests.answering.writing import passage


def candidates(*texts: str) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(passage(text, name=f"p{i}", document=f"d{i}"), fused=1.0 / (i + 1)) for i, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("How long is the warranty of the MLD-120?", "the mld 120 has", True),
        ("MLD-120の保証は？", "ＭＬＤ－１２０は", True),
        ("MLD-120の保証は？", "MLD-1200は", False),
        ("Is the PT300S waterproof?", "PT-300S", True),
        ("Is the PT300S waterproof?", "PT-300", False),
    ],
)
def test_codes_are_found_however_they_are_spelled(question: str, text: str, found: bool) -> None:
    (share,) = kept_shares(question, candidates(text))
    assert bool(share == 1.0) is found


@pytest.mark.parametrize(
    "question", ["What happened in May 2026?", "2026年5月に何がありましたか", "What is in Figure 3?"]
)
def test_a_word_and_a_number_are_no_code(question: str) -> None:
    assert code_patterns(question) == ()


def test_beside_a_rival_that_has_the_code_less_is_kept_than_alone() -> None:
    question = "What is the range of the MLD-120?"
    with_rival = kept_shares(question, candidates("MLD-60 range", "MLD-120 range"))
    alone = kept_shares(question, candidates("MLD-60 range"))
    assert with_rival[1] == 1.0
    assert with_rival[0] < alone[0] < 1.0


def test_a_comparison_keeps_the_passages_of_both() -> None:
    shares = kept_shares("Which is heavier, the MLD-60 or the MLD-120?", candidates("MLD-60: 92 g", "MLD-120: 198 g"))
    assert shares.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "What is the operating temperature of the MLD-120?",
            "The operating temperature of the MLD-120 is -10 to 50 degrees.",
            "The operating temperature of the MLD-60 is 0 to 40 degrees.",
        ),
        ("MLD-120の使用温度は？", "MLD-120の使用温度は-10〜50度です。", "MLD-60の使用温度は0〜40度です。"),
    ],
)
def test_the_sheet_of_a_sister_product_is_not_high(question: str, right: str, wrong: str) -> None:
    grader = open_features()
    grades = grader.grade_now(question, Retrieval(question, candidates(wrong, right)))
    assert grades[0].level is not Level.HIGH
    assert "lacks the code" in grades[0].reason
    assert (grades[1].probability or 0) > (grades[0].probability or 0)


def test_a_passage_without_the_rarest_name_keeps_less_and_one_that_is_not_measured_keeps_all() -> None:
    passages = np.full((3, len(PASSAGE_SIGNALS)), np.nan)
    passages[:2, PASSAGE_COLUMN["lacks_name"]] = (1.0, 0.4)
    shares = kept_without_name(passages)
    assert shares[0] < 1.0
    assert shares[1:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("札幌倉庫の床面積は？", "川崎倉庫の床面積は8,000平方メートルです。神戸倉庫の床面積は3,000平方メートルです。"),
        ("What is the fee of the Platinum level?", "The fee of the Gold level is 90 EUR. Silver has a fee of 40 EUR."),
    ],
)
def test_the_neighbour_of_what_is_asked_for_is_not_high(question: str, text: str) -> None:
    (grade,) = open_features().grade_now(question, Retrieval(question, candidates(text)))
    assert grade.level is not Level.HIGH
