"""Questions with their corpora for the benchmark of extractive answers, and the real pipeline that is asked."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.settings_file import settings_text
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import SETTINGS_FILE, create_workspace
from tadasu.core.documents import Scope
from tadasu.core.runs import Run
from tadasu.ports import WritingTask
from tadasu.testing.articles import articles, document_id, index, language_of
from tadasu.testing.datasets import Part, PassageRow, Question, passages, questions
from tadasu.testing.splits import Split, split_of
from training.feature_sets import Asked as Swappable
from training.feature_swaps import Swapper

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_THREADS = {"encoder.threads": 1, "scorer.threads": 1}


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions of `part` in `split`, over the passages of `part` and of the parts that are only `among` them."""

    name: str
    part: Part
    split: Split
    among: tuple[Part, ...] = ()
    only_split: bool = False
    """Whether the corpus is the split's passages alone (for sets so large that the rest adds nothing but time)."""

    @property
    def language(self) -> str:
        """Language of its questions."""
        return language_of(self.part)

    def rows(self) -> list[PassageRow]:
        """The passages that are searched."""
        own = passages(self.part)
        if self.only_split:
            own = tuple(row for row in own if split_of(self.part, row.key) is self.split)
        return [*own, *(row for part in self.among for row in passages(part))]

    def questions(self, count: int) -> list[Question]:
        """At most `count` of its questions, at equal distances, so that every part of the set is asked about."""
        mine = [one for one in questions(self.part) if split_of(self.part, one.key) is self.split]
        count = min(count, len(mine))
        return [mine[i * len(mine) // count] for i in range(count)]


MEASURED = (
    AnswerSet("xquad_en", Part.XQUAD_EN, Split.TEST, among=(Part.WIKI_EN,)),
    AnswerSet("jsquad", Part.JSQUAD_VALID, Split.TEST),
)
"""What is reported; nothing is fitted or chosen on it."""
FITTED = (
    AnswerSet("xquad_en", Part.XQUAD_EN, Split.CALIBRATE, among=(Part.WIKI_EN,)),
    AnswerSet("jaquad", Part.JAQUAD_TRAIN, Split.CALIBRATE, only_split=True),
)
"""What thresholds are fitted on."""

STATES = ("there", "gone", "neighbour")
"""The three states of a question: its article is in the index; it is not; it is, and the question asks for another
name, number or attribute than it has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it was asked in one state, and what came of it; `answers` is empty where there is none."""

    id: str
    state: str
    language: str
    answers: tuple[str, ...]
    run: Run


@asynccontextmanager
async def opened(one: AnswerSet, folder: Path, **settings: object) -> AsyncIterator[Tadasu]:
    """A workspace in `folder` with the passages of `one`, made where it is not there; no web, `settings` besides."""
    root = folder / (f"{one.name}-{one.split.value}" if one.only_split else one.name)
    if not (root / SETTINGS_FILE).is_file():
        create_workspace(root, settings_text(_THREADS))
    tadasu = Tadasu.open(root, **settings)
    container = tadasu.container
    try:
        held = await container.store.statistics(reader=container.reader)
        rows = one.rows()
        if held.passages != len(rows):
            await index(articles(rows), encoder=container.encoder, store=container.store)
        yield tadasu
    finally:
        await container.close()


async def ask_all(one: AnswerSet, count: int, tadasu: Tadasu) -> AsyncIterator[Asked]:
    """At most `count` questions in each state, one after the other.

    What hides an article is the scope of the search: the store leaves it out before it ranks anything.
    """
    rows = one.rows()
    documents: dict[str, set[str]] = {}
    for row in rows:
        documents.setdefault(row.key, set()).add(document_id(row))
    swapper = Swapper(one.language, pool=one.questions(10**6), rows=rows)
    for question in one.questions(count):
        hidden = Scope(reader=tadasu.container.reader, exclude_documents=frozenset(documents[question.key]))
        there = await tadasu.ask(question.text, language=one.language)
        yield Asked(question.id, "there", one.language, question.answers, there)
        gone = await tadasu.ask(question.text, language=one.language, scope=hidden)
        yield Asked(question.id, "gone", one.language, (), gone)
        other = swapper.swapped(Swappable(question, frozenset(question.gold)))
        if other is not None:
            run = await tadasu.ask(other.question.text, language=one.language)
            yield Asked(question.id, "neighbour", one.language, (), run)


def task_of(run: Run) -> WritingTask:
    """What the writer of `run` was given."""
    graded = (candidate.grade for one in run.rounds for candidate in one.candidates)
    return WritingTask(
        question=run.question,
        query=run.query if run.query != run.question else "",
        language=run.language,
        evidence=run.evidence,
        today=run.created_at[:10],
        nonce="",
        verdict=run.verdict,
        grades={one.passage_id: one.probability for one in graded if one.probability is not None},
    )
