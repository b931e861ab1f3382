"""Questions about what the documents do not have, beside what they do: a neighbour is no answer."""

from __future__ import annotations

import pytest

from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.grades import Verdict
from tests.answering.writing import compose, evidence

EN = evidence(
    ("fleet", "Electric vans have a range of 310 km."),
    ("fleet", "Diesel vans are to be phased out by 2030."),
    ("leave", "Full-time employees receive 25 days of annual leave."),
    ("sla", "The monthly fee of the Gold level is EUR 1,200."),
    ("history", "The subsidiary was founded in 2011 with its office in Kawasaki."),
    ("history", "The chief executive is Helena Brandt."),
    ("prices", "Service: Parcel S | Price EUR: 4.90"),
    ("prices", "Service: Parcel M | Price EUR: 7.80"),
)
JA = evidence(
    ("倉庫案内", "川崎倉庫の床面積は12,500㎡です。"),
    ("倉庫案内", "神戸倉庫の床面積は8,200㎡です。"),
    ("休暇規程", "正社員の年次休暇は25日です。"),
    ("車両", "電気自動車の航続距離は310 kmです。"),
    ("規定", "パスワードは14文字以上とする。"),
)


async def ask(question: str, *, language: str = "en", verdict: Verdict = Verdict.CORRECT) -> Answer:
    pieces = EN if language == "en" else JA
    return await compose(ExtractiveWriter(), question, pieces, language=language, verdict=verdict)


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What is the range of an electric van?", "310 km"),
        ("How many days of annual leave do full-time employees receive?", "25 days"),
        ("What is the monthly fee of the Gold level?", "EUR 1,200"),
        ("Where is the office of the subsidiary?", "Kawasaki"),
        ("What is the price of Parcel M?", "7.80"),
    ],
)
async def test_what_is_there_is_answered(question: str, quote: str) -> None:
    assert quote in (await ask(question)).text


@pytest.mark.parametrize(
    "question",
    [
        "What is the range of a diesel van?",
        "How many days of sick leave do full-time employees receive?",
        "What is the monthly fee of the Platinum level?",
        "Does the subsidiary have an office in Berlin?",
        "What is the price of Parcel XL?",
        "How many vans were there in 2019?",
    ],
)
async def test_a_neighbour_of_the_subject_is_no_answer(question: str) -> None:
    answer = await ask(question)
    assert (answer.status, answer.reason) == (AnswerStatus.ABSTAINED, Reason.INSUFFICIENT)


@pytest.mark.parametrize(
    ("question", "quote"),
    [("神戸倉庫の床面積は？", "8,200㎡"), ("年次休暇は何日ですか", "25日"), ("パスワードは何文字以上ですか", "14文字")],
)
async def test_what_is_there_is_answered_in_japanese(question: str, quote: str) -> None:
    assert quote in (await ask(question, language="ja")).text


@pytest.mark.parametrize(
    "question", ["札幌倉庫の床面積は？", "病気休暇は何日ですか", "Wi-Fiのパスワードは何文字ですか"]
)
async def test_a_neighbour_of_the_subject_is_no_answer_in_japanese(question: str) -> None:
    answer = await ask(question, language="ja")
    assert (answer.status, answer.reason) == (AnswerStatus.ABSTAINED, Reason.INSUFFICIENT)


@pytest.mark.parametrize("verdict", [Verdict.INCORRECT, Verdict.NO_DOCUMENTS])
@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Who is the chief financial officer of Kawasaki Heavy Industries?"),
        ("en", "How many days may a range be closed?"),
        ("en", "Who is the chief executive of HR?"),
        ("ja", "社員食堂は何時に開きますか"),
    ],
)
async def test_where_the_grades_are_not_sure_a_few_words_in_common_are_no_answer(
    language: str, question: str, verdict: Verdict
) -> None:
    answer = await ask(question, language=language, verdict=verdict)
    assert answer.status is AnswerStatus.ABSTAINED
