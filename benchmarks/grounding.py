"""The check of answers against their sources: what it lets through and what it finds; rules, model, and both.

Run: python -m benchmarks.grounding [--calibrate] [--smoke] [--json FILE]

1. Swaps of one kind, from held-back titles, and perturbations (`grounding_claims`): balanced accuracy, share of wrong
   ones found, share of right ones kept, with 95 % intervals.
2. HaluEval (English): right and hallucinated answers, beside a baseline that sees their length and last full stop only.
3. JNLI (Japanese): entailed, neutral and contradicting captions, which people have worded freely.
4. Figures: sentences of public passages with one digit changed must be refused; the same in full-width digits and bold,
   or introduced by "according to the document", must pass. Rules alone.
5. How long the check of an answer of five sentences takes.

*rules* and *model* alone, and *both* as they ship. Only rows of the TEST split are measured; with ``--calibrate`` those
of the CALIBRATE split, and the pair of thresholds that sorts them best is printed.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from benchmarks.grounding_claims import Made, perturbed, swaps
from benchmarks.harness import Figures, arguments, machine, percentile, report, skip, table
from tadasu.answering.generation.checking import CheckingSettings, SentenceChecker
from tadasu.answering.generation.grounding import check
from tadasu.app.assets import models_folder
from tadasu.core.answers import Evidence
from tadasu.core.documents import Span, Strip
from tadasu.ports import Claim, Ledger, WritingTask
from tadasu.providers.support import open_support_head
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.datasets import DataAbsent, Part, item_key, passages, rows
from tadasu.testing.splits import Split, split_of
from tadasu.text.segment import segment

SENTENCES = 1000
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")


def strip(text: str) -> Strip:
    """A strip of a document that has nothing else."""
    return Strip("p.0", "p", "d", "s", "", text, Span(0, len(text)), 0)


def with_digits(part: Part) -> Iterator[str]:
    """Sentences of at most 200 characters that hold a digit."""
    for row in passages(part):
        if split_of(part, row.key) is not Split.TEST:
            continue
        text = row.text.partition(" [SEP] ")[2] or row.text
        for start, end in segment(text):
            sentence = text[start:end].strip()
            if len(sentence) <= 200 and re.search(r"\d", sentence):
                yield sentence


def digits(part: Part, introduction: str, *, sentences: int = SENTENCES) -> list[object]:
    """Shares of changed sentences refused, and of dressed and introduced ones accepted."""
    chance = random.Random(2)
    found = refused = dressed = introduced = 0
    for sentence in with_digits(part):
        at = chance.choice([match.start() for match in re.finditer(r"\d", sentence)])
        changed = sentence[:at] + str((int(sentence[at]) + chance.randint(1, 9)) % 10) + sentence[at + 1 :]
        source = [strip(sentence)]
        found += 1
        refused += not check(changed, source).holds
        dressed += check(f"**{sentence.translate(_WIDE)}**", source).holds
        introduced += check(introduction + sentence[:1].lower() + sentence[1:], source).holds
        if found == sentences:
            break
    return [part.value, found, refused / found, dressed / found, introduced / found]


def strip_of(claim: Made, *, number: int = 1) -> Evidence:
    """The source of a claim as one piece of evidence, of a document of its own."""
    source = replace(
        strip(claim.source), id=f"p{number}.0", passage_id=f"p{number}", document_id=f"d{number}", source=f"s{number}"
    )
    return Evidence(number, source, 1.0)


class Remembered:
    """The shipped support model, asked once for everything in a batch, and answering from memory then."""

    id = "remembered"

    def __init__(self, made: Sequence[Made]) -> None:
        head = open_support_head(models_folder() / "grader", threads=2)
        claims = [Claim(one.sentence, one.source, one.question) for one in made]
        self._known = dict(zip(claims, head.support_now(claims), strict=True))

    def of(self, one: Made) -> float:
        """The probability that the source of `one` supports it."""
        return self._known[Claim(one.sentence, one.source, one.question)]

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """See `tadasu.ports.SupportModel`."""
        return [self._known[claim] for claim in claims]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What each of the three says of one claim."""

    made: Made
    probability: float
    rules: bool
    both: bool

    @property
    def model(self) -> bool:
        """The model alone holds from one half on."""
        return self.probability >= 0.5


