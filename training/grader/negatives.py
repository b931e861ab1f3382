"""Groups of a question, the passage that answers it, and passages that only look as if they did.

Negatives are mined with our own retrieval over a real index: what the student must tell apart is what it will be shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tadasu.answering.retrieval.hybrid import HybridSearch
from tadasu.core.documents import Passage, Scope
from tadasu.ports import Encoder
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.articles import articles
from tadasu.testing.datasets import Part, normal
from tadasu.testing.splits import Split
from tadasu.text.segment import segment
from training.feature_sets import Asked, QuestionSet
from training.feature_swaps import Swapper
from training.grader.answers import answer_spans, says, without_answer
from training.grader.rows import Group, Kind, RowPassage
from training.grader.sets import order

_DEPTH = 30
_TOPICAL, _RETRIEVED, _RANDOM, _NEGATIVES = 4, 4, 1, 10
_SWAPPED_SHARE, _SWAPPED_PASSAGES = 0.3, 5
_LEAST_TEXT = 30
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Mining:
    """One index and what is asked of it: the passages as the index has them, and the search."""

    questions: QuestionSet
    split: Split
    search: HybridSearch
    encoder: Encoder
    swapper: Swapper
    by_id: Mapping[str, Passage]
    by_article: Mapping[str, Sequence[Passage]]
    shuffled: Sequence[Passage]


def mining(questions: QuestionSet, split: Split, *, search: HybridSearch, encoder: Encoder) -> Mining:
    """All that mining of one index needs."""
    found = articles(questions.rows)
    flat = [passage for article in found for passage in article.passages]
    return Mining(
        questions=questions,
        split=split,
        search=search,
        encoder=encoder,
        swapper=Swapper(questions.language, pool=questions.others, rows=questions.rows),
        by_id={passage.id: passage for passage in flat},
        by_article={article.document.id: article.passages for article in found},
        shuffled=sorted(flat, key=lambda one: order(one.id)),
    )


async def labelled(mine: Mining, asked: Sequence[Asked], *, name: str) -> list[Group]:
    """A group for every question, and for a share of them a second one with another word in the question."""
    swaps = {
        one.question.id: other
        for one in asked
        if chance("swap", one) < _SWAPPED_SHARE and (other := mine.swapper.swapped(one)) is not None
    }
    encode_ahead(mine.encoder, [one.question.text for one in [*asked, *swaps.values()]])
    groups: list[Group] = []
    for number, one in enumerate(asked):
        groups.append(await _group(mine, one, name=name))
        if (other := swaps.get(one.question.id)) is not None:
            groups.append(await _swapped_group(mine, other, name=name, before=one.question.text))
        if number % 1000 == 999:
            print(f"  {name}: {number + 1} of {len(asked)} questions", file=sys.stderr, flush=True)
    return groups


def topical(mine: Mining, asked: Sequence[Asked], *, name: str, limit: int) -> Iterator[Group]:
    """Questions with their gold and at most `limit` passages of the same article that do not say the answer."""
    for one in asked:
        others = _same_article(mine, one)
        if others:
            noise = [as_row(passage, label=0, kind=Kind.TOPICAL) for passage in others[:limit]]
            yield _made(mine, one, name=name, passages=[*_gold_rows(mine, one), *noise])


async def found_by(mine: Mining, query: str, *, k: int) -> list[Passage]:
    """What our retrieval gives for a query, best first."""
    retrieval = await mine.search.search(query, k=k, scope=Scope(), ledger=RunLedger(SystemClock()))
    return [mine.by_id[candidate.passage.id] for candidate in retrieval.candidates]


def encode_ahead(encoder: Encoder, queries: Sequence[str]) -> None:
    """Let an encoder that remembers see queries in batches, which is faster than one by one."""
    for start in range(0, len(queries), _BATCH):
        encoder.encode_queries(queries[start : start + _BATCH])


def as_row(passage: Passage, *, label: int, kind: Kind, answers: Sequence[str] = ()) -> RowPassage:
    """A passage of an index as one of a group."""
    return RowPassage(
        title=passage.title,
        text=passage.text,
        strips=tuple((strip.start, strip.end) for strip in passage.strips),
        label=label,
        spans=answer_spans(passage.text, answers) if label == 1 else (),
        kind=kind,
    )


def chance(what: str, asked: Asked) -> float:
    """In [0, 1), drawn for a question and a purpose, the same every time."""
    return int(order(f"{what}\n{asked.question.id}\n{asked.question.text}")[:13], 16) / 16**13


async def _group(mine: Mining, asked: Asked, *, name: str) -> Group:
    found = await found_by(mine, asked.question.text, k=_DEPTH)
    same = {passage.id for passage in _same_article(mine, asked)}
    noise = [passage for passage in found if passage.id in same]
    noise += [passage for passage in _same_article(mine, asked) if passage.id not in {one.id for one in noise}]
    homes = _homes(mine, asked)
    elsewhere = [one for one in found if one.document_id not in homes and _answers_not(asked, one)]
    rows = [as_row(passage, label=0, kind=Kind.TOPICAL) for passage in noise[:_TOPICAL]]
    rows += [as_row(passage, label=0, kind=Kind.RETRIEVED) for passage in elsewhere[:_RETRIEVED]]
    chosen = _random(mine, asked, avoid={passage.id for passage in found})
    rows += [as_row(passage, label=0, kind=Kind.RANDOM) for passage in chosen]
    rows = [*_removed(mine, asked), *rows]
    more = [as_row(passage, label=0, kind=Kind.RETRIEVED) for passage in elsewhere[_RETRIEVED:]]
    rows += more[: max(_NEGATIVES - len(rows), 0)]
    return _made(mine, asked, name=name, passages=[*_gold_rows(mine, asked), *rows[:_NEGATIVES]])


async def _swapped_group(mine: Mining, asked: Asked, *, name: str, before: str) -> Group:
    """What used to answer, and what is found for the question as it is now: nothing answers it.

    What is found and names the new word might, and is left out.
    """
    text = asked.question.text
    found = await found_by(mine, text, k=2 * _SWAPPED_PASSAGES)
    gold = [mine.by_id[id_] for id_ in sorted(asked.gold)]
    word = normal(_new_word(before, text))
    others = [one for one in found if one.id not in asked.gold and word not in normal(f"{one.title} {one.text}")]
    passages = [*gold, *others][:_SWAPPED_PASSAGES]
    made = _made(
        mine,
        asked,
        name=name,
        passages=[as_row(passage, label=0, kind=Kind.OTHER_ENTITY) for passage in passages],
    )
    return replace(made, id=f"{made.id}.swapped", answers=())


def _new_word(before: str, after: str) -> str:
    """What `after` has where `before` has another word; never empty where they differ and `after` says something."""
    start = _agreeing(before, after)
    end = _agreeing(before[start:][::-1], after[start:][::-1])
    return after[start : len(after) - end].strip() or after


def _agreeing(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _made(mine: Mining, asked: Asked, *, name: str, passages: Sequence[RowPassage]) -> Group:
    question = asked.question
    return Group(
        set=name,
        split=mine.split,
        language=mine.questions.language,
        id=question.id,
        question=question.text,
        answers=question.answers,
        passages=tuple(passages),
    )


def _gold_rows(mine: Mining, asked: Asked) -> list[RowPassage]:
    answers = asked.question.answers
    return [as_row(mine.by_id[id_], label=1, kind=Kind.GOLD, answers=answers) for id_ in sorted(asked.gold)]


def _removed(mine: Mining, asked: Asked) -> list[RowPassage]:
    """The first gold passage without its answer, cut to strips anew."""
    passage = mine.by_id[min(asked.gold)]
    strips = [(strip.start, strip.end) for strip in passage.strips]
    text = without_answer(passage.text, strips, asked.question.answers)
    if len(text) < _LEAST_TEXT or text == passage.text:
        return []
    cut = tuple(segment(text, language=passage.language))
    return [RowPassage(passage.title, text, cut, label=0, spans=(), kind=Kind.ANSWER_REMOVED)]


def _homes(mine: Mining, asked: Asked) -> set[str]:
    return {mine.by_id[id_].document_id for id_ in asked.gold}


def _same_article(mine: Mining, asked: Asked) -> list[Passage]:
    answers = asked.question.answers
    found = [
        passage
        for home in sorted(_homes(mine, asked))
        for passage in mine.by_article[home]
        if passage.id not in asked.gold and not says(passage.text, answers)
    ]
    return sorted(found, key=lambda one: order(f"{asked.question.id}\n{one.id}"))


def _answers_not(asked: Asked, passage: Passage) -> bool:
    """Whether a passage of another article is surely none.

    popqa's answers are a few occupations and cities that stand everywhere: there, naming another person is enough.
    """
    if asked.question.part is Part.POPQA:
        return asked.question.key.removeprefix("title:") not in normal(f"{passage.title} {passage.text}")
    return not says(passage.text, asked.question.answers)


def _random(mine: Mining, asked: Asked, *, avoid: set[str]) -> list[Passage]:
    start = int(order(f"random\n{asked.question.id}")[:8], 16) % max(len(mine.shuffled), 1)
    around = [*mine.shuffled[start : start + 40], *mine.shuffled[:40]]
    homes = _homes(mine, asked)
    fit = [
        passage
        for passage in around
        if passage.id not in avoid
        and passage.document_id not in homes
        and not says(passage.text, asked.question.answers)
    ]
    return fit[:_RANDOM]
