from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.grounding import check
from tadasu.core.answers import Evidence
from tests.answering.writing import chat, compose, evidence


def documents(language: str, *, marked: bool) -> tuple[Evidence, ...]:
    """A policy of 2022, headed as superseded or not, and one of 2025."""
    if language == "en":
        texts = (
            "A doctor's certificate is required from the first day.",
            "A doctor's certificate is required from the third day.",
        )
        heads = ("Leave policy 2022 (superseded)" if marked else "Leave policy 2022", "Leave policy 2025")
    else:
        texts = ("病気休暇には初日から診断書が必要である。", "病気休暇には3日目から診断書が必要である。")
        heads = ("休暇規程2022（廃止）" if marked else "休暇規程2022", "休暇規程2025")
    pieces = evidence(("old", texts[0], "2022-01-15"), ("new", texts[1], "2025-04-01"), score=0.9)
    return tuple(
        replace(piece, strip=replace(piece.strip, title=head, headings=(head,)))
        for piece, head in zip(pieces, heads, strict=True)
    )


ASKED = {"en": "From which day is a doctor's certificate required?", "ja": "診断書は何日目から必要ですか"}


@pytest.mark.parametrize(("language", "new", "old"), [("en", "third", "first"), ("ja", "3日目", "初日")])
async def test_what_is_headed_as_superseded_is_left_out(language: str, new: str, old: str) -> None:
    answer = await compose(ExtractiveWriter(), ASKED[language], documents(language, marked=True), language=language)
    assert new in answer.text
    assert old not in answer.text


@pytest.mark.parametrize(("language", "new", "old"), [("en", "third", "first"), ("ja", "3日目", "初日")])
async def test_places_in_a_row_contradict_like_numbers(language: str, new: str, old: str) -> None:
    answer = await compose(ExtractiveWriter(), ASKED[language], documents(language, marked=False), language=language)
    assert 0 < answer.text.index(new) < answer.text.index(old)
    assert len(answer.citations) == 2


@pytest.mark.parametrize(
    ("language", "said", "mark"),
    [
        ("en", "This policy replaces the policy of 2022.", "superseded"),
        ("ja", "本規程は2022年の規程に代わるものである。", "旧版"),
    ],
)
async def test_what_the_newer_says_it_replaces_is_marked(language: str, said: str, mark: str) -> None:
    pieces = documents(language, marked=False)
    note = replace(pieces[1], number=3, strip=replace(pieces[1].strip, id="new.3", text=said, index=3))
    answer = await compose(ExtractiveWriter(), ASKED[language], (*pieces, note), language=language)
    newer, older = answer.text.splitlines()[1:]
    assert mark in older
    assert mark not in newer


@pytest.mark.parametrize(
    ("language", "question", "quote", "other"),
    [
        ("en", "From which day was a doctor's certificate required in 2022?", "first", "third"),
        ("ja", "2022年に診断書は何日目から必要でしたか", "初日", "3日目"),
    ],
)
async def test_a_question_that_names_a_year_chooses_the_document_of_that_year(
    language: str, question: str, quote: str, other: str
) -> None:
    answer = await compose(ExtractiveWriter(), question, documents(language, marked=True), language=language)
    assert quote in answer.text
    assert other not in answer.text


@pytest.mark.parametrize(
    ("question", "language", "texts", "quote"),
    [
        (
            "What is the gateway?",
            "en",
            ("The gateway is vpn2.example.", "The old gateway is vpn1.example."),
            "vpn2",
        ),
        (
            "ゲートウェイは何ですか",
            "ja",
            ("ゲートウェイはvpn2.exampleです。", "旧ゲートウェイはvpn1.exampleです。"),
            "vpn2",
        ),
        (
            "What is the old gateway?",
            "en",
            ("The gateway is vpn2.example.", "The old gateway is vpn1.example."),
            "vpn1",
        ),
    ],
)
async def test_what_was_gives_way_to_what_is(question: str, language: str, texts: tuple[str, ...], quote: str) -> None:
    answer = await compose(ExtractiveWriter(), question, evidence(*texts), language=language)
    assert quote in answer.sentences[0].text


@pytest.mark.parametrize(
    ("question", "language", "new", "old"),
    [
        (
            "What is the daily allowance?",
            "en",
            "Item: Daily allowance | Amount: EUR 46",
            "| Daily allowance, full day | EUR 38 |",
        ),
        ("日当はいくらですか", "ja", "項目: 日当 | 金額: 2,500円", "| 日当（終日） | 2,000円 |"),
    ],
)
async def test_a_cell_with_the_head_of_its_column_passes_the_check(
    question: str, language: str, new: str, old: str
) -> None:
    head = "| Item | Amount |" if language == "en" else "| 項目 | 金額 |"
    pieces = evidence(("p26", new, "2026-01-01"), ("p24", head, "2024-01-01"), ("p24", old, "2024-01-01"))
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    assert answer.removed == ()
    if answer.text.startswith(("Sources differ:", "資料により")):
        assert answer.text.count("\n- ") == 2


