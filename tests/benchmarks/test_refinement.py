"""What the benchmark of refinement counts as kept."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from benchmarks.refinement import holds, measure
from benchmarks.refinement_picture import Curve, as_svg
from benchmarks.refinement_sets import Case
from tadasu.answering.refinement import RefinementSettings, of_strength, refine
from tadasu.core.refining import Strength
from tests.answering.writing import Words, graded, passage

EN = ["The pump is old. ", "It was built in New ", "York City. ", "Nobody knows why."]
JA = ["ポンプは古い。", "これは東", "京都で作られた。", "理由は分からない。"]


@pytest.mark.parametrize(("text", "answer"), [(EN, "New York"), (JA, "東京都")])
def test_an_answer_counts_where_it_stands_in_one_stretch_of_what_is_left(text: list[str], answer: str) -> None:
    one = graded(passage(text), 0.9, [0.9] * 4)
    whole = refine([one], counter=Words(), settings=RefinementSettings()).evidence
    assert holds(whole, (answer,))
    assert not holds((whole[0], whole[1], whole[3]), (answer,))
    assert not holds((), (answer,))


def test_pieces_that_were_apart_make_no_answer_together() -> None:
    one = graded(passage(["He lived in New ", "Something else. ", "York City. "]), 0.9, [0.9] * 3)
    whole = refine([one], counter=Words(), settings=RefinementSettings()).evidence
    assert not holds((whole[0], whole[2]), ("New York",))


def test_shares_are_of_all_cases_together() -> None:
    good = graded(passage(["The answer is 42. ", "Four more words here. "], name="a"), 0.9, [0.9, 0.0])
    lost = graded(passage(["Not that one here. ", "The answer is 43. "], name="b"), 0.9, [0.9, 0.0])
    cases = [Case("?", "en", ("42",), (good,)), Case("?", "en", ("43",), (lost,))]
    mild = measure("s", "mild", cases, of_strength(Strength.MILD), Words())
    assert (mild.answerable, mild.survived, mild.survival) == (2, 1, 0.5)
    assert (mild.share, mild.strips) == (0.5, 0.5)
    off = measure("s", "off", cases, of_strength(Strength.OFF), Words())
    assert (off.survival, off.share) == (1.0, 1.0)


def test_the_drawing_is_a_whole_file_and_leaves_out_what_lies_below_it() -> None:
    curve = Curve("a < b", ((0.9, 1.0, "0.1"), (0.4, 0.9, "0.2"), (0.1, 0.2, "0.9")))
    drawn = ET.fromstring(as_svg("set & more", [curve], marks=[(0.4, 0.9, "mild")], wanted=(0.45, 0.98)))
    circles = [one for one in drawn.iter() if one.tag.endswith("circle")]
    assert len(circles) == 3
    assert "a < b" in "".join(drawn.itertext())
