"""Which pairs graders are measured on: TEST splits only, asked of a real index through our own hybrid search."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tadasu.testing.articles import chunked
from tadasu.testing.datasets import Part, PassageRow, Question, holds_answer, passages, questions, rows
from tadasu.testing.splits import Split, split_of

CHUNK: Final = 900
"""Papers of covidqa are cut to passages of at most this many code points; about 200 tokens."""
LONG: Final = 4000
"""The same papers as long passages, which no grader here reads in one window; about 900 tokens."""
K: Final = 10
NEAR: Final = 4
HARD: Final = " hard"
"""How the names of sets end whose questions were chosen to be hard."""
_FIRST: Final = 120
_OVERTAKEN: Final = "the search puts noise before the answer (biased against search and features)"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the indexed passages that hold its answer, and passages to stand `beside` them whatever is found."""

    question: Question
    gold: frozenset[str]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairSet:
    """An index and what is asked of it.

    `within_article` asks only the article of the answer (topical noise); `overtaken` keeps only the first so many
    questions for which the search puts another passage before the answer. `k` candidates are taken, of which the gold
    is one, at its own place in the ranking, even where it lies deeper.
    """

    name: str
    language: str
    made: str
    rows: tuple[PassageRow, ...]
    asked: tuple[Asked, ...]
    k: int = K
    within_article: bool = False
    overtaken: int = 0


def pair_sets(*, smoke: bool = False) -> list[PairSet]:
    """All sets, in the order of the table; with `smoke`, four questions of each over fewer distractors."""
    papers = _of(Part.COVIDQA)
    distractors = _ordered(_of(Part.WIKI_EN))[: 40 if smoke else 500]
    makers: Sequence[Callable[[], PairSet]] = (
        lambda: _jsquad(limit=4 if smoke else 500),
        lambda: _xquad(distractors),
        lambda: _popqa(distractors),
        lambda: _papers("covidqa", papers, limit=CHUNK, questions_limit=_FIRST),
        lambda: _papers("covidqa long", papers, limit=LONG, questions_limit=50, k=8),
        lambda: _topical_english(papers),
        _topical_japanese,
        lambda: _near_english(papers),
        _near_japanese,
        lambda: _hard_english(papers),
        _hard_japanese,
    )
    found = [make() for make in makers]
    return [_cut(one) for one in found] if smoke else found


def _cut(one: PairSet) -> PairSet:
    asked = one.asked[:4]
    wanted = {id_ for item in asked for id_ in (*item.gold, *item.beside)}
    keys = {row.key for row in one.rows if row.id in wanted}
    needed = [row for row in one.rows if row.id in wanted]
    same = [row for row in one.rows if row.key in keys and row.id not in wanted][:60]
    others = [row for row in one.rows if row.key not in keys][:20]
    return replace(one, rows=(*needed, *same, *others), asked=asked, overtaken=0)


def _jsquad(*, limit: int) -> PairSet:
    found = _plain(Part.JSQUAD_VALID)[:limit]
    made = "jsquad valid; what hybrid search brings back without the answer"
    return PairSet("jsquad", "ja", made, tuple(_of(Part.JSQUAD_VALID)), tuple(found))


def _xquad(distractors: Sequence[PassageRow]) -> PairSet:
    made = "held-back articles of xquad_en among paragraphs of wiki_en; as above"
    return PairSet("xquad_en", "en", made, (*_of(Part.XQUAD_EN), *distractors), tuple(_plain(Part.XQUAD_EN)))


def _popqa(distractors: Sequence[PassageRow]) -> PairSet:
    """Gold is the first paragraph where it holds an alias; four of the others are of the same relation."""
    by_text = {(row.title, row.text): row for row in _of(Part.POPQA)}
    first: dict[str, PassageRow] = {}
    relation: dict[str, str] = {}
    for item in rows(Part.POPQA, "questions"):
        one = item["passages"][0]
        if (row := by_text.get((one["title"], one["text"]))) is not None:
            first[item["question_id"]], relation[item["question_id"]] = row, item["relation"]
    found = []
    for question in _ordered_questions(questions(Part.POPQA)):
        if question.id not in first or split_of(question.part, question.key) is not Split.TEST:
            continue
        gold = first[question.id]
        if not holds_answer(gold.text, question.answers):
            continue
        alike = [first[id_] for id_, of in relation.items() if of == relation[question.id] and id_ != question.id]
        alike = [row for row in alike if row.id != gold.id and not holds_answer(row.text, question.answers)]
        alike.sort(key=lambda row: _order(f"{question.id}\n{row.id}"))
        beside = tuple(dict.fromkeys(row.id for row in alike))[:4]
        found.append(Asked(question, frozenset({gold.id}), beside))
    made = "first paragraphs; four paragraphs of the same relation and the best answer-free ones of hybrid search"
    return PairSet("popqa", "en", made, (*_of(Part.POPQA), *distractors), tuple(found))


