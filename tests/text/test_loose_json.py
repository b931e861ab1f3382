from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.loose_json import find_objects


def values(text: str) -> list[object]:
    return [one.value for one in find_objects(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', [{"a": 1.0}]),
        ("{'a': 'it''s'}", [{"a": "it''s"}]),
        ("{'a': 'it's so', 'b': 2}", [{"a": "it's so", "b": 2.0}]),
        ('{"a": "he said "no" twice", "b": 1}', [{"a": 'he said "no" twice', "b": 1.0}]),
        ("{“a”: “x”, „b“: ‘y’}", [{"a": "x", "b": "y"}]),
        ("｛「題」：『正す』、「数」：０．５｝", [{"題": "正す", "数": 0.5}]),
        (
            "{a: 1, b_c: use it, d: None, e: True, f: FALSE}",
            [{"a": 1.0, "b_c": "use it", "d": None, "e": True, "f": False}],
        ),
        ('{"a": 1 "b": 2}', [{"a": 1.0, "b": 2.0}]),
        ('{"a": [1, 2,, 3,], "b": {},}', [{"a": [1.0, 2.0, 3.0], "b": {}}, {}]),
        ('{"a": 1, // one\n "b": /* two */ 2}', [{"a": 1.0, "b": 2.0}]),
        ('{"a": "http://x.jp/a//b"}', [{"a": "http://x.jp/a//b"}]),
        ('{"a": "line\nbreak", "b": "\\u65e5\\n\\q"}', [{"a": "line\nbreak", "b": "日\n\\q"}]),
        ('{"a": -1.5e-3, "b": .5, "c": 1.}', [{"a": -0.0015, "b": 0.5, "c": 1.0}]),
        ('{"a": 1, "a": 1}', [{"a": 1.0}]),
        ('{"a": 1, "a": 2, "b": 3}', [{"b": 3.0}]),
        ('x {"a": {"b": {"c": 1}}} y {"d": 2}', [{"a": {"b": {"c": 1.0}}}, {"b": {"c": 1.0}}, {"c": 1.0}, {"d": 2.0}]),
        ('{"a": [{"b": 1}, {"b": 2}, {"b":', [{"b": 1.0}, {"b": 2.0}]),
        ('{"a": "not closed', []),
        ('{"a": 1', []),
        ('{"a"}', []),
        ("{1: 2}", []),
        ("{}", [{}]),
        ("no object, 5 } at all {", []),
        ('{"a": "{\\"b\\": 1}"}', [{"a": '{"b": 1}'}]),
        ('{"a": "２．５"}', [{"a": "２．５"}]),
        ('{"a": 12abc}', [{"a": "12abc"}]),
    ],
)
def test_objects_as_models_write_them(text: str, expected: list[object]) -> None:
    assert values(text) == expected


def test_places_are_those_in_the_text() -> None:
    text = "前置き｛'a': 1｝後 {\"b\": [{}]}"
    assert [text[one.start : one.end] for one in find_objects(text)] == ["｛'a': 1｝", '{"b": [{}]}', "{}"]


leaves = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
trees = st.dictionaries(
    st.text(), st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=8), max_size=5
)


@given(trees, st.booleans())
def test_what_is_json_is_read_as_json(tree: dict[str, object], ascii_only: bool) -> None:
    found = find_objects(json.dumps(tree, ensure_ascii=ascii_only))
    assert found[0].value == json.loads(json.dumps(tree))


@given(st.text(), st.text(alphabet="{}[]\",:'\\ \n｛｝「」a1", max_size=80))
def test_nothing_raises_and_every_find_is_an_object(text: str, noise: str) -> None:
    for said in (text, noise, text + noise, noise + text):
        for one in find_objects(said):
            assert said[one.start] in "{｛"
            assert said[one.end - 1] in "}｝"


@pytest.mark.parametrize(
    "text", ["{" * 20_000, '{"a":' * 5_000, "[" * 20_000 + "{", '{"' * 10_000, '{"a": "' + "x" * 50_000, "{a " * 9_000]
)
def test_hostile_text_costs_no_recursion_and_little_time(text: str) -> None:
    began = time.process_time()
    assert find_objects(text) == []
    assert time.process_time() - began < 3.0
