"""What refinement keeps and what it costs: ``python -m benchmarks.refinement [--chosen-on] [--svg FILE]``.

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
from tadasu.testing.datasets import DataAbsent, holds_answer

THRESHOLDS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NEIGHBOURS = (0, 1, 2)
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


def measure(set_: str, name: str, found: Sequence[Case], settings: RefinementSettings, counter: Counted) -> Outcome:
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


def curve(found: Sequence[Case], counter: Counted, *, name: str) -> list[tuple[int, float, Outcome]]:
    """The outcome for every threshold and number of neighbours."""
    return [
        (
            neighbours,
            threshold,
            measure(
                name,
                f"{threshold:g} with {neighbours}",
                found,
                RefinementSettings(strip_threshold=threshold, neighbours=neighbours, token_budget=ENOUGH),
                counter,
            ),
        )
        for neighbours, threshold in itertools.product(NEIGHBOURS, THRESHOLDS)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where graded passages are kept between runs")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the trade-off there")
    parser.add_argument("--chosen-on", action="store_true", help="the sets that the strengths were chosen on")
    given = parser.parse_args()
    cache = given.cache or Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "refinement"
    counter = Counted()
    print(harness.machine())
    lines: list[Outcome] = []
    curves: list[Curve] = []
    sets: tuple[EvidenceSet, ...] = CHOSEN_ON if given.chosen_on else MEASURED
    for one in sets:
        try:
            asked = cases(one, cache=cache)
        except DataAbsent as absent:
            harness.skip(f"{absent} {absent.hint}")
        found = [case for case in asked if case.answerable]
        print(f"{one.name}: {len(asked)} questions, the answer is in what goes on for {len(found)}")
        swept = curve(found, counter, name=one.name)
        lines += [
            measure(one.name, strength.value, found, of_strength(strength, token_budget=ENOUGH), counter)
            for strength in Strength
        ]
        lines.append(measure(one.name, "mild, 1,024 tokens", found, of_strength(Strength.MILD), counter))
        curves += [
            Curve(
                f"{one.name}, {neighbours} beside",
                tuple((o.share, o.survival, f"{t:g}") for n, t, o in swept if n == neighbours),
            )
            for neighbours in NEIGHBOURS
        ]
        print(harness.table(("threshold", *(f"{n} beside" for n in NEIGHBOURS)), _grid(swept)))
    print(harness.table(_HEAD, [_row(line) for line in lines]))
    print(f"wanted: survival >= {SURVIVAL} for <= {SHARE} of the tokens, with one of the strengths")
    if given.svg:
        marks = [(line.share, line.survival, f"{line.set}: {line.name}") for line in lines if "," not in line.name]
        given.svg.write_text(as_svg(curves, marks=marks, wanted=(SHARE, SURVIVAL)), encoding="utf-8")
    harness.report({"refinement": [asdict(line) for line in lines]}, to=given.json)


_HEAD = ("set", "strength", "cases", "survival", "95 %", "share of tokens", "share of strips")


def _row(line: Outcome) -> tuple[object, ...]:
    low, high = wilson(line.survived, line.answerable)
    return line.set, line.name, line.answerable, line.survival, f"{low:.3f} to {high:.3f}", line.share, line.strips


def _grid(swept: Sequence[tuple[int, float, Outcome]]) -> list[tuple[object, ...]]:
    by_place = {(n, t): f"{o.survival:.3f} for {o.share:.2f}" for n, t, o in swept}
    return [(f"{t:g}", *(by_place[n, t] for n in NEIGHBOURS)) for t in THRESHOLDS]


if __name__ == "__main__":
    main()