async def judged(made: Sequence[Made], settings: CheckingSettings | None = None) -> list[Verdicts]:
    """Every claim before rules, model and both."""
    model, found = Remembered(made), []
    checkers = SentenceChecker(), SentenceChecker(model, settings=settings)
    for one in made:
        piece = strip_of(one)
        task = WritingTask(one.question or ".", one.language, (piece,), "2026-01-01", "n0nce")
        asked = replace(task, question=one.question)
        rules, both = [
            (await checker.of(asked, ledger=RunLedger(SystemClock())).judge(one.sentence, [piece])).check.holds
            for checker in checkers
        ]
        found.append(Verdicts(one, model.of(one), rules, both))
    return found


def accuracy(found: Sequence[Verdicts], way: str) -> tuple[float, float, float, float]:
    """Balanced accuracy, half the width of its 95 % interval (normal), right ones kept, wrong ones found."""
    kept = [getattr(one, way) for one in found if one.made.right]
    caught = [not getattr(one, way) for one in found if not one.made.right]
    keep, catch = sum(kept) / len(kept), sum(caught) / len(caught)
    spread = math.sqrt(keep * (1 - keep) / len(kept) + catch * (1 - catch) / len(caught)) / 2
    return (keep + catch) / 2, 1.96 * spread, keep, catch


def balanced(found: Sequence[Verdicts]) -> list[list[object]]:
    """A line per language and kind, then per language, for rules, model and both."""
    lines: list[list[object]] = []
    for language in ("en", "ja"):
        own = [one for one in found if one.made.language == language]
        kinds = sorted({one.made.kind for one in own})
        groups = [(kind, [one for one in own if one.made.kind == kind]) for kind in kinds]
        groups.append(("all", own))
        inside = [one for one in own if one.made.right or one.made.within]
        if any(one.made.within for one in own):
            groups.append(("stands in the source", inside))
        for name, members in groups:
            if {one.made.right for one in members} == {True, False}:
                for way in ("rules", "model", "both"):
                    value, spread, keep, catch = accuracy(members, way)
                    lines.append([language, name, way, len(members), f"{value:.3f} ± {spread:.3f}", keep, catch])
    return lines


async def halueval(split: Split, *, limit: int) -> list[list[object]]:
    """Right and hallucinated answers: what passes, and how well length and full stop alone would tell them apart."""
    made = [
        Made("en", kind, row["question"], row[kind], row["knowledge"], right=kind == "right_answer")
        for row in rows(Part.HALUEVAL_QA)
        if split_of(Part.HALUEVAL_QA, item_key(Part.HALUEVAL_QA, row)) is split
        for kind in ("right_answer", "hallucinated_answer")
    ][:limit]
    found = await judged(made)
    lines: list[list[object]] = []
    for way in ("rules", "model", "both"):
        value, spread, keep, catch = accuracy(found, way)
        lines.append(["halueval_qa", way, len(found), f"{value:.3f} ± {spread:.3f}", keep, catch])
    form = np.array([[len(one.sentence), one.sentence.rstrip().endswith(".")] for one in made], dtype=np.float64)
    labels = np.array([one.right for one in made])
    guessed = cross_val_predict(LogisticRegression(), form / form.max(axis=0), labels, cv=5)
    keep, catch = float(guessed[labels].mean()), float((~guessed[~labels]).mean())
    lines.append(["halueval_qa", "length and full stop", len(made), f"{(keep + catch) / 2:.3f}", keep, catch])
    return lines


async def jnli(split: Split, *, limit: int) -> list[list[object]]:
    """Entailed captions kept, neutral and contradicting ones found."""
    made = [
        Made("ja", row["label"], "", row["sentence2"], row["sentence1"], right=row["label"] == "entailment")
        for row in rows(Part.JNLI_VALID)
        if split_of(Part.JNLI_VALID, item_key(Part.JNLI_VALID, row)) is split
    ][:limit]
    found = await judged(made)
    lines: list[list[object]] = []
    for kind in ("neutral", "contradiction"):
        members = [one for one in found if one.made.right or one.made.kind == kind]
        for way in ("rules", "model", "both"):
            value, spread, keep, catch = accuracy(members, way)
            lines.append(
                [f"jnli: entailment and {kind}", way, len(members), f"{value:.3f} ± {spread:.3f}", keep, catch]
            )
    return lines


