from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tadasu.answering.generation.citations import (
    Marker,
    MarkerStream,
    Numbering,
    Token,
    cite,
    defuse,
    numbers_in,
    read,
    render,
)
from tadasu.answering.generation.compose import Warned
from tests.answering.writing import chat, compose, evidence

FORMS = {
    "[1]": (1,),
    "[1,3]": (1, 3),
    "[1, 2 and 3]": (1, 2, 3),
    "[2-4]": (2, 3, 4),
    "[2–4]": (2, 3, 4),
    "【1】": (1,),
    "【１】": (1,),
    "[１]": (1,),
    "［１］": (1,),
    "［１、３］": (1, 3),
    "[^1]": (1,),
    "[0]": (0,),
    "[7]": (7,),
    "[Source 2]": (2,),
    "[資料1、2]": (1, 2),
    "【3†source】": (3,),
    "[#2]": (2,),
}
NO_MARKERS = ["[2024]", "[a link](x)", "list[int]", "[]", "[note 1 of the text]", "【重要】", "[1.5]", "[x1]"]


def joined(tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    for token in tokens:
        if isinstance(token, str) and out and isinstance(out[-1], str):
            out[-1] += token
        else:
            out.append(token)
    return out


def streamed(pieces: list[str]) -> list[Token]:
    stream = MarkerStream()
    return joined([token for piece in pieces for token in stream.feed(piece)] + stream.finish())


@pytest.mark.parametrize(("raw", "numbers"), FORMS.items())
def test_a55_markers_are_read_in_every_form(raw: str, numbers: tuple[int, ...]) -> None:
    assert read(f"It is so{raw}。次") == ["It is so", Marker(numbers, raw), "。次"]
    assert numbers_in(raw) == numbers


@pytest.mark.parametrize("text", NO_MARKERS)
def test_other_brackets_stay_text(text: str) -> None:
    assert "".join(str(token) for token in read(f"a {text} b")) == f"a {text} b"


def test_absurd_ranges_are_not_spelled_out() -> None:
    assert numbers_in("[1-999]") == (1,)
    assert numbers_in("[5-2]") == (5,)


@pytest.mark.parametrize("raw", FORMS)
def test_a58_cut_at_every_pair_of_positions_no_half_marker_is_shown(raw: str) -> None:
    text = f"全長は 3 m です{raw}。It weighs 2 kg [1]{raw}. End [x] of [it"
    whole = streamed([text])
    half = re.compile(r"[\[［【]\s*[\^#]?\s*[0-9０-９][^\]］】]*$|[\[［【]$")
    for i in range(len(text) + 1):
        for j in range(i, len(text) + 1):
            stream, seen = MarkerStream(), ""
            tokens: list[Token] = []
            for piece in (text[:i], text[i:j], text[j:]):
                tokens += stream.feed(piece)
                seen = "".join(token for token in tokens if isinstance(token, str))
                assert not half.search(seen)
            assert joined(tokens + stream.finish()) == whole


def test_a58_a_bracket_pair_as_one_token() -> None:
    assert streamed(["so [1", "][", "2]."]) == ["so ", Marker((1,), "[1]"), Marker((2,), "[2]"), "."]


@pytest.mark.parametrize("end", ["[", "[1", "【１", "[^2", "[1, "])
def test_a58_a_marker_that_never_closes_is_not_shown(end: str) -> None:
    assert "".join(str(t) for t in read(f"The end {end}")) == "The end "


@settings(deadline=None, max_examples=400)
@example("【0\n]", [3])
@example("[1 and source 2]", [8])
@given(st.text(alphabet="[]【】［］0123１,-、^ aSnd資†源\n\t.", max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a58_any_text_cut_anywhere_reads_alike(text: str, cuts: list[int]) -> None:
    borders = sorted({0, len(text), *(cut for cut in cuts if cut <= len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(borders)]
    assert streamed(pieces) == joined(read(text))
    assert streamed(list(text)) == joined(read(text))


def test_a59_markers_count_from_one_in_order_of_first_use_and_the_mapping_is_kept() -> None:
    numbering = Numbering(evidence("a", "b", "c", "d", "e"))
    assert numbering.show((2,)) == (1,)
    assert numbering.show((5,)) == (2,)
    assert numbering.show((5, 2)) == (1, 2)
    assert numbering.mapping == {1: 2, 2: 5}
    assert [citation.marker for citation in numbering.citations()] == [1, 2]
    assert [citation.strips for citation in numbering.citations()] == [("doc.2",), ("doc.5",)]


def test_a55_numbers_that_name_nothing_are_counted_and_left_out() -> None:
    numbering = Numbering(evidence("a", "b", "c", "d"))
    assert numbering.known((0, 1, 7, 1, 4)) == (1, 4)
    assert numbering.dropped == 2


async def test_a55_a_reply_with_every_kind_of_marker_shows_only_real_ones() -> None:
    pieces = evidence(
        "The pump weighs 3 kg.", "The valve weighs 5 kg.", "The hose is 2 m long.", "The tank holds 40 L."
    )
    answer = await compose(
        chat(
            "The pump weighs 3 kg [0], [7][1][1]. The valve weighs 5 kg【2】. The hose is 2 m long［３］. The tank holds 40 L [4,9]."
        ),
        "What are the figures?",
        pieces,
    )
    assert answer.text == (
        "The pump weighs 3 kg, [1]. The valve weighs 5 kg[2]. The hose is 2 m long[3]. The tank holds 40 L [4]."
    )
    assert [c.quote for c in answer.citations] == [piece.strip.text for piece in pieces]
    assert answer.warnings == (Warned.DROPPED,)


@pytest.mark.parametrize(
    ("text", "start", "quote"), [("  The pump.  \n", 102, "The pump."), ("\u3000ポンプ。\n", 101, "ポンプ。")]
)
def test_a_quote_is_the_text_at_its_span(text: str, start: int, quote: str) -> None:
    [piece] = evidence(("manual", text, "2024-02-02"))
    citation = cite(piece, marker=3)
    assert (citation.quote, citation.span.start, len(citation.span)) == (quote, start, len(quote))
    assert (citation.marker, citation.source, citation.date) == (3, "manual.md", "2024-02-02")


@pytest.mark.parametrize("raw", FORMS)
def test_defused_text_holds_no_marker(raw: str) -> None:
    assert all(isinstance(token, str) for token in read(defuse(f"as in {raw} and")))


def test_render() -> None:
    assert render((1, 3)) == "[1][3]"
