"""What a question asks for is found in its other spellings, and not in words that merely hold it."""

from __future__ import annotations

import pytest

from tadasu.answering.grading.terms import AskedFor, Term, asked_for, fold_text


def asked(question: str) -> AskedFor:
    return asked_for(question, weights={}, language="ja" if not question.isascii() else "en")


def found(question: str, text: str) -> int:
    return sum(term.occurs(fold_text(text)) for term in asked(question).terms)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How are transmitters calibrated?", "Calibrating a transmitter takes an hour."),
        ("Which cities?", "The city of Nagoya."),
        ("What uses it?", "It is used daily."),
        ("PT-3051S range", "The range of the pt3051s"),
        ("Output of 3.5 MPa", "It gives 3.5 MPa at the output."),
        ("ｻｰﾊﾞｰの設定", "サーバの設定を開く"),
        ("いつ作られましたか", "1990年に作った"),
        ("Ｗｉｆｉの設定", "WIFI を設定する"),
    ],
)
def test_every_term_is_found_in_another_spelling(question: str, text: str) -> None:
    assert found(question, text) == len(asked(question).terms) or found(question, text) >= 2


@pytest.mark.parametrize(
    ("question", "text"),
    [("What does it use?", "because of the house"), ("Tell me about art", "a party started"), ("温度", "湿度と圧力")],
)
def test_a_term_inside_another_word_is_not_found(question: str, text: str) -> None:
    assert found(question, text) == 0


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("When was it built?", True),
        ("How many units are there?", True),
        ("Who built it?", False),
        ("いつ建てられましたか", True),
        ("何年に完成したか", True),
        ("誰が建てたか", False),
    ],
)
def test_a_question_for_a_number_is_known_by_its_words(question: str, wants: bool) -> None:
    assert asked(question).wants_number is wants


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where did Ada Lovelace live?", "Lovelace"),
        ("ベートーヴェンはどこで生まれた？", "ベートーヴェン"),
        ("「火の鳥」の作者は？", "火の鳥"),
    ],
)
def test_names_are_looked_for_as_they_stand(question: str, name: str) -> None:
    assert any(one.occurs(fold_text(f"… {name} …")) for one in asked(question).names)


def test_a_term_of_unknown_weight_counts_as_the_middle_one() -> None:
    weights = {"warranti": 4.0, "kpt": 2.0, "340": 2.0}
    told = asked_for("warranty kpt 340 unheard", weights=weights, language="en")
    assert {term.weight for term in told.terms} == {4.0, 2.0}


@pytest.mark.parametrize("question", ["", "？", "   ", "\ud800", "🙂"])
def test_a_question_without_words_asks_for_nothing_and_fails_nowhere(question: str) -> None:
    assert all(isinstance(term, Term) for term in asked(question).terms)
