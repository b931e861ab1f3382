"""What refinement is measured on: what goes on after the verdict, for questions whose answer is known.

Each question is asked of a real index through our own search, grader and correction loop, with default settings and
without the web; the passages that go on, their grades and their strips' scores are kept in a file, because
everything that refinement may be told is tried on the same ones.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tadasu.app.correction import correction_loop
from tadasu.app.settings_file import settings_text
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import create_workspace
from tadasu.core.documents import Passage, Scope, Span
from tadasu.core.grades import Grade, Level
from tadasu.core.retrieved import GradedPassage
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import CachedEncoder, articles, index, language_of
from tadasu.testing.datasets import Part, PassageRow, Question, holds_answer, passages, questions
from tadasu.testing.splits import Split, split_of

_THREADS = {"encoder.threads": 1, "scorer.threads": 1}


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """At most `count` questions of `part` in `split`, over the passages of `part`; `only_split`: of that split only."""

    name: str
    part: Part
    split: Split
    count: int
    only_split: bool = False

    @property
    def language(self) -> str:
        """Language of its questions."""
        return language_of(self.part)

    def rows(self) -> list[PassageRow]:
        """The passages that are searched."""
        own = passages(self.part)
        return [row for row in own if not self.only_split or split_of(self.part, row.key) is self.split]

    def questions(self) -> list[Question]:
        """Its questions, at equal distances, so that every part of the set is asked about."""
        mine = [one for one in questions(self.part) if split_of(self.part, one.key) is self.split]
        count = min(self.count, len(mine))
        return [mine[i * len(mine) // count] for i in range(count)]


CHOSEN_ON = (
    EvidenceSet("popqa calibrate", Part.POPQA, Split.CALIBRATE, 1000),
    EvidenceSet("popqa train", Part.POPQA, Split.TRAIN, 1000),
    EvidenceSet("xquad_en calibrate", Part.XQUAD_EN, Split.CALIBRATE, 1000),
    EvidenceSet("jaquad calibrate", Part.JAQUAD_TRAIN, Split.CALIBRATE, 500, only_split=True),
)
"""What the strengths are chosen on."""
MEASURED = (
    EvidenceSet("popqa", Part.POPQA, Split.TEST, 1000),
    EvidenceSet("jsquad", Part.JSQUAD_VALID, Split.TEST, 300),
)
"""What is reported; nothing is chosen on it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the language it is in, its accepted answers, and what goes on to refinement."""

    question: str
    language: str
    answers: tuple[str, ...]
    passages: tuple[GradedPassage, ...]

    @property
    def answerable(self) -> bool:
        """Whether an accepted answer stands in one of the passages."""
        return any(holds_answer(one.passage.text, self.answers) for one in self.passages)


def cases(one: EvidenceSet, *, cache: Path, vectors: Path | None = None) -> list[Case]:
    """The cases of a set, from the folder `cache` where they are kept there already.

    `vectors` is a file that keeps vectors between runs (development only).
    """
    file = cache / f"{one.name.replace(' ', '-')}.jsonl"
    if not file.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".part")
        with partial.open("w", encoding="utf-8") as lines:
            asyncio.run(_ask(one, vectors, lines))
        partial.replace(file)
    with file.open(encoding="utf-8") as lines:
        return [_read(json.loads(line)) for line in lines]


async def _ask(one: EvidenceSet, vectors: Path | None, lines: TextIO) -> None:
    """Ask every question and write its case as it comes, so that a look into the file tells how far it is."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        create_workspace(root, settings_text(_THREADS))
        container = Tadasu.open(root).container
        if vectors is not None:
            container.__dict__["encoder"] = CachedEncoder(container.encoder, vectors)
        try:
            await index(articles(one.rows()), encoder=container.encoder, store=container.store)
            loop = correction_loop(container)
            for question in one.questions():
                ledger = RunLedger(SystemClock())
                budget = Budget(Limits(), ledger)
                await budget.begin()
                corrected = await loop.run(
                    question.text,
                    scope=Scope(reader=container.reader),
                    language=one.language,
                    ledger=ledger,
                    budget=budget,
                )
                case = Case(question.text, one.language, question.answers, corrected.passages)
                lines.write(json.dumps(_written(case), ensure_ascii=False) + "\n")
                lines.flush()
        finally:
            await container.close()


def _written(case: Case) -> dict[str, object]:
    return {
        "question": case.question,
        "language": case.language,
        "answers": case.answers,
        "passages": [
            {
                "id": one.passage.id,
                "document": one.passage.document_id,
                "title": one.passage.title,
                "start": one.passage.span.start,
                "text": one.passage.text,
                "strips": [(strip.start, strip.end) for strip in one.passage.strips],
                "level": one.grade.level.value,
                "probability": one.grade.probability,
                "scores": one.grade.strip_scores,
                "signals": dict(one.grade.signals),
                "tier": one.grade.tier,
                "grader": one.grade.grader,
            }
            for one in case.passages
        ],
    }


def _read(line: dict[str, object]) -> Case:
    found = []
    for row in line["passages"]:  # type: ignore[attr-defined]
        passage = Passage(
            id=row["id"],
            document_id=row["document"],
            source=row["document"],
            title=row["title"],
            text=row["text"],
            span=Span(row["start"], row["start"] + len(row["text"])),
            strips=tuple(Span(*span) for span in row["strips"]),
            language=str(line["language"]),
        )
        grade = Grade(
            passage_id=row["id"],
            level=Level(row["level"]),
            probability=row["probability"],
            reason="kept from before",
            grader=row["grader"],
            tier=row["tier"],
            strip_scores=tuple(row["scores"]),
            signals=row["signals"],
        )
        found.append(GradedPassage(passage, grade))
    return Case(str(line["question"]), str(line["language"]), tuple(line["answers"]), tuple(found))  # type: ignore[arg-type]
