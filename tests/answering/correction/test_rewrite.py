"""Rewrites by rules: what they keep, what they drop, and that the web gets the question's words and no others."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.correction.relative_time import dated, wants_newest, with_dates
from tadasu.answering.correction.rewrite import (
    WEB_KEYWORDS,
    anchors,
    anchors_only,
    keyphrases,
    keywords_only,
    own_query,
    same_query,
    web_keywords,
    web_queries,
)
from tadasu.text.language import detect
from tadasu.text.normalize import fold
from tadasu.text.polarity import denies

TODAY = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("question", "kept", "gone"),
    [
        ("What is the warranty period for the PT-300?", ["warranty period", "PT-300"], ["What", "?"]),
        ('Could you tell me how many 12.5 mm probes "Model X" ships with?', ["12.5 mm", "Model X"], ["tell me"]),
        ("PT-300の保証期間は何年ですか？", ["PT-300", "保証期間"], ["ですか", "？"]),
        ("「安全弁」の点検方法を教えてください。", ["安全弁", "点検方法"], ["教えて"]),
    ],
)
def test_keywords_keep_entities_numbers_and_quotes_and_drop_what_makes_a_question(
    question: str, kept: list[str], gone: list[str]
) -> None:
    query = keywords_only(question)
    assert all(part in query for part in kept)
    assert not any(part in query for part in gone)


@pytest.mark.parametrize("question", ['What does "how to be safe" say?', "「何をするか」という章の要点は？"])
def test_what_is_quoted_stays_whole(question: str) -> None:
    (term,) = re.findall(r"[\"「](.+?)[\"」]", question)
    for query in (keywords_only(question), anchors_only(question), web_keywords(question)):
        assert term in query


@pytest.mark.parametrize(
    "question",
    ["Which valves must not be opened?", "What isn't covered by the warranty?", "PT-300は水中では使えません。なぜ？"],
)
def test_a_negation_stays_in_the_keywords(question: str) -> None:
    assert denies(keywords_only(question)) is denies(question) is True


QUESTIONS = [
    "What is the warranty period for the PT-300?",
    "How accurate is the LD-90 at 50 m, and at 12.5 °C?",
    'Where does "Aoba Instruments" make the FL-25 in Kyoto?',
    "PT-300の保証期間は何年ですか？",
    "青葉計器株式会社の「校正証明書」は1万2,000円ですか？",
    "LD-90は50 mでどれくらい正確ですか？",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_rewrite_keeps_names_codes_numbers_quoted_terms_and_the_language(question: str) -> None:
    made = [keywords_only(question), anchors_only(question), own_query(question, today=TODAY)]
    made += web_queries(question, today=TODAY)
    for query in made:
        assert all(anchor in fold(query) for anchor in anchors(question)), query
        assert detect(query) in {detect(question), "und"}


@pytest.mark.parametrize("question", ["what?", "何ですか？", "?", "", "   ", "the of and"])
def test_a_question_of_scaffold_alone_does_not_become_empty_or_raise(question: str) -> None:
    assert bool(keywords_only(question)) == bool(question.strip())
    assert web_queries(question, today=TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "Which material should the gasket of an outdoor enclosure near the sea be made of?",
        "屋外に置く制御盤の扉のパッキンの材質と交換の時期を教えてください",
    ],
)
def test_the_web_gets_three_keywords_at_the_most(question: str) -> None:
    query = web_keywords(question)
    used = [phrase for phrase in keyphrases(question) if phrase in query]
    assert len(used) == WEB_KEYWORDS < len(keyphrases(question))
    assert " ".join(used) == query


def test_what_is_compared_and_in_what_is_in_the_web_query() -> None:
    query = web_keywords("What is the difference between the KPT-340 and the MLD-120 in weight?")
    assert query == "KPT-340 MLD-120 weight"


def test_names_stay_in_the_web_query_even_where_they_are_more_than_three() -> None:
    query = web_keywords("Do the PT-300, the PT-500, the LD-90 and the FL-25 have the same display?")
    assert all(code in query for code in ("PT-300", "PT-500", "LD-90", "FL-25"))


@settings(max_examples=60)
@given(st.text(max_size=60) | st.sampled_from(QUESTIONS))
def test_the_web_queries_hold_the_questions_words_only_and_no_two_are_the_same(question: str) -> None:
    queries = web_queries(question, today=TODAY)
    assert len({same_query(query) for query in queries}) == len(queries) >= 1
    said = set(re.findall(r"\w", fold(with_dates(question, today=TODAY)).casefold()))
    for query in queries:
        assert set(re.findall(r"\w", query.casefold())) <= said | set("2026年")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which holidays fall into this year?", "Which holidays fall into 2026?"),
        ("What changed since last month?", "What changed since February 2026?"),
        ("Is the canteen open today?", "Is the canteen open March 5, 2026?"),
        ("今年の祝日は？", "2026年の祝日は？"),
        ("昨年と一昨年の売上", "2025年と2024年の売上"),
        ("今年度の予算と来月の予定", "2025年度の予算と2026年4月の予定"),
        ("本日の献立", "2026年3月5日の献立"),
        ("今日では珍しい技術", "今日では珍しい技術"),
    ],
)
def test_relative_times_become_dates(question: str, expected: str) -> None:
    assert with_dates(question, today=TODAY) == expected


def test_last_month_in_january_is_of_the_year_before() -> None:
    assert with_dates("last month", today=date(2026, 1, 31)) == "December 2025"
    assert with_dates("昨日", today=date(2026, 1, 1)) == "2025年12月31日"


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("What is the latest firmware of the PT-300?", "2026"),
        ("Who is the current head of Aoba Instruments?", "2026"),
        ("PT-300の最新ファームウェアは？", "2026年"),
        ("現在の社長は誰ですか？", "2026年"),
    ],
)
def test_a_question_about_the_newest_goes_to_the_web_with_the_year_and_to_our_documents_without(
    question: str, year: str
) -> None:
    assert all(query.endswith(f" {year}") for query in web_queries(question, today=TODAY))
    assert "2026" not in own_query(question, today=TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "What is the current rating of the fuse?",
        "What is the rated current of the PT-300?",
        "What was the latest version in 2019?",
        "2019年の最新版は？",
        "What is the warranty?",
    ],
)
def test_electricity_and_stated_years_are_not_the_newest(question: str) -> None:
    assert not wants_newest(question)
    assert "2026" not in dated("x", asked=question, today=TODAY)


@pytest.mark.parametrize(
    ("one", "other"),
    [("PT-300の保証は？", "ＰＴ－３００ の保証は"), ("What is  the RANGE?", "what is the range"), ("", "?!")],
)
def test_queries_that_differ_in_case_width_space_or_marks_are_the_same(one: str, other: str) -> None:
    assert same_query(one) == same_query(other)
