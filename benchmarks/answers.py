"""Extractive answers through the whole pipeline, and the courage to abstain: ``python -m benchmarks.answers``.

Questions of jsquad's valid part and of held-back articles of xquad_en (among Wikipedia paragraphs) are asked of real
workspaces: index, search, grading, correction, refinement, quotations; default settings, no web, no chat model. Each is
asked three times: as it is, with its whole article hidden from the search, and with one name, number or attribute of it
replaced by another (the neighbour's is still there). Counted is whether an answer stands in at most two sentences, and
whether the other two are met with "not known".

``--fit`` asks CALIBRATE questions instead and writes the weights of `generation.sufficiency`. Workspaces are kept in
``--folder``; the second run is faster for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.answer_curve import HEAD, Outcome, curve, picture, point, rows
from benchmarks.answer_measures import marks
from benchmarks.answer_sets import FITTED, MEASURED, AnswerSet, Asked, ask_all, opened, task_of
from benchmarks.harness import machine, percentile, report, skip, table
from tadasu.answering.generation.choosing import Chosen, ExtractiveSettings
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.sufficiency import Signals
from tadasu.app.sections.answering import AbstentionSection
from tadasu.core.answers import AnswerStatus, Support
from tadasu.core.proportions import wilson
from tadasu.core.usage import Stage
from tadasu.ports import SpanReader
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.datasets import DataAbsent, holds_answer

Floats: TypeAlias = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "src" / "tadasu" / "answering" / "generation" / "sufficiency.json"
SENTENCES = 2
THRESHOLD = float(AbstentionSection().threshold)
_SIGNALS = [field.name for field in fields(Signals)]
# Strength of the pull towards no weight at all: with it, signals that hardly tell do not get large weights.
_RIDGE = 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """One question in one state: what was shown, and what would be quoted whatever the threshold."""

    asked: Asked
    chosen: Chosen

    @property
    def answered(self) -> bool:
        """Whether the run answered."""
        return self.asked.run.answer.status is AnswerStatus.ANSWERED

    @property
    def shown(self) -> list[str]:
        """The first sentences that the run's answer quotes."""
        kept = (one.text for one in self.asked.run.answer.sentences if one.support is Support.SUPPORTED)
        return list(kept)[:SENTENCES]

    @property
    def right(self) -> bool:
        """Whether an answer stands in what was shown."""
        return holds_answer(" ".join(self.shown), self.asked.answers)

    @property
    def outcome(self) -> Outcome:
        """For the curve."""
        sides = self.chosen.conflict.sides if self.chosen.conflict else ()
        quoted = " ".join(quote.text for quote in (*self.chosen.quotes, *sides)[:SENTENCES])
        found = self.chosen.sufficiency
        score = found.score if found is not None and quoted else -1.0
        return Outcome(self.asked.state, score, holds_answer(quoted, self.asked.answers))


def main() -> None:
    options = _options()
    print(machine())
    try:
        if options.fit:
            asyncio.run(_fit(options))
        else:
            asyncio.run(_measure(options))
    except DataAbsent as absent:
        skip(f"{absent} {absent.hint}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON too")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "benchmarks" / "answers", metavar="FOLDER")
    parser.add_argument("--questions", type=int, default=300, metavar="N", help="of each set at the most")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write the curve there as SVG")
    parser.add_argument("--rules", action="store_true", help="measure without the span reader")
    parser.add_argument("--fit", action="store_true", help="fit the weights on CALIBRATE questions")
    parser.add_argument("--weights", type=Path, default=WEIGHTS, metavar="FILE", help="where --fit writes them")
    return parser.parse_args()


async def _measure(options: argparse.Namespace) -> None:
    read = not options.rules
    figures: dict[str, object] = {}
    shares, curves = [], {}
    for one in MEASURED:
        (judged,) = await _asked(one, options, readings=[read], threshold=THRESHOLD)
        points = curve([each.outcome for each in judged])
        curves[one.name] = points
        shares.append(_row(one.name, judged))
        figures[one.name] = {
            "shown": dict(zip(_HEAD[1:], shares[-1][1:], strict=True)),
            "curve": list(map(asdict, points)),
        }
    print(table(_HEAD, shares))
    print("wanted: right >= .85 in both, abstention where the article is gone >= .70")
    print(f"\nBy threshold (default {THRESHOLD:g}), from the evidence of the same runs:")
    print(table(HEAD, [row for name, points in curves.items() for row in rows(name, points)]))
    if options.picture:
        options.picture.write_text(picture(curves, at=THRESHOLD), encoding="utf-8")
    report(figures, to=options.json)


_HEAD = (
    "set", "questions", "in evidence", "answered", "right", "from", "to", "exact", "f1", "accuracy", "sentences",
    "gone: abstains", "neighbour: abstains", "writing p95 ms",
)  # fmt: skip


