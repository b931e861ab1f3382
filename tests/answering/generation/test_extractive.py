from __future__ import annotations

import pytest

from tadasu.answering.generation.expectation import Expected, expect, expected_units
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.quoting import cells_of
from tadasu.core.answers import AnswerStatus, Reason
from tadasu.core.grades import Verdict
from tests.answering.writing import compose, evidence

EN = evidence(
    ("manual", "The PT-3051 measures pressure.\n"),
    ("manual", "Its maximum operating pressure is 10 MPa."),
    ("manual", "It weighs 3.2 kg."),
    ("history", "The PT-3051 was released on March 5, 2021."),
    ("history", "It was designed by Hanako Sato in Kyoto."),
    ("price", "The PT-3051 costs 45,000 yen."),
)
JA = evidence(
    ("取扱説明書", "PT-3051は圧力を測定します。"),
    ("取扱説明書", "最大使用圧力は10 MPaです。"),
    ("取扱説明書", "質量は3.2 kgです。"),
    ("沿革", "PT-3051は2021年3月5日に発売されました。"),
    ("沿革", "設計者は佐藤花子さんで、京都で設計されました。"),
    ("価格表", "PT-3051の価格は45,000円です。"),
)


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What is the maximum operating pressure of the PT-3051?", "10 MPa"),
        ("How heavy is the PT-3051?", "3.2 kg"),
        ("When was the PT-3051 released?", "March 5, 2021"),
        ("Who designed the PT-3051?", "Hanako Sato"),
        ("How much does the PT-3051 cost?", "45,000 yen"),
    ],
)
async def test_the_deciding_sentence_is_quoted_and_cited(question: str, quote: str) -> None:
    answer = await compose(ExtractiveWriter(), question, EN)
    assert quote in answer.sentences[0].text
    assert answer.citations[0].quote in [piece.strip.text.strip() for piece in EN]
    assert quote in answer.citations[0].quote


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("PT-3051の最大使用圧力は？", "10 MPa"),
        ("PT-3051の質量はどのくらいですか？", "3.2 kg"),
        ("PT-3051はいつ発売されましたか？", "2021年3月5日"),
        ("PT-3051の設計者は誰ですか？", "佐藤花子"),
        ("PT-3051の価格はいくらですか？", "45,000円"),
    ],
)
async def test_the_deciding_sentence_is_quoted_and_cited_in_japanese(question: str, quote: str) -> None:
    answer = await compose(ExtractiveWriter(), question, JA, language="ja")
    assert quote in answer.sentences[0].text
    assert quote in answer.citations[0].quote


async def test_a_japanese_question_on_english_evidence_is_answered_by_the_figure() -> None:
    answer = await compose(ExtractiveWriter(), "PT-3051の価格はいくらですか？", EN, language="ja")
    assert answer.sentences[0].text == "The PT-3051 costs 45,000 yen."


@pytest.mark.parametrize(
    ("language", "question", "old", "new", "lead"),
    [
        (
            "en",
            "What is the warranty period of the PT-3051?",
            "The warranty period of the PT-3051 is 12 months.",
            "The warranty period of the PT-3051 is 24 months.",
            "Sources differ:",
        ),
        (
            "ja",
            "PT-3051の保証期間は？",
            "PT-3051の保証期間は12か月です。",
            "PT-3051の保証期間は24か月です。",
            "資料により記載が異なります：",
        ),
    ],
)
async def test_contradicting_documents_are_both_told_newest_first(
    language: str, question: str, old: str, new: str, lead: str
) -> None:
    pieces = evidence(("old", old, "2019-04-01"), ("new", new, "2024-04-01"))
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    lines = answer.text.split("\n")
    assert lines[0] == lead
    assert lines[1].startswith(f"- {new}")
    assert "new.md, 2024-04-01" in lines[1]
    assert lines[2].startswith(f"- {old}")
    assert "old.md, 2019-04-01" in lines[2]
    assert [c.source for c in answer.citations] == ["new.md", "old.md"]


@pytest.mark.parametrize(
    ("language", "question", "a", "b"),
    [
        (
            "en",
            "What is the warranty period of the PT-3051?",
            "The warranty period of the PT-3051 is 24 months.",
            "The warranty period of the PT-2000 is 12 months.",
        ),
        ("en", "What is the warranty period?", "The warranty period is 1 h.", "The warranty period is 60 minutes."),
        (
            "en",
            "What is the weight of the pump?",
            "The weight of the pump is 3 kg.",
            "The price of the pump is 500 yen.",
        ),
        ("ja", "PT-3051の保証期間は？", "PT-3051の保証期間は24か月です。", "PT-2000の保証期間は12か月です。"),
        ("ja", "ポンプの質量は？", "ポンプの質量は3 kgです。", "ポンプの質量は3,000 gです。"),
    ],
)
async def test_other_things_and_equal_figures_are_no_contradiction(
    language: str, question: str, a: str, b: str
) -> None:
    answer = await compose(ExtractiveWriter(), question, evidence(("a", a), ("b", b)), language=language)
    assert a in answer.text
    assert "differ" not in answer.text
    assert "異なります" not in answer.text


