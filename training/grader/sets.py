"""Which articles and questions the second tier is trained and calibrated on. TEST is never read.

An English split is one index of all its sets, so that a question of one meets passages of the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tadasu.testing.articles import chunked
from tadasu.testing.datasets import (
    PASSAGE_PARTS,
    Part,
    PassageRow,
    Question,
    holds_answer,
    item_key,
    passages,
    questions,
    rows,
)
from tadasu.testing.splits import BENCHMARK_ONLY, Split, split_of
from training.feature_sets import CHUNK, Asked, QuestionSet

ENGLISH: Mapping[str, Part] = {"xquad_en": Part.XQUAD_EN, "popqa": Part.POPQA, "covidqa": Part.COVIDQA}
"""English sets with questions, as files name them."""

JAPANESE: Mapping[str, Part] = {"jaquad": Part.JAQUAD_TRAIN}
"""Japanese sets with questions, as files name them."""

_POOL = 6000


@dataclass(frozen=True, slots=True)
class Size:
    """How much of a split is taken; a number limits passages indexed (whole articles) or questions."""

    jaquad_passages: int
    jaquad_questions: int
    papers: int
    distractors: int
    english_questions: int = 2000
    pseudo: int = 5000


FIRST = {Split.TRAIN: Size(2600, 3000, 600, 500), Split.CALIBRATE: Size(800, 1500, 350, 350, pseudo=200)}
"""Small enough that training can begin soon."""

FULL = {Split.TRAIN: Size(5600, 9000, 2400, 4000), Split.CALIBRATE: Size(800, 1500, 350, 350, pseudo=200)}
"""All that is trained on."""

SMOKE = {
    Split.TRAIN: Size(40, 24, 20, 20, english_questions=12, pseudo=12),
    Split.CALIBRATE: Size(20, 12, 20, 20, english_questions=8, pseudo=8),
}
"""A few rows of everything, to see that the steps fit together."""


def japanese(split: Split, size: Size) -> QuestionSet:
    """jaquad's train part of one split."""
    found = _articles(_of(Part.JAQUAD_TRAIN, split), limit=size.jaquad_passages)
    return question_set(f"jaquad {split.value}", "ja", found, found, questions(Part.JAQUAD_TRAIN), split=split)


def english(split: Split, size: Size) -> QuestionSet:
    """xquad_en, popqa, covidqa and, as distractors, wiki_en: all of one split, in one index."""
    papers = _papers(split, limit=size.papers)
    whole = [*papers, *_of(Part.POPQA, split), *_of(Part.XQUAD_EN, split)]
    whole += _articles(_of(Part.WIKI_EN, split), limit=size.distractors)
    pieces = [*chunked(Part.COVIDQA, papers, limit=CHUNK), *whole[len(papers) :]]
    asked = [question for part in ENGLISH.values() for question in questions(part)]
    return question_set(f"english {split.value}", "en", pieces, whole, asked, split=split)


def question_set(
    name: str,
    language: str,
    pieces: Sequence[PassageRow],
    whole: Sequence[PassageRow],
    asked: Iterable[Question],
    *,
    split: Split,
) -> QuestionSet:
    """The questions of `split` that `pieces` answer, in the order of their hashes.

    Raises ValueError for a passage of another split.
    """
    strangers = [row.id for row in whole if split_of(row.part, row.key) is not split]
    if strangers or split is Split.TEST:
        raise ValueError(f"not of {split.value}, or never trained on: {strangers[:3]}")
    by_row: dict[str, list[PassageRow]] = {}
    for piece in pieces:
        by_row.setdefault(piece.id.partition(".")[0], []).append(piece)
    mine = [question for question in asked if split_of(question.part, question.key) is split]
    found = [Asked(question, gold) for question in mine if (gold := _gold(question, by_row))]
    found.sort(key=lambda one: order(one.question.id + one.question.text))
    others = sorted(mine, key=lambda one: order(one.id))[:_POOL]
    return QuestionSet(name, language, tuple(pieces), tuple(found), tuple(whole), tuple(others))


def asked_of(questions_: QuestionSet, part: Part, *, limit: int) -> list[Asked]:
    """The first `limit` questions of one part."""
    return [one for one in questions_.asked if one.question.part is part][:limit]


def open_questions(split: Split) -> list[Question]:
    """nq_open's questions of one split, without passages."""
    found = []
    for number, row in enumerate(rows(Part.NQ_OPEN)):
        key = item_key(Part.NQ_OPEN, row)
        if split_of(Part.NQ_OPEN, key) is split:
            found.append(Question(Part.NQ_OPEN, f"nq-{number}", row["question"], tuple(row["answer"]), (), key))
    return found


def relations() -> dict[str, tuple[str, str]]:
    """Subject and relation of every popqa question by its id."""
    return {row["question_id"]: (row["subject"], row["relation"]) for row in rows(Part.POPQA, "questions")}


def training_passages() -> list[PassageRow]:
    """Every passage that may be trained or calibrated on, papers whole."""
    parts = sorted(PASSAGE_PARTS - BENCHMARK_ONLY, key=lambda part: part.value)
    return [row for part in parts for row in passages(part) if split_of(part, row.key) is not Split.TEST]


def whole_texts(pieces: Iterable[str]) -> list[str]:
    """The texts, as their sets give them, that `pieces` are or were cut from.

    Raises ValueError where a piece is of no passage that may be trained on.
    """
    wanted = set(pieces)
    whole: list[str] = []
    found: set[str] = set()
    for row in training_passages():
        cut = [row, *(chunked(row.part, [row], limit=CHUNK) if row.part is Part.COVIDQA else [])]
        if here := wanted & {one.text for one in cut}:
            found |= here
            whole.append(row.text)
    if strangers := wanted - found:
        raise ValueError(f"{len(strangers)} passages are not training data, one begins {min(strangers)[:40]!r}")
    return whole


def order(text: str) -> str:
    """Sorts as if shuffled, the same way every time."""
    return hashlib.sha256(text.encode()).hexdigest()


def _gold(question: Question, by_row: Mapping[str, Sequence[PassageRow]]) -> frozenset[str]:
    inside = [piece for id_ in question.gold for piece in by_row.get(id_, [])]
    split_off = any("." in piece.id for piece in inside)
    gold = frozenset(piece.id for piece in inside if not split_off or holds_answer(piece.text, question.answers))
    # A short answer that stands in many pieces of a paper is given in one of them and mentioned in the others.
    return frozenset() if split_off and len(gold) > 1 else gold


def _of(part: Part, split: Split) -> list[PassageRow]:
    return [row for row in passages(part) if split_of(part, row.key) is split]


def _papers(split: Split, *, limit: int) -> list[PassageRow]:
    chosen: list[PassageRow] = []
    pieces = 0
    for paper in sorted(_of(Part.COVIDQA, split), key=lambda row: order(row.key)):
        if pieces >= limit:
            break
        chosen.append(paper)
        pieces += len(chunked(Part.COVIDQA, [paper], limit=CHUNK))
    return chosen


def _articles(found: Sequence[PassageRow], *, limit: int) -> list[PassageRow]:
    chosen: list[PassageRow] = []
    for row in sorted(found, key=lambda row: order(row.key)):
        if len(chosen) >= limit and row.key != chosen[-1].key:
            break
        chosen.append(row)
    return chosen
