from __future__ import annotations

import time

import pytest

from tadasu.answering.small_talk import asks_nothing, small_talk


@pytest.mark.parametrize(
    "text",
    [
        *("Hello", "hi there!", "Good morning", "thanks!", "Thank you very much.", "Thanks, that helps!", "ok", "OK, thanks!"),
        *("Bye", "See you later", "Great!", "What can you do?", "Who are you?", "thanks for your help :)", "I see. Thanks."),
        *("こんにちは", "おはようございます。", "ありがとう", "ありがとうございます！", "どうもありがとうございました。", "了解です"),
        *("なるほど、ありがとうございます", "わかりました。", "さようなら", "何ができますか？", "あなたは誰ですか", "ＯＫ", "はい"),
    ],
)  # fmt: skip
def test_courtesy_is_small_talk(text: str) -> None:
    assert small_talk(text)
    assert asks_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Thanks, and the price?", "Hi, how long is the leave?", "Who founded the company?", "Why?", "help desk number"),
        *("What is good practice?", "thanks for that, what about the FL-50", "Is smoking ok in the yard?", "no smoking policy"),
        *("ありがとう、日当は？", "日当は？", "こんにちは。有給は何日ですか", "テスト手順は？", "了解の返事は必要ですか", "FL-25"),
    ],
)  # fmt: skip
def test_a_question_behind_courtesy_is_none(text: str) -> None:
    assert not small_talk(text)
    assert not asks_nothing(text)


@pytest.mark.parametrize("text", ["?", "？", "…!!", "  ", "🙂", "。"])
def test_marks_alone_ask_nothing(text: str) -> None:
    assert asks_nothing(text)


@pytest.mark.parametrize("piece", ["ok ", "thanks ", "どうも", "はい", "ah", "a lot "])
def test_a_long_text_costs_no_time(piece: str) -> None:
    began = time.perf_counter()
    assert not small_talk(piece * 5000 + "x")
    assert not small_talk(piece * (110 // len(piece)) + "xx")
    assert time.perf_counter() - began < 0.5