BOTH = {
    "en": "Sources differ:\n- Employees receive 25 days. (a.md) [1]\n- Employees receive 22 days. (b.md) [2]",
    "ja": "資料により記載が異なります：\n- 休暇は25日です。(a.md) [1]\n- 休暇は22日です。(b.md) [2]",
}


@pytest.mark.parametrize(
    ("language", "reply", "shown"),
    [
        ("en", "Sources differ:\n- 25 days [1]\n- 99 days [2]", "25 days [1]\n\n" + BOTH["en"]),
        ("en", "Employees receive 25 days. [1]", "Employees receive 25 days. [1]\n\n" + BOTH["en"]),
        ("en", "Sources differ:\n- 25 days [1]\n- 22 days [2]", "Sources differ:\n- 25 days [1]\n- 22 days [2]"),
        (
            "en",
            "According to a.md it is 25 days [1]. According to b.md it is 22 days [2].",
            "According to a.md it is 25 days [1]. According to b.md it is 22 days [2].",
        ),
        ("ja", "資料により記載が異なります：\n- 25日 [1]\n- 99日 [2]", "25日 [1]\n\n" + BOTH["ja"]),
        (
            "ja",
            "資料により記載が異なります：\n- 25日 [1]\n- 22日 [2]",
            "資料により記載が異なります：\n- 25日 [1]\n- 22日 [2]",
        ),
    ],
)
async def test_sources_that_differ_are_both_shown_whatever_the_model_says(
    language: str, reply: str, shown: str
) -> None:
    if language == "en":
        pieces = evidence(("a", "Employees receive 25 days."), ("b", "Employees receive 22 days."))
    else:
        pieces = evidence(("a", "休暇は25日です。"), ("b", "休暇は22日です。"))
    question = "How many days do employees receive?" if language == "en" else "休暇は何日ですか"
    answer = await compose(chat(reply), question, pieces, language=language)
    assert answer.text.replace("日[", "日 [").replace("。)[", "。) [").replace(")[", ") [") == shown


async def test_an_answer_that_rests_on_neither_side_is_left_alone() -> None:
    pieces = evidence(
        ("a", "Employees receive 25 days."), ("b", "Employees receive 22 days."), ("c", "The canteen opens at noon.")
    )
    answer = await compose(chat("The canteen opens at noon. [3]"), "How many days do employees receive?", pieces)
    assert answer.text == "The canteen opens at noon. [1]"


STRIPS = [piece.strip for piece in evidence(("a", "Employees receive 25 days."), ("b", "Employees receive 22 days."))]


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("Two policies differ: employees receive 25 days and 22 days.", True),
        ("5 policies differ: employees receive 25 days and 22 days.", False),
        ("2つの規程で異なり、25日と22日です。", True),
        ("9つの規程で異なり、25日と22日です。", False),
    ],
)
def test_a_number_that_counts_the_sources_is_no_claim(sentence: str, holds: bool) -> None:
    strips = STRIPS
    if not sentence.isascii():
        strips = [piece.strip for piece in evidence(("a", "規程では25日です。"), ("b", "規程では22日で異なります。"))]
    assert check(sentence, strips).holds is holds


@pytest.mark.parametrize(
    ("sentence", "question", "text", "holds"),
    [
        (
            "The range of a diesel van is 310 km.",
            "What is the range of a diesel van?",
            "Electric vans have a range of 310 km.",
            False,
        ),
        (
            "The range of an electric van is 310 km.",
            "What is the range of an electric van?",
            "Electric vans have a range of 310 km.",
            True,
        ),
        ("札幌倉庫の床面積は8,200㎡です。", "札幌倉庫の床面積は？", "神戸倉庫の床面積は8,200㎡です。", False),
        ("神戸倉庫の床面積は8,200㎡です。", "神戸倉庫の床面積は？", "神戸倉庫の床面積は8,200㎡です。", True),
        ("Yes.", "Can I carry over unused leave?", "Up to 5 unused days can be carried over.", False),
        ("Yes.", "Can unused days be carried over?", "Unused days can be carried over.", True),
        ("はい。", "未使用の休暇は翌年に繰り越せますか", "休暇は申請が必要です。", False),
    ],
)
def test_a_claim_about_a_neighbour_is_unsupported(sentence: str, question: str, text: str, holds: bool) -> None:
    strips = [piece.strip for piece in evidence(("doc", text))]
    assert check(sentence, strips, question=question).holds is holds
