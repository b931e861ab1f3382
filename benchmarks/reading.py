"""The span reader on held-back questions: is the answer found, and is it known when there is none?

    python -m benchmarks.reading [--smoke] [--calibrate] [--json FILE]

Each question is read with the passage that holds its answer, and with up to four others of the same article (of other
articles, where that has too few) that do not. Of the TEST splits, as `tadasu.testing.splits` decides them; with
``--calibrate`` of the CALIBRATE splits, which may be looked at while something is changed.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Figures, arguments, machine, percentile, table
from tadasu.app.assets import models_folder
from tadasu.ports import FoundSpan
from tadasu.providers.heads import open_span_head
from tadasu.testing.datasets import DataAbsent, Part, PassageRow, Question, holds_answer, passages, questions
from tadasu.testing.splits import Split, split_of
from tadasu.text.segment import segment
from training.feature_evaluation import auc
from training.grader.answers import answer_spans

SETS = {
    Split.TEST: (Part.JAQUAD_DEV, Part.JSQUAD_VALID, Part.XQUAD_EN, Part.POPQA),
    Split.CALIBRATE: (Part.JAQUAD_TRAIN, Part.XQUAD_EN, Part.POPQA),
}
_QUESTIONS, _SMOKE, _OTHERS = 200, 8, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the passage that answers it, where the answers stand there, and passages that do not answer it."""

    question: str
    gold: str
    spans: tuple[tuple[int, int], ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The span of the right passage, and the likeliest span of the others with its probability."""

    asked: Asked
    right: FoundSpan | None
    others: tuple[FoundSpan | None, ...]
    seconds: float

    def touches(self) -> bool:
        """Whether the span has a character in common with an answer."""
        span = self.right
        return span is not None and any(a < span.end and b > span.start for a, b in self.asked.spans)

    def sentence(self) -> bool:
        """Whether the sentences that the span touches hold an answer whole."""
        span, text = self.right, self.asked.gold
        if span is None:
            return False
        hit = [one for one in segment(text) if one[0] < span.end and one[1] > span.start]
        return bool(hit) and any(hit[0][0] <= a and b <= hit[-1][1] for a, b in self.asked.spans)

    def first(self) -> bool:
        """Whether the right passage's span is the likeliest."""
        return self.right is not None and self.right.probability > max(map(_likely, self.others), default=-1.0)


def _likely(span: FoundSpan | None) -> float:
    return span.probability if span is not None else 0.0


def asked_of(part: Part, split: Split, *, most: int) -> list[Asked]:
    """Some questions of a split, always the same."""
    chance = random.Random(9)
    rows = [row for row in passages(part) if split_of(part, row.key) is split]
    by_id = {row.id: row for row in rows}
    articles: dict[str, list[PassageRow]] = {}
    for row in rows:
        articles.setdefault(row.key, []).append(row)
    pool = [one for one in questions(part) if split_of(part, one.key) is split and any(g in by_id for g in one.gold)]
    found = []
    for question in chance.sample(pool, len(pool)):
        made = _asked(question, by_id, articles, rows, chance)
        if made is not None:
            found.append(made)
        if len(found) == most:
            break
    return found


def _asked(
    question: Question,
    by_id: dict[str, PassageRow],
    articles: dict[str, list[PassageRow]],
    rows: Sequence[PassageRow],
    chance: random.Random,
) -> Asked | None:
    gold = by_id[next(id_ for id_ in question.gold if id_ in by_id)]
    spans = answer_spans(gold.text, question.answers)
    if not spans:
        return None
    near = [row for row in articles[gold.key] if not holds_answer(row.text, question.answers)]
    far = [row for row in chance.sample(rows, 12) if row not in near and not holds_answer(row.text, question.answers)]
    others = [*chance.sample(near, min(_OTHERS, len(near))), *far][:_OTHERS]
    return Asked(question.text, gold.text, spans, tuple(row.text for row in others))


def main() -> None:
    """Measure, print, and write JSON where asked to."""
    given = arguments(__doc__ or "", smoke="a few questions of each set", calibrate="of the CALIBRATE splits")
    split = Split.CALIBRATE if given.calibrate else Split.TEST
    head = open_span_head(models_folder() / "grader")
    figures: Figures = {"machine": machine(), "reader": head.id, "split": split.value}
    rows = []
    for part in SETS[split]:
        try:
            everyone = asked_of(part, split, most=_SMOKE if given.smoke else _QUESTIONS)
        except DataAbsent as absent:
            print(f"left out: {absent}")
            continue
        outcomes = []
        for asked in everyone:
            began = time.perf_counter()
            right, *others = head.read_now(asked.question, [asked.gold, *asked.others])
            outcomes.append(Outcome(asked, right, tuple(others), time.perf_counter() - began))
        told = _figures(outcomes)
        figures[part.name.lower()] = told
        rows.append([part.name.lower(), *told.values()])
    names = ["questions", "touches", "sentence", "first", "first, sentence", "AUC", "p95 ms of five"]
    print(f"{machine()}\n{head.id}, {split.value}\n{table(['set', *names], rows)}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    likely = [(_likely(one), label) for o in outcomes for one, label in ((o.right, 1), *((x, 0) for x in o.others))]
    scores, labels = np.array([p for p, _ in likely]), np.array([label for _, label in likely], dtype=np.int8)
    told = {
        "questions": float(len(outcomes)),
        "touches": float(np.mean([one.touches() for one in outcomes])),
        "sentence": float(np.mean([one.sentence() for one in outcomes])),
        "first": float(np.mean([one.first() for one in outcomes])),
        "first_sentence": float(np.mean([one.first() and one.sentence() for one in outcomes])),
        "auc": auc(scores, labels),
        "p95_ms": 1000 * percentile([one.seconds for one in outcomes], 0.95),
    }
    return {name: round(value, 3) for name, value in told.items()}


if __name__ == "__main__":
    main()
