from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.core.answers import AnswerStatus, Evidence
from tadasu.core.grades import Verdict
from tests.answering.writing import compose, evidence

TABLE_EN = evidence(
    *(
        ("sla", row)
        for row in (
            "| Level | Response time | Availability | Monthly fee |",
            "| Bronze | 8 hours | 99.0 % | EUR 0 |",
            "| Silver | 4 hours | 99.5 % | EUR 450 |",
            "| Gold | 1 hour | 99.9 % | EUR 1,200 |",
            "Penalties are 5 % of the monthly fee.",
        )
    )
)
TABLE_JA = evidence(
    *(
        ("倉庫案内", row)
        for row in (
            "| 拠点 | 床面積 | 温度帯 |",
            "| 川崎倉庫 | 12,500㎡ | 常温 |",
            "| 神戸倉庫 | 8,200㎡ | 常温・冷蔵 |",
            "| 福岡倉庫 | 5,600㎡ | 常温・冷凍 |",
        )
    )
)
HOLIDAYS = evidence(
    ("holidays", "Date: 2026-04-27 | Holiday: King's Day | Office: closed"),
    ("holidays", "Date: 2026-05-01 | Holiday: Labour Day | Office: open"),
    ("holidays", "Date: 2026-05-14 | Holiday: Ascension Day | Office: closed"),
)


async def say(question: str, pieces: tuple[Evidence, ...], *, language: str = "en") -> str:
    answer = await compose(ExtractiveWriter(), question, pieces, language=language)
    return answer.text if answer.status is AnswerStatus.ANSWERED else ""


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What is the monthly fee of the Gold level?", "Gold: Monthly fee EUR 1,200"),
        ("Which availability does the Silver level guarantee?", "Silver: Availability 99.5 %"),
        ("What is the response time of Gold?", "Gold: Response time 1 hour"),
    ],
)
async def test_the_row_named_wins_over_prose_and_other_rows(question: str, row: str) -> None:
    said = await say(question, TABLE_EN)
    assert said.startswith(row)
    assert "Bronze" not in said


async def test_the_row_named_wins_in_japanese() -> None:
    said = await say("神戸倉庫の床面積は？", TABLE_JA, language="ja")
    assert said.startswith("神戸倉庫: 床面積 8,200㎡")
    assert "川崎" not in said


@pytest.mark.parametrize("question", ["Is 1 May 2026 a holiday?", "2026年5月1日は休日ですか"])
async def test_a_date_names_its_row_in_any_notation(question: str) -> None:
    said = await say(question, HOLIDAYS, language="en" if question.isascii() else "ja")
    assert "Labour Day" in said
    assert "2026-04-27" not in said


@pytest.mark.parametrize(
    ("question", "pieces", "language", "rows"),
    [
        ("Which level has the highest monthly fee?", TABLE_EN, "en", ("Bronze", "Silver", "Gold")),
        ("床面積が最も大きい拠点はどこですか", TABLE_JA, "ja", ("川崎", "神戸", "福岡")),
        ("ゴールドの月額料金はいくらですか", TABLE_EN[:4], "ja", ("Bronze", "Silver", "Gold")),
    ],
)
async def test_where_no_row_is_named_all_are_shown_never_the_first(
    question: str, pieces: tuple[Evidence, ...], language: str, rows: tuple[str, ...]
) -> None:
    said = await say(question, pieces, language=language)
    assert all(row in said for row in rows)


@pytest.mark.parametrize(
    ("question", "row", "language"),
    [
        ("Which model is the heaviest?", "Model: A-{n} | Weight: {n} kg", "en"),
        ("最も重い型番はどれですか", "型番: A-{n} | 質量: {n} kg", "ja"),
    ],
)
async def test_more_rows_than_can_be_shown_are_no_answer(question: str, row: str, language: str) -> None:
    pieces = evidence(*(("list", row.format(n=n)) for n in range(1, 12)))
    assert await say(question, pieces, language=language) == ""