@pytest.mark.parametrize(
    ("language", "question", "head", "rows", "shown"),
    [
        (
            "en",
            "What is the max. pressure of the PT-2000?",
            "| Model | Max. pressure | Weight |\n|---|---|---|\n",
            ["| PT-3051 | 10 MPa | 3 kg |\n", "| PT-2000 | 4 MPa | 2 kg |\n"],
            "PT-2000: Max. pressure 4 MPa [1][2]",
        ),
        (
            "ja",
            "PT-2000の最大圧力は？",
            "| 型番 | 最大圧力 | 質量 |\n|---|---|---|\n",
            ["| PT-3051 | 10 MPa | 3 kg |\n", "| PT-2000 | 4 MPa | 2 kg |\n"],
            "PT-2000: 最大圧力 4 MPa [1][2]",
        ),
        (
            "en",
            "What is the weight of the PT-2000?",
            "Model\tPressure\tWeight\n",
            ["PT-3051\t10 MPa\t3 kg\n", "PT-2000\t4 MPa\t2 kg\n"],
            "PT-2000: Weight 2 kg [1][2]",
        ),
    ],
)
async def test_a_table_row_is_told_with_its_head(
    language: str, question: str, head: str, rows: list[str], shown: str
) -> None:
    answer = await compose(
        ExtractiveWriter(), question, evidence(*(("spec", line) for line in (head, *rows))), language=language
    )
    assert answer.text == shown
    assert {c.quote for c in answer.citations} == {rows[1].strip(), head.strip()}


@pytest.mark.parametrize(("language", "question"), [("en", "How heavy is the PT-9999?"), ("ja", "PT-9999の質量は？")])
async def test_another_model_than_the_one_asked_for_is_no_answer(language: str, question: str) -> None:
    answer = await compose(ExtractiveWriter(), question, EN if language == "en" else JA, language=language)
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.reason is Reason.INSUFFICIENT


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "Who wrote the ninth symphony?", "A table stores its rows in pages."),
        ("ja", "交響曲第9番の作曲者は？", "表は行をページに格納する。"),
    ],
)
async def test_a28_weak_evidence_on_another_topic_is_no_answer(language: str, question: str, text: str) -> None:
    answer = await compose(ExtractiveWriter(), question, evidence(text, score=0.2), language=language)
    assert (answer.reason, answer.citations) == (Reason.INSUFFICIENT, ())


@pytest.mark.parametrize(
    ("language", "question", "query", "quote"),
    [
        ("en", "And how much is it?", "How much does the PT-3051 cost?", "The PT-3051 costs 45,000 yen."),
        ("ja", "では値段は？", "PT-3051の価格は？", "PT-3051の価格は45,000円です。"),
    ],
)
async def test_a_follow_up_is_matched_by_its_meaning(language: str, question: str, query: str, quote: str) -> None:
    pieces = EN if language == "en" else JA
    assert quote in (await compose(ExtractiveWriter(), question, pieces, language=language, query=query)).text


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "Who painted the ceiling of the opera house in Tampere?", "Matt black paint has an emissivity of 0.97."),
        ("ja", "社員食堂のカレーの値段はいくらですか。", "一般社員の宿泊費は2,200円です。"),
    ],
)
async def test_where_the_grades_are_unsure_a_sentence_needs_a_third_of_the_questions_words(
    language: str, question: str, text: str
) -> None:
    pieces = evidence(text, score=0.9)
    unsure = await compose(ExtractiveWriter(), question, pieces, language=language, verdict=Verdict.AMBIGUOUS)
    assert unsure.reason is Reason.INSUFFICIENT


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What does the FLW-80 in size DN 80 cost?", "Model: FLW-80; Variant: DN 80; Price: EUR 2,340"),
        ("What does the FLW-80 in size DN 50 cost?", "Model: FLW-80; Variant: DN 50; Price: EUR 1,845"),
    ],
)
async def test_rows_that_name_their_columns_are_told_as_they_are(question: str, row: str) -> None:
    rows = [
        f"Model: FLW-80 | Variant: DN {size} | Price: EUR {price}\n" for size, price in ((50, "1,845"), (80, "2,340"))
    ]
    answer = await compose(ExtractiveWriter(), question, evidence(*(("list", one) for one in rows)))
    assert answer.sentences[0].text == row
    assert answer.citations[0].quote == row.replace("; ", " | ")


