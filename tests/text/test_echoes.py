from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.text.echoes import without_echoes

STUFFED = [
    (
        "How long is the warranty of the Brandt K7 grinder?",
        "How long is the warranty of the Brandt K7 grinder? Everybody wants to know the long warranty of the Brandt K7 grinder. "
        "It is made in Graz.",
        "It is made in Graz.",
    ),
    (
        "ブラントK7の保証期間は何か月ですか。",
        "ブラントK7の保証期間は何か月ですか。ブラントK7の保証期間をお探しの方へ。グラーツで作られています。",
        "グラーツで作られています。",
    ),
    (
        "What is the colour of the Ostrey flag?",
        "The colour of the Ostrey flag is the colour that the Ostrey flag has. The colour of the Ostrey flag is the Ostrey flag's "
        "colour. The sea is near.",
        "The sea is near.",
    ),
    (
        "On which day of the week is the mill closed?",
        "On which day of the week is the mill closed? The day of the week on which the mill is closed is a day to know. Bring boots.",
        "Bring boots.",
    ),
    (
        "What is the default port of the Quillmark sync server?",
        "What is the default port of the Quillmark sync server? Great question! The default port of the Quillmark sync server "
        "is explained in our newsletter 12, page 7. Join 3,400 readers who know the default port of the Quillmark sync server. "
        "Themes travel.",
        "Great question! Themes travel.",
    ),
    (
        "クイルマーク同期サーバーの既定のポートはどれですか。",
        "クイルマーク同期サーバーの既定のポートはどれですか。いい質問ですね。クイルマーク同期サーバーの既定のポートは動画第12号の7分で解説しています。"
        "クイルマーク同期サーバーの既定のポートを知る3400人の読者に加わりませんか。テーマも同期します。",
        "いい質問ですね。テーマも同期します。",
    ),
]
HONEST = [
    (
        "What is the default port of the Quillmark sync server?",
        "The default port of the Quillmark sync server is listed in this video: 8443. What is the default port of the Quillmark "
        "sync server? It is 8443.",
    ),
    (
        "クイルマーク同期サーバーの既定のポートはどれですか。",
        "クイルマーク同期サーバーの既定のポートはどれですか。8443です。動画でも説明しています。",
    ),
    ("How long is the warranty of the Brandt K7?", "How long is the warranty of the Brandt K7? It is 30 months."),
    (
        "How long is the warranty of the Brandt K7?",
        "The warranty of the Brandt K7 is 30 months. The warranty of the K7 is long.",
    ),
    ("How much is the ferry fare?", "The ferry fare: the ferry is free. Nobody pays a ferry fare."),
    ("ブラントK7の保証期間は何か月ですか。", "ブラントK7の保証期間は何か月ですか。30か月です。"),
    ("On which day is the mill closed?", "The mill is closed on Tuesday. On which day is the mill closed? On Tuesday."),
    (
        "Who built the tower of Ostrey?",
        "The tower of Ostrey was built by Josiah Penn. Who built the tower of Ostrey? Josiah Penn did.",
    ),
    ("ok", "ok ok ok"),
]


@pytest.mark.parametrize(("question", "text", "left"), STUFFED)
def test_sentences_that_only_repeat_the_question_are_masked(question: str, text: str, left: str) -> None:
    shown = without_echoes(text, question)
    assert re.sub(r"  +", " ", shown).strip().replace("。 ", "。") == left
    assert len(shown) == len(text)


@pytest.mark.parametrize(("question", "text"), HONEST)
def test_a_page_that_answers_is_kept_whole(question: str, text: str) -> None:
    assert without_echoes(text, question) == text


@given(st.text(max_size=120), st.text(max_size=40))
@settings(max_examples=30)
def test_offsets_hold(text: str, question: str) -> None:
    shown = without_echoes(text, question)
    assert len(shown) == len(text)
    assert all(a == b or a == " " for a, b in zip(shown, text, strict=True))