def _papers(
    name: str, papers: Sequence[PassageRow], *, limit: int, questions_limit: int, k: int = K, within: bool = False
) -> PairSet:
    pieces = chunked(Part.COVIDQA, papers, limit=limit)
    made = f"papers in passages of at most {limit} code points; what hybrid search brings back without the answer"
    return PairSet(name, "en", made, tuple(pieces), tuple(_in_pieces(pieces)[:questions_limit]), k, within)


def _topical_english(papers: Sequence[PassageRow]) -> PairSet:
    pieces = chunked(Part.COVIDQA, papers, limit=CHUNK)
    made = "hybrid search's top ten within the covidqa paper of the answer, without any alias of it"
    asked = _in_pieces(pieces)[_FIRST:]
    return PairSet("topical en", "en", made, tuple(pieces), tuple(asked), K, within_article=True)


def _topical_japanese() -> PairSet:
    found, asked = _large_articles()
    made = "hybrid search's top ten within the jsquad article (of ten passages or more) of the answer, as above"
    return PairSet("topical ja", "ja", made, found, asked[-200:], K, within_article=True)


def _near_english(papers: Sequence[PassageRow]) -> PairSet:
    """Noise that is hard because it is near, whatever the search made of the answer: no question is chosen by it."""
    pieces = chunked(Part.COVIDQA, papers, limit=CHUNK)
    made = "as topical en, every question, the best three passages of noise only"
    return PairSet("topical en near", "en", made, tuple(pieces), tuple(_in_pieces(pieces)), NEAR, within_article=True)


def _near_japanese() -> PairSet:
    found, asked = _large_articles()
    made = "as topical ja, the best three passages of noise only"
    return PairSet("topical ja near", "ja", made, found, asked[-200:], NEAR, within_article=True)


def _hard_english(papers: Sequence[PassageRow]) -> PairSet:
    pieces = chunked(Part.COVIDQA, papers, limit=CHUNK)
    made = f"as topical en, the first questions for which {_OVERTAKEN}"
    asked = tuple(_in_pieces(pieces))
    return PairSet(f"topical en{HARD}", "en", made, tuple(pieces), asked, K, within_article=True, overtaken=80)


def _hard_japanese() -> PairSet:
    found, asked = _large_articles()
    made = f"as topical ja, the first questions for which {_OVERTAKEN}"
    return PairSet(f"topical ja{HARD}", "ja", made, found, asked[:-200], K, within_article=True, overtaken=60)


def _large_articles() -> tuple[tuple[PassageRow, ...], tuple[Asked, ...]]:
    found = _of(Part.JSQUAD_VALID)
    counts = Counter(row.key for row in found)
    return tuple(found), tuple(one for one in _plain(Part.JSQUAD_VALID) if counts[one.question.key] >= K)


def _plain(part: Part) -> list[Asked]:
    here = {row.id for row in _of(part)}
    found = [one for one in _ordered_questions(questions(part)) if here.issuperset(one.gold)]
    return [Asked(one, frozenset(one.gold)) for one in found]


def _in_pieces(pieces: Sequence[PassageRow]) -> list[Asked]:
    """Questions whose answer is in exactly one piece: in several, it is given in one and mentioned in the others."""
    of_paper: dict[str, list[PassageRow]] = {}
    for piece in pieces:
        of_paper.setdefault(piece.id.partition(".")[0], []).append(piece)
    found = []
    for question in _ordered_questions(questions(Part.COVIDQA)):
        own = [piece for id_ in question.gold for piece in of_paper.get(id_, [])]
        gold = {piece.id for piece in own if holds_answer(piece.text, question.answers)}
        if len(gold) == 1:
            found.append(Asked(question, frozenset(gold)))
    return found


def _of(part: Part) -> list[PassageRow]:
    return [row for row in passages(part) if split_of(part, row.key) is Split.TEST]


def _ordered(found: Iterable[PassageRow]) -> list[PassageRow]:
    return sorted(found, key=lambda row: _order(row.key))


def _ordered_questions(found: Iterable[Question]) -> list[Question]:
    return sorted(found, key=lambda one: _order(f"{one.id}\n{one.text}"))


def _order(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
