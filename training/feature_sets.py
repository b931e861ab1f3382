"""Which questions and passages the first grading tier is fitted, calibrated and measured on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tadasu.testing.articles import chunked
from tadasu.testing.datasets import Part, PassageRow, Question, holds_answer, passages, questions
from tadasu.testing.splits import Split, split_of

CHUNK = 900
"""Papers of covidqa are cut to passages of at most this many code points."""

MEASURED = (Part.JSQUAD_VALID, Part.JAQUAD_DEV, Part.XQUAD_EN, Part.POPQA, Part.COVIDQA)
"""Sets whose TEST splits the model card reports."""

# Small enough that everything is encoded in minutes on two cores.
_JAPANESE_PASSAGES = {Split.TRAIN: 2600, Split.CALIBRATE: 800}
_PAPERS = {Split.TRAIN: 600, Split.CALIBRATE: 350, Split.TEST: 300}
_DISTRACTORS = {Split.TRAIN: 500, Split.CALIBRATE: 350, Split.TEST: 500}
_POOLS = {
    "ja": (Part.JAQUAD_TRAIN, Part.JAQUAD_DEV, Part.JSQUAD_VALID),
    "en": (Part.XQUAD_EN, Part.POPQA, Part.COVIDQA),
}
_QUESTIONS = {Split.TRAIN: 2400, Split.CALIBRATE: 1200, Split.TEST: 600}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of the indexed passages that hold its answer."""

    question: Question
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """An index and what is asked of it. `name` says set and split; `fitted_on` are the rows before any cutting.

    `others` are all questions of the split in this language: where `feature_swaps` takes other words from.
    """

    name: str
    language: str
    rows: tuple[PassageRow, ...]
    asked: tuple[Asked, ...]
    fitted_on: tuple[PassageRow, ...]
    others: tuple[Question, ...] = ()


def japanese(split: Split) -> QuestionSet:
    """jaquad's train part: articles in the order of their hash until there are enough passages."""
    rows = _articles(_of(Part.JAQUAD_TRAIN, split), limit=_JAPANESE_PASSAGES[split])
    return _set(f"jaquad {split.value}", "ja", rows, rows, questions(Part.JAQUAD_TRAIN), split=split)


def english(split: Split, *, with_xquad: bool = True, with_distractors: bool = True) -> QuestionSet:
    """popqa, covidqa, xquad_en and, as distractors, wiki_en: all of one split, in one index."""
    papers = _papers(split)
    whole = [*papers, *_of(Part.POPQA, split)]
    asked: list[Question] = [*questions(Part.COVIDQA), *questions(Part.POPQA)]
    if with_xquad:
        whole += _of(Part.XQUAD_EN, split)
        asked += questions(Part.XQUAD_EN)
    if with_distractors:
        whole += _articles(_of(Part.WIKI_EN, split), limit=_DISTRACTORS[split])
    rows = [*chunked(Part.COVIDQA, papers, limit=CHUNK), *whole[len(papers) :]]
    return _set(f"english {split.value}", "en", rows, whole, asked, split=split)


def measured(part: Part) -> QuestionSet:
    """One set's TEST passages and questions; English ones among TEST distractors."""
    whole = _papers(Split.TEST) if part is Part.COVIDQA else _of(part, Split.TEST)
    rows = chunked(part, whole, limit=CHUNK) if part is Part.COVIDQA else list(whole)
    language = "ja" if part in {Part.JSQUAD_VALID, Part.JAQUAD_DEV} else "en"
    if language == "en":
        rows += _articles(_of(Part.WIKI_EN, Split.TEST), limit=_DISTRACTORS[Split.TEST])
    return _set(f"{part.name.lower()} test", language, rows, whole, questions(part), split=Split.TEST)


def _of(part: Part, split: Split) -> list[PassageRow]:
    return [row for row in passages(part) if split_of(part, row.key) is split]


def _papers(split: Split) -> list[PassageRow]:
    """Papers in the order of their keys' hashes, until they make enough passages."""
    chosen: list[PassageRow] = []
    pieces = 0
    for paper in sorted(_of(Part.COVIDQA, split), key=lambda row: _order(row.key)):
        if pieces >= _PAPERS[split]:
            break
        chosen.append(paper)
        pieces += len(chunked(Part.COVIDQA, [paper], limit=CHUNK))
    return chosen


def _articles(rows: Sequence[PassageRow], *, limit: int) -> list[PassageRow]:
    """Whole articles in the order of their keys' hashes, until `limit` rows are reached."""
    chosen: list[PassageRow] = []
    for row in sorted(rows, key=lambda row: _order(row.key)):
        if len(chosen) >= limit and row.key != chosen[-1].key:
            break
        chosen.append(row)
    return chosen


def _set(
    name: str,
    language: str,
    rows: Sequence[PassageRow],
    whole: Sequence[PassageRow],
    asked: Iterable[Question],
    *,
    split: Split,
) -> QuestionSet:
    pieces: dict[str, list[PassageRow]] = {}
    for row in rows:
        pieces.setdefault(row.id.partition(".")[0], []).append(row)
    found = []
    for question in asked:
        if split_of(question.part, question.key) is not split:
            continue
        inside = [piece for id_ in question.gold for piece in pieces.get(id_, [])]
        split_off = any("." in piece.id for piece in inside)
        gold = {piece.id for piece in inside if not split_off or holds_answer(piece.text, question.answers)}
        # A short answer that stands in many pieces of a paper is given in one of them and mentioned in the others.
        if gold and not (split_off and len(gold) > 1):
            found.append(Asked(question, frozenset(gold)))
    found.sort(key=lambda one: _order(one.question.id + one.question.text))
    others = [one for part in _POOLS[language] for one in questions(part) if split_of(part, one.key) is split]
    return QuestionSet(name, language, tuple(rows), tuple(found[: _QUESTIONS[split]]), tuple(whole), tuple(others))


def _order(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
