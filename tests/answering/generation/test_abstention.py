from __future__ import annotations

import pytest

from tadasu.answering.generation.abstention import abstain, is_pure_refusal, is_refusal
from tadasu.core.answers import AnswerStatus, Reason

REFUSALS = [
    "The documents do not say.",
    "This is not in the knowledge base.",
    "I don't know.",
    "I could not find this in the evidence.",
    "The provided context doesn't mention the price.",
    "There is no information about this.",
    "The release date is not stated.",
    "Not known.",
    "資料に記載がありません。",
    "資料には記載されていません。",
    "提供された資料の中に該当する情報はありません。",
    "ナレッジベースに情報が見つかりませんでした。",
    "価格は不明です。",
    "わかりません。",
    "お答えできません。",
    "文書からは判断できません。",
]
CLAIMS = [
    "It weighs 3 kg.",
    "The valve does not close by itself.",
    "The warranty does not cover water damage.",
    "質量は3 kgです。",
    "弁はひとりでには閉まりません。",
    "保証は水濡れを対象としません。",
    "ボタンがない機種です。",
]


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_models_own_refusal_is_recognised(sentence: str) -> None:
    assert is_refusal(sentence)
    assert is_pure_refusal(sentence, "What is the release date?")


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_claim_is_no_refusal(sentence: str) -> None:
    assert not is_refusal(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not say, but the capital is Paris.",
        "The documents do not mention it; it was built by Gustave Eiffel.",
        "資料に記載がありませんが、首都はパリです。",
        "資料には3 kgという記載がありません。",
    ],
)
def test_a30_a_refusal_with_a_claim_in_it_is_not_pure(sentence: str) -> None:
    assert is_refusal(sentence)
    assert not is_pure_refusal(sentence, "Which is it?")


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_said_in_both_languages(reason: Reason) -> None:
    english, japanese = abstain(reason, language="en"), abstain(reason, language="ja")
    known = reason is not Reason.NO_QUESTION
    assert english.text.startswith("Not known" if known else "That is not a question")
    assert japanese.text.startswith("不明" if known else "文書についての質問ではないようです")
    assert (english.status, english.reason, english.citations) == (AnswerStatus.ABSTAINED, reason, ())


def test_reasons_are_told_apart() -> None:
    assert len({abstain(reason, language="ja").text for reason in Reason}) == len(Reason)