STEPS_EN = ("The VPN client is WireGuard.", "1. Open a ticket.", "2. Install WireGuard.", "3. Confirm with your key.")
STEPS_JA = ("VPNの接続方法を示す。", "1. 申請書を出す。", "2. ソフトを入れる。", "3. 鍵で確認する。")
ITEMS_EN = (
    "Employees get the following.",
    "- Laptop: provided by IT",
    "- Chair: reimbursed up to EUR 250",
    "- Headset: provided by IT",
)
ITEMS_JA = (
    "次のものが使えます。",
    "- パソコン: 情報部が支給",
    "- 椅子: 25,000円まで補助",
    "- ヘッドセット: 情報部が支給",
)


@pytest.mark.parametrize(
    ("question", "strips", "language"),
    [
        ("How do I get VPN access?", STEPS_EN, "en"),
        ("What are the steps to install WireGuard?", STEPS_EN, "en"),
        ("VPNに接続する手順を教えてください", STEPS_JA, "ja"),
    ],
)
async def test_a_procedure_is_told_with_all_its_steps(question: str, strips: tuple[str, ...], language: str) -> None:
    said = await say(question, evidence(*(("vpn", s) for s in strips)), language=language)
    assert all(step in said for step in strips[1:])
    assert said.count("\n") == 2


@pytest.mark.parametrize(
    ("question", "strips", "language"),
    [
        ("What equipment is provided by IT?", ITEMS_EN, "en"),
        ("情報部が支給するものは何ですか", ITEMS_JA, "ja"),
    ],
)
async def test_a_list_is_told_whole(question: str, strips: tuple[str, ...], language: str) -> None:
    said = await say(question, evidence(*(("remote", s) for s in strips)), language=language)
    assert all(item in said for item in strips[1:])


async def test_one_item_that_is_the_answer_stands_alone() -> None:
    said = await say("How much is reimbursed for a chair?", evidence(*(("remote", s) for s in ITEMS_EN)))
    assert said == "Chair: reimbursed up to EUR 250 [1]"


@pytest.mark.parametrize(
    ("question", "heading", "body", "language"),
    [
        (
            "Who is responsible for forklift safety?",
            "Forklift safety instructions",
            "Ayumi Fujita trains drivers.",
            "en",
        ),
        ("フォークリフトの安全の担当者は誰ですか", "フォークリフト安全手順", "佐藤花子さんが運転者を教育する。", "ja"),
    ],
)
async def test_a_heading_or_title_is_never_an_answer(question: str, heading: str, body: str, language: str) -> None:
    pieces = tuple(
        replace(piece, strip=replace(piece.strip, title=heading, headings=(heading,)))
        for piece in evidence(("d", f"# {heading}"), ("d", heading), ("d", body))
    )
    assert heading not in await say(question, pieces, language=language)


@pytest.mark.parametrize(
    ("question", "text", "language", "shown"),
    [
        (
            "What does an Express parcel cost?",
            "Yes, express parcels are delivered for EUR 24.",
            "en",
            "Express parcels are delivered for EUR 24. [1]",
        ),
        ("速達の料金はいくらですか", "はい、速達は2,400円でお届けします。", "ja", "速達は2,400円でお届けします。[1]"),
        (
            "Are express parcels delivered on Saturdays?",
            "Yes, express parcels are delivered on Saturdays.",
            "en",
            "Yes, express parcels are delivered on Saturdays. [1]",
        ),
    ],
)
async def test_a_yes_to_another_question_is_left_out(question: str, text: str, language: str, shown: str) -> None:
    assert (await say(question, evidence(("faq", text)), language=language)).strip() == shown


@pytest.mark.parametrize(
    ("question", "pieces", "language", "quote"),
    [
        (
            "What is the daily allowance for a trip abroad?",
            (("規程", "海外出張の日当は1日あたり6,000円とする。"), ("remote", "Working from abroad is allowed.")),
            "en",
            "6,000円",
        ),
        (
            "在宅勤務は週に何日まで可能ですか",
            (("remote", "Employees may work from home up to 3 days a week."), ("規程", "勤務は可能な限り記録する。")),
            "ja",
            "3 days",
        ),
    ],
)
async def test_a_well_graded_quotation_in_the_other_language_wins_over_words_in_common(
    question: str, pieces: tuple[tuple[str, str], ...], language: str, quote: str
) -> None:
    graded = tuple(replace(piece, score=0.2 if piece.strip.index == 2 else 0.8) for piece in evidence(*pieces))
    answer = await compose(ExtractiveWriter(), question, graded, language=language, verdict=Verdict.AMBIGUOUS)
    assert quote in answer.text
