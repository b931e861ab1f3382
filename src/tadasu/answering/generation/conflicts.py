"""Two documents that state different figures for one thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.quoting import Quote, codes
from tadasu.text.numbers import Number, same_date, same_quantity
from tadasu.text.polarity import denies
from tadasu.text.units import SCALES

# Share of words, figures aside, that two statements about one thing have in common.
_SAME_THING = 0.5


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that exclude each other, newest first, undated ones last; one per document."""

    sides: tuple[Quote, ...]


def find_conflict(question: str, best: Quote, others: Sequence[Quote]) -> Conflict | None:
    """The conflict between `best` and what other documents say about the same thing; None where there is none."""
    sides = [best]
    for other in others:
        documents = {side.evidence.strip.document_id for side in sides}
        if other.evidence.strip.document_id in documents or not _same_thing(question, best, other):
            continue
        if all(_differ(question, side.facts, other.facts) for side in sides):
            sides.append(other)
    if len(sides) < 2:
        return None
    dated = sorted((s for s in sides if s.evidence.strip.date), key=lambda s: s.evidence.strip.date, reverse=True)
    return Conflict((*dated, *(s for s in sides if not s.evidence.strip.date)))


def _same_thing(question: str, a: Quote, b: Quote) -> bool:
    if _codes(a) != _codes(b) and not (codes(question) <= _codes(a) & _codes(b) and codes(question)):
        return False
    if {a.facts.language, b.facts.language} == {"en", "ja"}:
        return bool(codes(question)) and min(a.evidence.score, b.evidence.score) >= 0.5
    mine, theirs = _words(a.facts), _words(b.facts)
    asked = facts_of(question).terms
    if not mine or not theirs or ((asked & mine) - theirs and len(asked & theirs) < 0.8 * len(asked & mine)):
        return False
    return len(mine & theirs) >= _SAME_THING * min(len(mine), len(theirs))


def _codes(quote: Quote) -> frozenset[str]:
    return codes(f"{quote.text}\n{quote.evidence.strip.title}")


def _words(facts: Facts) -> frozenset[str]:
    return frozenset(term for term in facts.terms if not any(c.isdigit() for c in term))


def _differ(question: str, a: Facts, b: Facts) -> bool:
    """Whether both give a figure of the same kind that the question does not, and none of them agrees."""
    asked = facts_of(question)
    dates_a = [d for d in a.dates if not asked.states_date(d)]
    dates_b = [d for d in b.dates if not asked.states_date(d)]
    if dates_a and dates_b:
        return not any(same_date(x, y) or same_date(y, x) for x in dates_a for y in dates_b)
    pairs = [(x, y) for x in _figures(a, asked) for y in _figures(b, asked) if _kind(x) == _kind(y)]
    if pairs:
        return not any(same_quantity(x, y) for x, y in pairs)
    return (
        not _figures(a, asked)
        and not _figures(b, asked)
        and _words(a) == _words(b)
        and denies(a.text) != denies(b.text)
    )


def _figures(facts: Facts, asked: Facts) -> list[Number]:
    return [n for n in facts.numbers if not (n.spelled and not n.unit) and not asked.states_number(n)]


def _kind(number: Number) -> str:
    return SCALES.get(number.unit, (number.unit, None))[0]