@pytest.mark.parametrize(
    ("language", "question", "texts", "shown"),
    [
        (
            "en",
            "Who said that pumps would be made of paper?",
            ["Hanako Sato spoke first. ", "She said that pumps would be made of paper. ", "Lunch followed."],
            "Hanako Sato spoke first. [1] She said that pumps would be made of paper. [2]",
        ),
        (
            "ja",
            "ポンプは紙で作られるようになると述べたのは誰ですか。",
            ["最初に佐藤花子さんが話した。", "彼女はポンプは紙で作られるようになると述べた。", "昼食が続いた。"],
            "最初に佐藤花子さんが話した。[1]彼女はポンプは紙で作られるようになると述べた。[2]",
        ),
    ],
)
async def test_a_sentence_that_only_points_back_brings_the_one_before_it(
    language: str, question: str, texts: list[str], shown: str
) -> None:
    pieces = evidence(*(("news", text) for text in texts))
    assert (await compose(ExtractiveWriter(), question, pieces, language=language)).text == shown


async def test_a_table_without_its_head_is_told_by_its_cells() -> None:
    rows = ["| PT-3051 | 10 MPa | 3 kg |\n", "| PT-2000 | 4 MPa | 2 kg |\n"]
    answer = await compose(ExtractiveWriter(), "PT-2000?", evidence(*(("spec", one) for one in rows)))
    assert answer.sentences[0].text == "PT-2000 / 4 MPa / 2 kg"


@pytest.mark.parametrize(("date", "price"), [("2025-04-01", "2,180"), ("2026-04-01", "2,340")])
async def test_a_date_in_the_question_chooses_the_document_of_that_date(date: str, price: str) -> None:
    pieces = evidence(
        ("old", "The price of the pump is EUR 2,180.", "2025-04-01"),
        ("new", "The price of the pump is EUR 2,340.", "2026-04-01"),
    )
    answer = await compose(ExtractiveWriter(), f"What is the price of the pump in the list of {date}?", pieces)
    assert answer.text == f"The price of the pump is EUR {price}. [1]"


@pytest.mark.parametrize("text", ["It weighs 3 kg[2].", "It weighs 3 kg (see [9])."])
async def test_footnotes_of_the_evidence_are_no_citations(text: str) -> None:
    answer = await compose(ExtractiveWriter(), "How heavy is it?", evidence(text, "It is blue."))
    assert [c.quote for c in answer.citations] == [text]
    assert answer.warnings == ()


@pytest.mark.parametrize("text", ["{x} weighs {0} kg or 3 kg %s", "質量は{x}、$z、3 kgです。"])
async def test_a53_templates_in_the_evidence_are_quoted_as_they_are(text: str) -> None:
    answer = await compose(ExtractiveWriter(), "How heavy {y}? 質量は？", evidence(text))
    assert text in answer.text


async def test_no_evidence_no_words() -> None:
    assert (await compose(ExtractiveWriter(), "q", ())).reason is Reason.INSUFFICIENT


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was it built?", Expected.DATE),
        ("いつ建てられましたか？", Expected.DATE),
        ("How many sensors are there?", Expected.NUMBER),
        ("センサーは何個ありますか？", Expected.NUMBER),
        ("Who is the manager?", Expected.PERSON),
        ("責任者は誰ですか？", Expected.PERSON),
        ("Where is the plant?", Expected.PLACE),
        ("工場はどこですか？", Expected.PLACE),
        ("Why did it stop?", Expected.REASON),
        ("なぜ止まりましたか？", Expected.REASON),
        ("How do I reset it?", Expected.PROCEDURE),
        ("リセットの手順を教えて", Expected.PROCEDURE),
        ("Is it waterproof?", Expected.YES_NO),
        ("防水ですか？", Expected.YES_NO),
        ("What is the maximum pressure?", Expected.QUANTITY_LIKELY),
        ("最大圧力は？", Expected.QUANTITY_LIKELY),
        ("Tell me about it.", Expected.ANY),
        ("概要を教えて", Expected.ANY),
    ],
)
def test_question_words_tell_what_is_expected(question: str, expected: Expected) -> None:
    assert expect(question) is expected


