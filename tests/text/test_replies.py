from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.replies import aloud, fields, number_in_unit, read_reply, yes_or_no


@pytest.mark.parametrize(
    "said",
    [
        "\ufeffThe end.",
        "<think>What now?</think>\n\nThe end.",
        "\n<Thinking>a\n</Thinking> The end.",
        "What now?\n</think>\nThe end.",
        "<think>one</think> two </think> The end.",
        "\ufeff<think>a</think>The end.",
    ],
)
def test_thoughts_and_marks_are_left_out(said: str) -> None:
    assert aloud(said) == "The end."


def test_a_thought_that_is_cut_off_says_nothing() -> None:
    assert aloud('<think>It may be {"id": 1}') == ""
    assert read_reply('<think>It may be {"id": 1}').objects == ()


def test_a_reply_is_taken_apart() -> None:
    reply = read_reply('Sure!\n```json\n[{"a": 1}]\n```\n> **Note:** 2, 3\n* １．５点\n')
    assert reply.objects == ({"a": 1.0},)
    assert reply.lines == ("Sure!", "[", "]", "Note: 2, 3", "1.5点")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("score: 0.5\nreason: it fits", ({"score": "0.5", "reason": "it fits"},)),
        ("スコア：０．５\n理由：合っている", ({"スコア": "0.5", "理由": "合っている"},)),
        ("- id: a\n- score: 1\n- id: b\n- score: 0", ({"id": "a", "score": "1"}, {"id": "b", "score": "0"})),
        ("**Score:** 0.5\n**Reason:** it fits", ({"score": "0.5", "reason": "it fits"},)),
        ("Note: nothing else", ()),
        ("at 12:30: the end", ()),
    ],
)
def test_lines_of_names_and_values_are_objects(said: str, expected: tuple[object, ...]) -> None:
    assert read_reply(said).objects == expected


@pytest.mark.parametrize(
    ("line", "parts"),
    [("a, b;c|d\te、f", list("abcdef")), ("| a | b |", ["a", "b"]), ("one", ["one"]), ("", []), (", ,", [])],
)
def test_fields_of_a_line(line: str, parts: list[str]) -> None:
    assert fields(line) == parts


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0.0), (1.0, 1.0), ("0.5", 0.5), (".5", 0.5), ("１", 1.0), ("75%", 0.75), ("９０％", 0.9), ("3/5", 0.6), ("8 / 10", 0.8),
        ("**0.4**", 0.4), ("1.0001", None), (-0.1, None), ("110%", None), ("3/7", None), ("6/5", None), ("high", None), ("", None),
        (None, None), (False, None), ([1], None), ("0.5 or 0.6", None), (float("inf"), None), ("1e-1", None), ("五", None), (10**400, None),
    ],
)  # fmt: skip
def test_numbers_in_the_unit_interval(value: object, number: float | None) -> None:
    found = number_in_unit(value)
    assert found is number is None or found == pytest.approx(number)


@given(st.text())
def test_yes_and_no_never_raise_and_never_both(said: str) -> None:
    assert yes_or_no(said) in {True, False, None}
    assert yes_or_no(f"No.\n{said}") is not True
    assert yes_or_no(f"はい。\n{said}") is not False


@pytest.mark.parametrize("value", [None, 1, 0.0, [], {}, "maybe", "ノー", "", "\n"])
def test_what_is_no_word_is_neither(value: object) -> None:
    assert yes_or_no(value) is None
