"""Rows of the support head: what is swapped, turned and said otherwise, in both languages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tadasu.testing.datasets import Part, PassageRow, Question
from tadasu.testing.splits import Split
from training.heads import make_claims
from training.heads.claims import ClaimRow, path_of, read_rows, write_rows
from training.heads.forms import pieces, polite, reformed, statement
from training.heads.make_claims import Maker
from training.heads.things import kind_of, number_kind, things
from training.heads.turns import denied, opposite, renumbered

LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])
TEXTS = {
    "en": "The mill of Oslo was built by Anna Lind in 1884. It was sold to Peter Holm in 1931. It has 12 rooms, and the "
    "first of them is open to visitors.",
    "ja": "大阪の水車小屋は1884年に田中一郎が建てた。1931年に鈴木花子へ売却された。部屋は12室あり、最初の部屋は公開されている。",
}
QUESTIONS = {"en": ("Who built the mill of Oslo?", "Anna Lind"), "ja": ("大阪の水車小屋は誰が建てた?", "田中一郎")}


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch, language: str) -> Maker:
    part = Part.JAQUAD_TRAIN if language == "ja" else Part.XQUAD_EN
    asked, answer = QUESTIONS[language]
    rows = tuple(PassageRow(part, f"p{n}", "Mill", TEXTS[language] + " " * n, "title:mill") for n in range(6))
    questions = tuple(Question(part, f"q{n}", asked, (answer,), (f"p{n}",), "title:mill") for n in range(6))
    monkeypatch.setattr(make_claims, "passages", lambda _: rows)
    monkeypatch.setattr(make_claims, "questions", lambda _: questions)
    monkeypatch.setattr(make_claims, "split_of", lambda _part, _key: Split.TRAIN)
    return Maker("jaquad" if language == "ja" else "xquad_en")


@LANGUAGES
def test_right_and_wrong_claims_are_made_and_the_wrong_words_are_marked(maker: Maker, language: str) -> None:
    made = list(maker.rows(Split.TRAIN))
    assert {row.label for row in made} == {0, 1}
    assert {"sentence", "answer"} <= {row.kind for row in made}
    assert any(row.kind.startswith("swap") for row in made)
    for row in made:
        assert row.language == language
        assert row.source
        assert row.sentence
        if row.label:
            assert row.wrong == ()
        else:
            assert row.wrong is None or all(row.sentence[a:b].strip() for a, b in row.wrong)
    swapped = [row for row in made if row.kind.startswith("swap") and row.wrong]
    assert all(row.sentence not in TEXTS[language] for row in swapped)


@LANGUAGES
def test_the_same_passage_makes_the_same_rows(maker: Maker, language: str) -> None:
    assert list(maker.rows(Split.TRAIN)) == list(maker.rows(Split.TRAIN))


def test_rows_come_back_from_their_file(tmp_path: Path) -> None:
    rows = [
        ClaimRow("a", "swap", "ja", "誰?", "紫式部。", "資料。", 0, ((0, 3),)),
        ClaimRow("a", "elsewhere", "en", "", "Ann.", "Bob.", 0, None),
        ClaimRow("a", "sentence", "en", "", "Ann.", "Ann.", 1),
    ]
    path = path_of("a", Split.TRAIN, where=tmp_path)
    assert write_rows(path, rows) == 3
    assert list(read_rows(path)) == rows
    before = path.read_bytes()
    write_rows(path, rows)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It was sold to Peter Holm in 1931 for 12% less.", [("name", "Peter Holm"), ("number year", "1931")]),
        ("ja", "1931年に鈴木花子へ売却された。", [("number #年", "1931年"), ("person", "鈴木花子")]),
    ],
)
def test_things_have_kinds(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    found = things(text, language)
    assert [(one.kind, one.words) for one in found][: len(expected)] == expected
    assert all(text[one.start : one.end] == one.words for one in found)


def test_years_are_not_other_numbers_and_units_count() -> None:
    assert number_kind("1931") == number_kind("1884") != number_kind("12")
    assert number_kind("12人") == number_kind("300人") != number_kind("12%")
    assert kind_of("Peter Holm", "en") == "name"
    assert kind_of("whatever this may be", "en") == ""


@pytest.mark.parametrize(
    ("language", "sentence", "changed", "wrong"),
    [
        ("en", "The mill is not open.", "The mill is open.", "is"),
        ("ja", "水車小屋は公開されている。", "水車小屋は公開されていない。", "ていない"),
        ("ja", "水車小屋は公開されていません。", "水車小屋は公開されています。", "ます"),
        ("ja", "設計は田中一郎である。", "設計は田中一郎ではない。", "ではない"),
    ],
)
def test_what_is_said_is_denied(language: str, sentence: str, changed: str, wrong: str) -> None:
    assert denied(sentence, language, random.Random(1)) == (changed, wrong)


@pytest.mark.parametrize(("language", "sentence"), [("en", "It came first."), ("ja", "最初に来た。")])
def test_an_opposite_takes_a_words_place(language: str, sentence: str) -> None:
    made = opposite(sentence, language, random.Random(1))
    assert made is not None
    assert made[1] in made[0] != sentence
    assert opposite("xyz", language, random.Random(1)) is None


@pytest.mark.parametrize("sentence", ["It has 12 rooms.", "部屋は12室ある。"])
def test_a_number_changes_to_one_that_the_source_does_not_have(sentence: str) -> None:
    made = renumbered(sentence, sentence, random.Random(3))
    assert made is not None
    assert made[1] not in sentence
    assert "12" not in made[0]


def test_forms_keep_what_is_said() -> None:
    assert polite("水車小屋は1884年に建てられた。") == "水車小屋は1884年に建てられました。"
    assert (
        pieces("部屋は十二室あり、最初の部屋はいつも公開されている。", "ja")[-1] == "最初の部屋はいつも公開されている。"
    )
    assert statement("大阪の水車小屋は誰が建てた?", "田中一郎", "ja") == "大阪の水車小屋は田中一郎が建てた。"
    assert statement("Who built the mill?", "Anna Lind", "en") == "Anna Lind built the mill."
    assert statement("How did Anna Lind build the mill?", "slowly", "en") == ""
    for seed in range(20):
        for language, text in (("en", "It has 12,000 rooms."), ("ja", "部屋は12,000室ある。")):
            said = reformed(text, language, random.Random(seed))
            assert said.translate(str.maketrans("０１２", "012")).replace(",", "").startswith(text[:4])