def _row(name: str, judged: Sequence[Judged]) -> tuple[object, ...]:
    """One line of the table of what was shown."""
    there = [each for each in judged if each.asked.state == "there"]
    gone = [each for each in judged if each.asked.state == "gone"]
    other = [each for each in judged if each.asked.state == "neighbour"]
    n, right = len(there), sum(each.right for each in there)
    given = [each for each in there if each.answered]
    held = sum(
        holds_answer(" ".join(piece.strip.text for piece in each.asked.run.evidence), each.asked.answers)
        for each in there
    )
    low, high = wilson(right, n)
    scored = [marks(" ".join(each.shown), each.asked.answers) for each in there]
    exact, f1 = (sum(getattr(one, name) for one in scored) / max(n, 1) for name in ("exact", "f1"))
    return (
        name, n, held / n, len(given) / n, right / n, low, high, exact, f1, right / max(len(given), 1),
        sum(len(each.asked.run.answer.sentences) for each in given) / max(len(given), 1),
        _abstained(gone), _abstained(other), percentile([_writing_ms(each) for each in there], 0.95),
    )  # fmt: skip


def _abstained(judged: Sequence[Judged]) -> float:
    return sum(not each.answered for each in judged) / max(len(judged), 1)


def _writing_ms(each: Judged) -> float:
    """Time of choosing, of reading and of checking."""
    mine = {Stage.GENERATE, Stage.CHECK}
    return sum(call.duration_ms for call in each.asked.run.calls if call.stage in mine or "spans" in call.model)


async def _asked(
    one: AnswerSet, options: argparse.Namespace, *, readings: Sequence[bool], threshold: float
) -> list[list[Judged]]:
    """All questions of a set; one list per way of reading, of which the first is that of the pipeline."""
    found: list[list[Judged]] = [[] for _ in readings]
    chosen = {"threshold": threshold, "read": readings[0]}
    async with opened(one, options.folder, abstention=chosen) as tadasu:
        writers = [_bold(tadasu.container.span_reader if read else None) for read in readings]
        async for asked in ask_all(one, options.questions, tadasu):
            for kept, writer in zip(found, writers, strict=True):
                kept.append(Judged(asked, await writer.choose(task_of(asked.run), ledger=RunLedger(SystemClock()))))
            if len(found[0]) % 100 == 0:
                print(f"{one.name}: {len(found[0])} asked", file=sys.stderr, flush=True)
    return found


def _bold(reader: SpanReader | None) -> ExtractiveWriter:
    """A writer that quotes whatever the score."""
    return ExtractiveWriter(ExtractiveSettings(threshold=0.0), reader=reader)


async def _fit(options: argparse.Namespace) -> None:
    weights, told = {}, {}
    asked = [await _asked(one, options, readings=[True, False], threshold=0.0) for one in FITTED]
    for place, kind in enumerate(("read", "rules")):
        judged = [each for one in asked for each in one[place]]
        rows_ = [each for each in judged if each.outcome.score >= 0.0]
        signals = np.array([astuple(each.chosen.sufficiency.signals) for each in rows_ if each.chosen.sufficiency])
        right = np.array([each.outcome.right for each in rows_], dtype=np.float64)
        bias, factors = fitted(signals, right)
        weights[kind] = {"bias": round(bias, 3)} | {
            name: round(float(value), 3) for name, value in zip(_SIGNALS, factors, strict=True) if value > 0.0005
        }
        scores = 1.0 / (1.0 + np.exp(-(bias + signals @ factors)))
        outcomes = [Outcome(e.asked.state, float(s), e.outcome.right) for e, s in zip(rows_, scores, strict=True)]
        none = [Outcome(e.asked.state, -1.0, right=False) for e in judged if e not in rows_]
        told[kind] = {"rows": len(rows_), "right": int(right.sum()), "asked": len(judged)}
        print(kind, weights[kind], told[kind])
        print(table(HEAD, rows(kind, curve([*outcomes, *none]))))
        print(point([*outcomes, *none], THRESHOLD))
    card = {
        "made_by": "python -m benchmarks.answers --fit",
        "made": SystemClock().now().date().isoformat(),
        "fitted_on": {one.name: f"{one.split.value} questions, among {_among(one)}" for one in FITTED},
        "states": "the article there, hidden, or another name, number or attribute asked for",
        "model": f"logistic, no weight below 0, ridge {_RIDGE:g}; a signal that is missing has no weight",
        **told,
    }
    text = json.dumps({"card": card, "weights": weights}, indent=2, ensure_ascii=False)
    options.weights.write_text(text + "\n", encoding="utf-8")


def _among(one: AnswerSet) -> str:
    names = [f"passages of that split of {one.part.name.lower()}" if one.only_split else one.part.name.lower()]
    return ", ".join([*names, *(part.name.lower() for part in one.among)])


def fitted(signals: Floats, right: Floats) -> tuple[float, Floats]:
    """Bias and weights of the logistic model: more of a signal never lowers the score."""
    count = signals.shape[1]

    def loss(w: Floats) -> tuple[float, Floats]:
        total = w[0] + signals @ w[1:]
        chance = 1.0 / (1.0 + np.exp(-total))
        value = float(np.sum(np.logaddexp(0.0, total) - right * total) + 0.5 * _RIDGE * np.sum(w[1:] ** 2))
        slope = np.concatenate(([np.sum(chance - right)], signals.T @ (chance - right) + _RIDGE * w[1:]))
        return value, slope

    bounds = [(None, None), *[(0.0, None)] * count]
    done = minimize(loss, np.zeros(count + 1), jac=True, bounds=bounds, method="L-BFGS-B")
    return float(done.x[0]), done.x[1:]


if __name__ == "__main__":
    main()
