from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.generation.citations import MarkerStream
from tadasu.answering.generation.sentences import SentenceReader, Written


def sentences(text: str, borders: list[int] | None = None) -> list[Written]:
    markers, reader = MarkerStream(), SentenceReader()
    cuts = sorted({0, len(text), *(at for at in borders or () if at <= len(text))})
    out: list[Written] = []
    for a, b in itertools.pairwise(cuts):
        out += reader.feed(markers.feed(text[a:b]))
    return [*out, *reader.feed(markers.finish()), *reader.finish()]


def cited(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(sentence.text, sentence.numbers) for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3 m [1]. It is 2 kg [2].", [("It is 3 m .", (1,)), ("It is 2 kg .", (2,))]),
        ("It is 3 m. [1] It is 2 kg. [2]", [("It is 3 m.", (1,)), ("It is 2 kg.", (2,))]),
        ("It is 3 m.[1][2] It is 2 kg.[3]", [("It is 3 m.", (1, 2)), ("It is 2 kg.", (3,))]),
        ("長さは3 mです[1]。重さは2 kgです[2]。", [("長さは3 mです。", (1,)), ("重さは2 kgです。", (2,))]),
        ("長さは3 mです。[1]重さは2 kgです。【2】", [("長さは3 mです。", (1,)), ("重さは2 kgです。", (2,))]),
        ("- one thing [1]\n- other thing [2]\n", [("- one thing", (1,)), ("- other thing", (2,))]),
        ("[1] one thing\n[2] other thing", [("one thing", (1,)), ("other thing", (2,))]),
        (
            "Mr. Sato lives in the U.S. in 3.5 rooms [1]. Fine [2].",
            [("Mr. Sato lives in the U.S. in 3.5 rooms .", (1,)), ("Fine .", (2,))],
        ),
    ],
)
def test_markers_go_with_their_sentence(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert cited(text) == expected


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "It is 3.5 m",
                "全長は3 m",
                ". ",
                "。",
                "! ",
                "\n",
                "\n- ",
                "[1]",
                "【2】",
                " ",
                "Dr. ",
                "U.S. ",
                "「は。」",
                "?",
            ]
        ),
        max_size=14,
    ),
    st.lists(st.integers(0, 90), max_size=5),
)
def test_a58_sentences_do_not_depend_on_the_cuts(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    assert sentences(text, cuts) == sentences(text) == sentences(text, list(range(len(text))))


def test_a_sentence_is_out_soon_after_its_end() -> None:
    markers, reader = MarkerStream(), SentenceReader()
    assert reader.feed(markers.feed("It is 3 m [1]. It is 2 kg ")) == [Written("It is 3 m .", ((10, (1,)),))]


def test_a_marker_without_a_sentence_is_counted() -> None:
    reader = SentenceReader()
    reader.feed(MarkerStream().feed("[1]"))
    assert reader.finish() == []
    assert reader.lost == 1
