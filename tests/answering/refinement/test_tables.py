from __future__ import annotations

import pytest

from tadasu.answering.refinement import RefinementSettings, refine
from tadasu.answering.refinement.tables import SMALL_TABLE
from tadasu.core.documents import BlockKind
from tests.answering.writing import Words, graded, passage

EN = ["| Level | Fee |\n", "| Bronze | 0 |\n", "| Silver | 450 |\n", "| Gold | 1,200 |\n", "Penalties are 5 %."]
JA = ["| 区分 | 料金 |\n", "| 銅 | 0 |\n", "| 銀 | 450 |\n", "| 金 | 1,200 |\n", "違約金は5 %です。"]


def kept(texts: list[str], scores: list[float], question: str, *, neighbours: int = 0) -> list[str]:
    table = graded(passage(texts, kind=BlockKind.TABLE), 0.9, scores)
    settings = RefinementSettings(neighbours=neighbours, units=neighbours > 0)
    return [e.strip.text for e in refine([table], counter=Words(), settings=settings, question=question).evidence]


@pytest.mark.parametrize(
    ("text", "question"), [(EN, "What is the fee of the Gold level?"), (JA, "区分が金の料金はいくらですか。")]
)
def test_the_row_that_the_question_names_is_kept_with_its_head_whatever_it_scores(
    text: list[str], question: str
) -> None:
    assert kept(text, [0.1, 0.1, 0.1, 0.05, 0.9], question) == [text[0], text[3], text[4]]
    assert kept(text, [0.1, 0.1, 0.1, 0.05, 0.9], "") == [text[4]]


@pytest.mark.parametrize("text", [EN, JA])
def test_a_small_table_goes_on_whole_with_any_of_its_rows(text: list[str]) -> None:
    assert kept(text, [0.1, 0.1, 0.1, 0.9, 0.1], "?", neighbours=1) == text
    assert kept(text, [0.1, 0.9, 0.1, 0.1, 0.1], "?", neighbours=1) == text[:4]


def test_a_large_table_does_not_go_on_whole() -> None:
    rows = [f"Model: A-{n} | Price: {n}\n" for n in range(SMALL_TABLE + 2)]
    assert kept(rows, [0.9] + [0.1] * (len(rows) - 1), "?", neighbours=1) == rows[:2]


@pytest.mark.parametrize(
    "text",
    [
        ["Steps. ", "1. Open a ticket.\n", "2. Install it.\n", "3. Confirm.\n", "Sessions end."],
        ["手順です。", "1. 申請する。\n", "2. 入れる。\n", "3. 確認する。\n", "以上。"],
    ],
)
def test_a_short_list_goes_on_whole_with_any_of_its_items(text: list[str]) -> None:
    assert kept(text, [0.1, 0.9, 0.1, 0.1, 0.1], "?", neighbours=1) == text[:4]
    assert kept(text, [0.1, 0.9, 0.1, 0.1, 0.1], "?") == text[1:2]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (["Severity: 1\n", "The certificate was replaced."], "What was the severity of the incident?"),
        (["重大度: 1\n", "証明書を交換した。"], "障害の重大度は？"),
    ],
)
def test_a_line_whose_label_the_question_names_is_kept(text: list[str], question: str) -> None:
    assert kept(text, [0.1, 0.9], question) == text
    assert kept(text, [0.1, 0.9], "?") == text[1:]


@pytest.mark.parametrize(
    "text",
    [
        [
            "Leave is granted in April. ",
            "The days follow from the table below.\n",
            "| Years | Days |\n",
            "| 6 | 20 |\n",
        ],
        ["休暇は4月に付与する。", "付与日数は次の表による。\n", "| 勤続 | 日数 |\n", "| 6年 | 20日 |\n"],
    ],
)
def test_a_table_that_a_kept_sentence_announces_goes_on(text: list[str]) -> None:
    assert kept(text, [0.9, 0.1, 0.1, 0.1], "?", neighbours=1) == text
