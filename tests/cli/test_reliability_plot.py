from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from tadasu.answering.grading.reliability import Bin, reliability
from tadasu.cli.reliability_plot import as_svg, as_text

WORDS = {"title": "信頼度 <&>", "said": "予測", "found": "実際", "before": "前", "after": "後"}


def test_points_on_the_diagonal_are_marked_so_and_others_lie_where_they_belong() -> None:
    lines = as_text([Bin(0.0, 0.0, 5, 0.0, 0.4), Bin(0.5, 0.5, 5, 0.2, 0.8), Bin(1.0, 0.0, 5, 0.0, 0.4)])
    assert len(lines) == 13
    assert lines[10].startswith("0.0 │@")
    assert lines[10].endswith("o")
    assert "@" in lines[5]
    assert lines[0].rstrip().endswith("·")


def test_the_drawing_is_sound_svg_with_a_point_for_every_bin() -> None:
    rng = np.random.default_rng(3)
    probabilities = rng.random(200)
    bins = reliability(probabilities, (rng.random(200) < probabilities).astype(np.float64))
    drawn = ET.fromstring(as_svg(bins, bins[:1], words=WORDS))
    space = "{http://www.w3.org/2000/svg}"
    circles = drawn.findall(f"{space}circle")
    assert len(circles) == len(bins) + 1
    assert all(56 <= float(circle.attrib["cx"]) <= 416 for circle in circles)
    assert drawn.findtext(f"{space}title") == "信頼度 <&>"
    assert len(ET.fromstring(as_svg((), (), words=WORDS)).findall(f"{space}circle")) == 0
