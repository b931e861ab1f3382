"""Questions with their corpora for the benchmark of extractive answers, and the real pipeline that is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.settings_file import settings_text
from tadasu.app.tadasu import Tadasu
from tadasu.app.workspace import SETTINGS_FILE, create_workspace
from tadasu.core.documents import Scope
from tadasu.core.runs import Run
from tadasu.testing.articles import articles, document_id, index, language_of
from tadasu.testing.datasets import Part, PassageRow, Question, passages, questions
from tadasu.testing.splits import Split, split_of

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
TUNED = (
    AnswerSet("xquad_en", Part.XQUAD_EN, Split.TRAIN, among=(Part.WIKI_EN,)),
    AnswerSet("jaquad", Part.JAQUAD_TRAIN, Split.CALIBRATE, only_split=True),
)
"""What rules are tried on while they are written."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, answered with its article in the index and with all of its article hidden."""

    question: Question
    there: Run
    gone: Run


@asynccontextmanager
async def opened(one: AnswerSet, folder: Path) -> AsyncIterator[Tadasu]:
    """A workspace in `folder` with the passages of `one`, made where it is not there; default settings, no web."""
    root = folder / f"{one.name}-{one.split.value}" if one.only_split else folder / one.name
    if not (root / SETTINGS_FILE).is_file():
        create_workspace(root, settings_text(_THREADS))
    tadasu = Tadasu.open(root)
    container = tadasu.container
    try:
        held = await container.store.statistics(reader=container.reader)
        rows = one.rows()
        if held.passages != len(rows):
            await index(articles(rows), encoder=container.encoder, store=container.store)
        yield tadasu
    finally:
        await container.close()


def without_article(one: AnswerSet, question: Question, tadasu: Tadasu) -> Scope:
    """All but what the set holds of the question's article: the store hides it before it ranks anything."""
    hidden = {document_id(row) for row in _rows_by_key(one).get(question.key, ())}
    return Scope(reader=tadasu.container.reader, exclude_documents=frozenset(hidden))


async def ask_all(one: AnswerSet, asked: Sequence[Question], tadasu: Tadasu) -> AsyncIterator[Asked]:
    """Every question twice, one after the other."""
    for question in asked:
        there = await tadasu.ask(question.text, language=one.language)
        gone = await tadasu.ask(question.text, language=one.language, scope=without_article(one, question, tadasu))
        yield Asked(question, there, gone)


def _rows_by_key(one: AnswerSet) -> dict[str, list[PassageRow]]:
    found: dict[str, list[PassageRow]] = {}
    for row in _all_rows(one):
        found.setdefault(row.key, []).append(row)
    return found


def _all_rows(one: AnswerSet) -> Iterator[PassageRow]:
    for part in (one.part, *one.among):
        yield from passages(part)