async def latency(made: Sequence[Made], *, answers: int) -> tuple[float, float]:
    """p50 and p95 in milliseconds for the check of an answer of five sentences, each with a source of its own."""
    checker = SentenceChecker(open_support_head(models_folder() / "grader", threads=2))
    short = [one for one in made if 150 <= len(one.source) * (2 if one.language == "ja" else 1) <= 700]
    taken = []
    for number in range(answers + 2):
        answer = [(one, strip_of(one, number=n)) for n, one in enumerate((short * 5)[5 * number :][:5], 1)]
        task = WritingTask(
            answer[0][0].question, answer[0][0].language, tuple(piece for _, piece in answer), "2026-01-01", "n0nce"
        )
        began = time.perf_counter()
        check = checker.of(task, ledger=RunLedger(SystemClock()))
        await check.ahead([(one.sentence, [piece]) for one, piece in answer])
        for one, piece in answer:
            await check.judge(one.sentence, [piece])
        taken.append((time.perf_counter() - began) * 1000.0)
    return percentile(taken[2:], 0.5), percentile(taken[2:], 0.95)


async def thresholds(found: Sequence[Verdicts]) -> None:
    """The pair of thresholds with the best mean of the languages' balanced accuracy, and what lies around."""
    tried = []
    for doubt in (0.1, 0.2, 0.3, 0.4, 0.5):
        for trust in (0.4, 0.5, 0.6, 0.7, 0.8):
            settings = CheckingSettings(doubt=doubt, trust=trust)
            again = await judged([one.made for one in found], settings)
            each = [accuracy([one for one in again if one.made.language == lang], "both")[0] for lang in ("en", "ja")]
            tried.append((sum(each) / 2, doubt, trust))
    for value, doubt, trust in sorted(tried, reverse=True)[:6]:
        print(f"doubt {doubt}, trust {trust}: {value:.4f}")


async def measured(split: Split, *, smoke: bool, calibrate: bool) -> Figures:
    """All figures; printed as they come."""
    limit = 12 if smoke else 400
    swapped = await judged(list(swaps(split, limit=limit)))
    changed = await judged(list(perturbed(split, limit=limit // 4)))
    swap_lines, changed_lines = balanced(swapped), balanced(changed)
    print(table(["", "swaps of one kind", "", "n", "balanced accuracy", "right kept", "wrong found"], swap_lines))
    print()
    print(table(["", "perturbations", "", "n", "balanced accuracy", "right kept", "wrong found"], changed_lines))
    said = [*await halueval(split, limit=2 * limit), *await jnli(split, limit=2 * limit)]
    print()
    print(table(["set", "", "n", "balanced accuracy", "right kept", "wrong found"], said))
    if calibrate:
        await thresholds([*swapped, *changed])
    p50, p95 = await latency([one.made for one in swapped], answers=4 if smoke else 60)
    print(f"\nfive sentences checked: p50 {p50:.0f} ms, p95 {p95:.0f} ms")
    return {"swaps": swap_lines, "perturbations": changed_lines, "answers": said, "five sentences ms": [p50, p95]}


def main() -> None:
    """Measure and print."""
    options = arguments(
        __doc__ or "", calibrate="CALIBRATE rows, to choose thresholds by", smoke="a few claims of each kind"
    )
    split = Split.CALIBRATE if options.calibrate else Split.TEST
    print(machine())
    try:
        found = asyncio.run(measured(split, smoke=options.smoke, calibrate=options.calibrate))
        sentences = 20 if options.smoke else SENTENCES
        figures = [
            digits(Part.JSQUAD_VALID, "文書によると、", sentences=sentences),
            digits(Part.JAQUAD_DEV, "文書によると、", sentences=sentences),
            digits(Part.WIKI_EN, "According to the document, ", sentences=sentences),
        ]
    except DataAbsent as absent:
        skip(str(absent))
    print()
    head = ["sentences of (rules)", "n", "one digit changed: refused", "dressed: accepted", "introduced: accepted"]
    print(table(head, figures))
    report({**found, "digits": figures}, to=options.json)


if __name__ == "__main__":
    main()
