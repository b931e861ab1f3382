from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.errors import SettingsInvalid
from tadasu.prompts import Prompt, load
from tadasu.prompts.registry import LANGUAGES, PLACEHOLDERS

VALUES = {
    "answer": {"question": "Q", "meaning": "M", "evidence": "E", "today": "2026-01-01", "nonce": "N"},
    "grade": {"question": "Q", "passages": "P", "ids": "a1, b2", "nonce": "N", "note": "\n\nAgain."},
    "standalone": {"question": "Q", "conversation": "C", "nonce": "N"},
    "rewrite": {"question": "Q", "tried": "T"},
    "decompose": {"question": "Q"},
    "check": {"question": "Q", "source": "E", "sentence": "S", "nonce": "N"},
    "reflect": {"question": "Q", "evidence": "E", "draft": "D", "nonce": "N"},
    "revise": {"question": "Q", "evidence": "E", "draft": "D", "issues": "I", "today": "2026-01-01", "nonce": "N"},
    "reword": {"question": "Q", "evidence": "E", "sentence": "S", "findings": "F", "nonce": "N"},
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_built_in_prompt_loads_in_both_languages(name: str, language: str) -> None:
    prompt = load(name, language)
    messages = prompt.messages(**VALUES[name])
    assert [message.role for message in messages] == ["system", "user"]
    assert prompt.id.startswith(f"{name}/{language}@")
    assert len(prompt.id.partition("@")[2]) == 8
    for value in VALUES[name].values():
        assert value in prompt.render(**VALUES[name])


def test_the_id_follows_the_text() -> None:
    one, same, other = (
        Prompt("rewrite", "en", text) for text in ("{question} {tried}", "{question} {tried}\r\n", "{tried}{question}")
    )
    assert one.id == same.id
    assert one.id != other.id


HOSTILE = [
    "{x}",
    "{{y}}",
    "%s",
    "$z",
    "{0}",
    "{question}",
    "{nonce}",
    "{evidence}",
    "\\1",
    "\\g<0>",
    "${question}",
    "%(question)s",
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_a53_braces_and_percents_in_question_and_document_stay_as_they_are(text: str, language: str) -> None:
    prompt = load("answer", language)
    user = prompt.messages(question=f"Q {text} ?", meaning="", evidence=f"E {text} !", today="2026-01-01", nonce="abc")[
        1
    ].content
    assert user.count(f"Q {text} ?") == 1
    assert user.count(f"E {text} !") == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", [*HOSTILE, "{passages}", "{ids}", "{note}"])
def test_a53_the_grading_prompt_takes_them_as_they_are_too(text: str, language: str) -> None:
    prompt = load("grade", language)
    system, user = prompt.messages(question=f"Q {text} ?", passages=f"P {text} !", ids="k7m3t", nonce="abc", note="")
    assert user.content.count(f"Q {text} ?") == 1
    assert user.content.count(f"P {text} !") == 1
    assert '{"id": ' in system.content
    assert "abc" in system.content


@given(st.text(), st.text())
def test_a53_values_are_never_read_again(question: str, tried: str) -> None:
    assert (
        Prompt("rewrite", "en", "<{question}|{tried}>").render(question=question, tried=tried)
        == f"<{question}|{tried}>"
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"question": "q"}, "{tried} was given no value"),
        ({"question": "q", "tried": "t", "more": "m"}, "{more} is unknown"),
    ],
)
def test_values_that_do_not_match_are_named(values: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load("rewrite", "en").render(**values)
    assert words in str(caught.value)
    assert "rewrite/en" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"), [("{question}", "{tried} is missing"), ("{question} {tried} {foo}", "{foo} is unknown")]
)
def test_a_text_with_the_wrong_placeholders_is_refused(text: str, words: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        Prompt("rewrite", "ja", text)
    assert words in str(caught.value)


def test_other_braces_in_a_prompt_are_text() -> None:
    prompt = Prompt("rewrite", "en", 'Reply {"a": {}} {Question} {question} { tried } {tried}')
    assert prompt.render(question="1", tried="2") == 'Reply {"a": {}} {Question} 1 { tried } 2'


def test_own_files_come_first_and_the_rest_is_built_in(tmp_path: Path) -> None:
    (tmp_path / "ja").mkdir()
    (tmp_path / "ja" / "rewrite.md").write_bytes("\ufeff直す {question} {tried}".encode())
    assert load("rewrite", "ja", folder=tmp_path).render(question="a", tried="b") == "直す a b"
    assert load("rewrite", "en", folder=tmp_path).id == load("rewrite", "en").id


def test_an_unreadable_or_unknown_prompt_is_a_settings_error(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "rewrite.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        load("rewrite", "en", folder=tmp_path)
    with pytest.raises(
        SettingsInvalid, match="answer, check, decompose, grade, reflect, revise, reword, rewrite, standalone"
    ):
        load("anwser", "en")


def test_other_languages_get_the_english_text() -> None:
    assert load("answer", "und").id == load("answer", "en").id
