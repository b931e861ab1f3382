"""What refinement keeps and what it costs: ``python -m benchmarks.refinement [--chosen-on] [--svg FOLDER]``.

Of the questions whose answer stands in what goes on after the verdict: in how many it still stands in the evidence, and
for which share of the tokens. Held-back questions; with ``--chosen-on`` those that the strengths were chosen on.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import harness
from benchmarks.refinement_picture import Curve, as_svg
from benchmarks.refinement_sets import CHOSEN_ON, MEASURED, Case, EvidenceSet, cases
from tadasu.answering.refinement import RefinementSettings, of_strength, refine
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.app.assets import models_folder
from tadasu.core.answers import Evidence
from tadasu.core.proportions import wilson
from tadasu.core.refining import Strength
from tadasu.ports import TokenCounter
from tadasu.testing.datasets import DataAbsent, holds_answer

BORDERS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
NEIGHBOURS = (0, 1)
RULES = {
    "share of the best": lambda border: {"strip_threshold": 0.0, "shares": {"en": border}},
    "threshold": lambda border: {"strip_threshold": border},
}
"""What a border may be held against: the best strip's score with its passage, or the strip's own score."""
ENOUGH = 10**9
"""Tokens: a budget that binds nothing, so that only the choice of strips is seen."""
SURVIVAL, SHARE = 0.98, 0.45
"""What is wanted."""


class Counted:
    """The encoder's counter, remembering what it counted."""

    def __init__(self) -> None:
        self._encoder = OnnxEncoder.load(models_folder() / "encoder", threads=1)
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """See `tadasu.ports.TokenCounter`."""
        if text not in self._known:
            self._known[text] = self._encoder.count(text)
        return self._known[text]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One set under one choice of settings: `survived` of `answerable` cases for `share` of their tokens."""

    set: str
    name: str
    answerable: int
    survived: int
    share: float
    strips: float

    @property
    def survival(self) -> float:
        """Share of the cases whose answer is still there."""
        return self.survived / self.answerable if self.answerable else 0.0


def measure(
    set_: str, name: str, found: Sequence[Case], settings: RefinementSettings, counter: TokenCounter
) -> Outcome:
    """Refine every case and look for its answer."""
    survived = kept = whole = pieces = strips = 0
    for case in found:
        refined = refine(case.passages, counter=counter, settings=settings, question=case.question)
        survived += holds(refined.evidence, case.answers)
        kept += refined.tokens
        whole += sum(counter.count(record.strip.text) for record in refined.records)
        pieces, strips = pieces + len(refined.evidence), strips + len(refined.records)
    return Outcome(set_, name, len(found), survived, kept / max(1, whole), pieces / max(1, strips))


def holds(evidence: Sequence[Evidence], answers: tuple[str, ...]) -> bool:
    """Whether an answer stands in what is left, in one stretch of the document."""
    found: list[str] = []
    before: Evidence | None = None
    for piece in sorted(evidence, key=lambda piece: (piece.strip.passage_id, piece.strip.index)):
        follows = before is not None and (before.strip.passage_id, before.strip.index + 1) == (
            piece.strip.passage_id,
            piece.strip.index,
        )
        if follows:
            found[-1] += piece.strip.text
        else:
            found.append(piece.strip.text)
        before = piece
    return any(holds_answer(text, answers) for text in found)


def curve(found: Sequence[Case], counter: TokenCounter, *, name: str) -> dict[str, list[tuple[float, Outcome]]]:
    """The outcomes along the borders, for every rule and number of neighbours."""
    return {
        f"{rule}, {neighbours} beside": [
            (
                border,
                measure(
                    name,
                    f"{rule} {border:g} with {neighbours}",
                    found,
                    RefinementSettings(neighbours=neighbours, token_budget=ENOUGH, **values(border)),
                    counter,
                ),
            )
            for border in BORDERS
        ]
        for (rule, values), neighbours in itertools.product(RULES.items(), NEIGHBOURS)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where graded passages are kept between runs")
    parser.add_argument("--svg", type=Path, metavar="FOLDER", help="draw the trade-off of each set there")
    parser.add_argument("--chosen-on", action="store_true", help="the sets that the strengths were chosen on")
    given = parser.parse_args()
    cache = given.cache or Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "refinement"
    counter = Counted()
    print(harness.machine())
    lines: list[Outcome] = []
    sets: tuple[EvidenceSet, ...] = CHOSEN_ON if given.chosen_on else MEASURED
    for one in sets:
        try:
            asked = cases(one, cache=cache)
        except DataAbsent as absent:
            harness.skip(f"{absent} {absent.hint}")
        found = [case for case in asked if case.answerable]
        print(f"{one.name}: {len(asked)} questions, the answer is in what goes on for {len(found)}")
        swept = curve(found, counter, name=one.name)
        print(harness.table(("border", *swept), _grid(swept)))
        own = [
            measure(one.name, strength.value, found, of_strength(strength, token_budget=ENOUGH), counter)
            for strength in Strength
        ]
        lines += [*own, measure(one.name, "mild, 1,024 tokens", found, of_strength(Strength.MILD), counter)]
        if given.svg:
            drawn = given.svg / f"refinement-{one.name.replace(' ', '-')}.svg"
            drawn.write_text(_picture(one.name, swept, own), encoding="utf-8")
    print(harness.table(_HEAD, [_row(line) for line in lines]))
    print(f"wanted: survival >= {SURVIVAL} for <= {SHARE} of the tokens, with one of the strengths")
    harness.report({"refinement": [asdict(line) for line in lines]}, to=given.json)


def _picture(name: str, swept: dict[str, list[tuple[float, Outcome]]], strengths: Sequence[Outcome]) -> str:
    curves = [
        Curve(label, tuple((outcome.share, outcome.survival, f"{border:g}") for border, outcome in points))
        for label, points in swept.items()
    ]
    marks = [(line.share, line.survival, line.name) for line in strengths]
    return as_svg(name, curves, marks=marks, wanted=(SHARE, SURVIVAL))


_HEAD = ("set", "strength", "cases", "survival", "95 %", "share of tokens", "share of strips")


def _row(line: Outcome) -> tuple[object, ...]:
    low, high = wilson(line.survived, line.answerable)
    return line.set, line.name, line.answerable, line.survival, f"{low:.3f} to {high:.3f}", line.share, line.strips


def _grid(swept: dict[str, list[tuple[float, Outcome]]]) -> list[tuple[object, ...]]:
    return [
        (f"{points[0][0]:g}", *(f"{outcome.survival:.3f} for {outcome.share:.2f}" for _, outcome in points))
        for points in zip(*swept.values(), strict=True)
    ]


if __name__ == "__main__":
    main()
