from __future__ import annotations

import pytest

from tadasu.text.polarity import clauses, denies, negations

DENIALS = [
    "It is not waterproof.",
    "It isn't waterproof.",
    "It cannot be opened.",
    "Opening is prohibited.",
    "It works without power.",
    "No, it is not allowed.",
    "防水ではありません。",
    "防水ではない。",
    "使用できません。",
    "使用禁止",
    "開けてはならない。",
    "開けないでください。",
    "対応しておらず、",
    "価格は未定です。",
]
AFFIRMATIONS = [
    "It is waterproof.",
    "It is not only waterproof but dustproof.",
    "It takes no more than 3 hours.",
    "See No. 5.",
    "No, it is allowed.",
    "It is not impossible.",
    "防水です。",
    "校正しなければならない。",
    "校正しないといけません。",
    "防水だけでなく防塵です。",
    "故障かもしれない。",
    "必ず確認する。",
    "少なくとも3日かかる。",
    "1日ないし2日かかる。",
    "使えないわけではない。",
    "未使用の休暇を繰り越せます。",
    "未対応の案件を処理する。",
]


@pytest.mark.parametrize("text", DENIALS)
def test_a_denial_denies(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize("text", AFFIRMATIONS)
def test_obligations_guesses_and_double_negations_do_not(text: str) -> None:
    assert not denies(text)


@pytest.mark.parametrize(
    ("text", "count"), [("It is not so, and never was.", 2), ("できないし、してはならない。", 2), ("はい", 0), ("", 0)]
)
def test_negations_are_counted(text: str, count: int) -> None:
    assert negations(text) == count


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It is small, but it is strong.", ["It is small", "it is strong."]),
        ("小型ですが、丈夫です。ただし高価です。", ["小型ですが", "丈夫です。", "高価です。"]),
    ],
)
def test_thoughts_end_where_they_turn(text: str, pieces: list[str]) -> None:
    assert [piece.strip() for piece in clauses(text) if piece.strip(" ,")] == pieces
