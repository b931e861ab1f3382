"""Statements that give different figures for one thing: of two documents, or of one that corrects itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.answering.generation.contesting import contests, not_denied
from tadasu.answering.generation.days import weekdays
from tadasu.answering.generation.expectation import base_unit, expected_units
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.outdated import superseded
from tadasu.answering.generation.quoting import Quote, codes
from tadasu.core.answers import Evidence
from tadasu.text.numbers import Number, same_date, same_quantity
from tadasu.text.polarity import denies

# Share of words, figures aside, that two statements about one thing have in common.
_SAME_THING = 0.5
# Share of the question's words in the better statement that the other must have too.
_AS_CLOSE = 0.8
COUNTERS = frozenset(("日", "目", "日目", "何日", "回", "初日"))
"""What only counts in a row, and is there in one notation and not in the other: 3日目, 初日."""
# Share of the question's words in a disputed statement and above it.
_DISPUTED = 0.5
# Score above which two statements in different languages are taken to answer the same question.
_SURE = 0.5


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that exclude each other, newest first, undated ones last; one per document, but for corrections.

    What a document says that is headed as superseded is left out beside others; then one side may be all.
    """

    sides: tuple[Quote, ...]


def find_conflict(
    question: str, best: Quote, others: Sequence[Quote], *, evidence: Sequence[Evidence] = ()
) -> Conflict | None:
    """The conflict between `best` and what other documents say about the same thing; None where there is none.

    A statement that calls others wrong (see `contesting`) is a side of its own, also beside one of its own document,
    and need not put the thing in their words. It is never believed for saying so.
    """
    sides = [best]
    disputed = contests(best, evidence)
    for other in others:
        dispute = disputed or contests(other, evidence)
        documents = {side.evidence.strip.document_id for side in sides}
        if other.evidence.strip.document_id in documents and not dispute:
            continue
        if not _same_thing(question, best, other) and not (dispute and _same_answer(question, best, other)):
            continue
        if all(_differ(question, side.facts, other.facts) for side in sides):
            sides.append(other)
    valid = [side for side in sides if not superseded(side)]
    if valid and not any(of_the_time(side, facts_of(question)) for side in sides):
        sides = valid
    if len(sides) < 2:
        return Conflict(tuple(sides)) if sides != [best] else None
    dated = sorted((s for s in sides if s.evidence.strip.date), key=lambda s: s.evidence.strip.date, reverse=True)
    return Conflict((*dated, *(s for s in sides if not s.evidence.strip.date)))


def of_the_time(quote: Quote, asked: Facts) -> bool:
    """Whether the question names a date and the quotation's document is of that date."""
    return any(same_date(date, mine) for date in asked.dates for mine in facts_of(quote.evidence.strip.date).dates)


def _same_thing(question: str, a: Quote, b: Quote) -> bool:
    if of_the_time(a, facts_of(question)) != of_the_time(b, facts_of(question)):
        return False
    asked_codes = codes(question)
    if not (asked_codes and asked_codes <= a.about & b.about) and codes(a.text) != codes(b.text):
        return False
    if {a.facts.language, b.facts.language} == {"en", "ja"}:
        return bool(asked_codes and expected_units(question)) and min(a.evidence.score, b.evidence.score) >= _SURE
    known = facts_of("\n".join(asked_codes)).terms | COUNTERS
    mine, theirs = _words(a.facts) - known, _words(b.facts) - known
    asked = facts_of(question).terms - known
    if not mine or not theirs or len(asked & theirs) < _AS_CLOSE * len(asked & mine):
        return False
    return len(mine & theirs) >= _SAME_THING * min(len(mine), len(theirs))


def _same_answer(question: str, a: Quote, b: Quote) -> bool:
    """Whether both answer the question, by its words in them and above them: enough where one contests the other."""
    if codes(question) and not codes(question) <= (a.about & b.about):
        return False
    asked = facts_of(question).terms
    known = asked - COUNTERS or asked
    return all(len(known & (one.facts.terms | one.context)) >= _DISPUTED * len(known) for one in (a, b))


def _words(facts: Facts) -> frozenset[str]:
    return frozenset(term for term in facts.terms if not any(c.isdigit() for c in term))


def _differ(question: str, a: Facts, b: Facts) -> bool:
    """Whether both give a figure of the same kind that the question does not, and none of them agrees."""
    asked = facts_of(question)
    days_a, days_b = weekdays(a.text, question=question), weekdays(b.text, question=question)
    if days_a and days_b:
        return not days_a & days_b
    dates_a = [d for d in a.dates if not asked.states_date(d)]
    dates_b = [d for d in b.dates if not asked.states_date(d)]
    if dates_a and dates_b:
        return not any(same_date(x, y) or same_date(y, x) for x in dates_a for y in dates_b)
    wanted = expected_units(question)
    mine, theirs = _figures(a, asked), _figures(b, asked)
    if wanted and any(base_unit(n) in wanted for n in mine) and any(base_unit(n) in wanted for n in theirs):
        mine, theirs = ([n for n in side if base_unit(n) in wanted] for side in (mine, theirs))
    here, there = a.ordinals - asked.ordinals, b.ordinals - asked.ordinals
    if here and there and not mine and not theirs:
        return not here & there
    pairs = [(x, y) for x in mine for y in theirs if base_unit(x) == base_unit(y)]
    if pairs:
        return not any(same_quantity(x, y) for x, y in pairs)
    return not mine and not theirs and _words(a) == _words(b) and denies(a.text) != denies(b.text)


def _figures(facts: Facts, asked: Facts) -> list[Number]:
    # A place in a row is told apart: the third day is no quantity of days.
    told = [
        n
        for n in facts.numbers
        if not (n.spelled and not n.unit) and not asked.states_number(n) and int(n.value) not in facts.ordinals
    ]
    return not_denied(told, facts)