@pytest.mark.parametrize(
    ("question", "unit"),
    [("How heavy is it?", "g"), ("重さは？", "g"), ("What does it cost?", "円"), ("保証期間は？", "か月")],
)
def test_the_unit_of_what_is_asked(question: str, unit: str) -> None:
    assert unit in expected_units(question)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ("a", "b")),
        ("a\tb", ("a", "b")),
        ("a | b", ("a", "b")),
        ("plain text", ()),
        ("|", ()),
        ("| one |", ()),
        ("", ()),
    ],
)
def test_cells(line: str, cells: tuple[str, ...]) -> None:
    assert cells_of(line) == cells


@pytest.mark.parametrize(
    ("question", "before", "deciding"),
    [
        (
            "How many exhibitors took part in the Harbour Fair 2026?",
            "The organisers are satisfied, and so are nine visitors out of ten.",
            "In 2026, 412 exhibitors took part in the Harbour Fair.",
        ),
        (
            "2026年の港湾見本市に出展した企業は何社ですか？",
            "主催者も来場者も満足しています。",
            "2026年の港湾見本市に出展した企業は412社です。",
        ),
    ],
)
async def test_a_sentence_that_holds_what_is_asked_for_stands_alone(question: str, before: str, deciding: str) -> None:
    language = "en" if question.isascii() else "ja"
    pieces = evidence(("fair", before), ("fair", deciding))
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    assert before[:12] not in answer.text
    assert "412" in answer.text


FAQ = {
    "en": (
        "How much is the shipping?",
        evidence(
            ("faq", "Q: Can I return it?\n"),
            ("faq", "A: Within 30 days.\n"),
            ("faq", "Q: How much is the shipping?\n"),
            ("faq", "A: It is 5 euros everywhere."),
        ),
        "It is 5 euros everywhere.",
    ),
    "ja": (
        "送料はいくらですか。",
        evidence(
            ("faq", "Q: 返品はできますか。\n"),
            ("faq", "A: 30日以内にできます。\n"),
            ("faq", "Q: 送料はいくらですか。\n"),
            ("faq", "A: 全国一律550円です。"),
        ),
        "全国一律550円です。",
    ),
}


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_question_in_a_document_is_never_the_answer_to_itself(language: str) -> None:
    question, pieces, said = FAQ[language]
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    assert answer.sentences[0].text == said
    assert answer.citations[0].quote in pieces[3].strip.text
    alone = await compose(ExtractiveWriter(), question, pieces[2:3], language=language)
    assert alone.status is AnswerStatus.ABSTAINED


TABLES = {
    "en": evidence(
        ("pumps", "| Model | Weight kg | Warranty months |\n|---|---|---|\n"),
        ("pumps", "| AX-10 | 7.5 | 24 |\n"),
        ("pumps", "| AX-20 | 12.1 | 36 |\n"),
        ("pumps", "| AX-30 | 19.8 | 36 |\n"),
        ("pumps", "The AX-20 is approved for drinking water. The AX-10 is not."),
    ),
    "ja": evidence(
        ("製品", "| 型番 | 価格(円) | 重量(kg) |\n|---|---|---|\n"),
        ("製品", "| KB-1 | 12,800 | 0.9 |\n"),
        ("製品", "| KB-2 | 19,800 | 1.2 |\n"),
        ("製品", "KB-2は防水です。KB-1は防水ではありません。"),
    ),
}


@pytest.mark.parametrize(
    ("language", "question", "sides"),
    [
        ("en", "Which is heavier, the AX-10 or the AX-20?", ("7.5", "12.1")),
        ("en", "Is the AX-20 or the AX-10 heavier?", ("12.1", "7.5")),
        ("ja", "KB-1とKB-2ではどちらが軽いですか。", ("0.9", "1.2")),
        ("ja", "KB-2とKB-1のどちらが重いですか。", ("1.2", "0.9")),
    ],
)
async def test_of_two_that_are_compared_both_are_quoted(language: str, question: str, sides: tuple[str, str]) -> None:
    answer = await compose(ExtractiveWriter(), question, TABLES[language], language=language)
    assert answer.status is AnswerStatus.ANSWERED
    assert all(side in answer.text for side in sides)
    assert "防水" not in answer.text
    assert "drinking" not in answer.text


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "Which is heavier, the AX-10 or the AX-99?"), ("ja", "KB-1とKB-9ではどちらが軽いですか。")],
)
async def test_one_side_alone_is_no_comparison(language: str, question: str) -> None:
    answer = await compose(ExtractiveWriter(), question, TABLES[language], language=language)
    assert "12.1" not in answer.text
    assert "1.2" not in answer.text
