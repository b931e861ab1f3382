"""Whether a quotation is about the question at all, and which evidence is."""

from __future__ import annotations

from collections.abc import Sequence

from tadasu.answering.generation.expectation import Expected, base_unit, can_answer, expect, expected_units
from tadasu.answering.generation.facts import facts_of
from tadasu.answering.generation.quoting import Quote, code_stem, codes, label, surroundings
from tadasu.answering.generation.ranking import content_without, foreign
from tadasu.answering.generation.telling import is_code
from tadasu.core.answers import Evidence
from tadasu.core.grades import Verdict

# Below this evidence score, a sentence without a word of the question in it or above it is about something else.
_WEAK = 0.5
_LIKELY = 0.7
_THIRD = 1 / 3
_TWO_FIFTHS = 2 / 5
_HALF = 1 / 2


def about(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """`evidence` without what is about another model than the one that the question names.

    Where no passage names it, those stay that name no model of its family and stand under no other model's title.
    """
    asked = codes(question)
    if not asked:
        return list(evidence)
    family = {code_stem(code) for code in asked}
    kept, unsaid = [], []
    for piece in evidence:
        facts = facts_of(surroundings(piece, evidence))
        if all(facts.states_name(code) for code in asked):
            kept.append(piece)
        elif not (codes(label(piece)) or family & {code_stem(name) for name in codes(facts.text)}):
            unsaid.append(piece)
    return kept or unsaid


def on_topic(question: str, quote: Quote, evidence: Sequence[Evidence], *, verdict: Verdict) -> bool:
    """Whether a quotation is about the question at all.

    Where the grades are sure (CORRECT), one word in common or a good score is enough. Where they are not, what the
    question asks for (a person, a date, a number) must be there, its names in the passage, a third of its words in the
    sentence, and half in it or above it; less is enough where not all grades were low (AMBIGUOUS).
    A quantity must be there in any case: a temperature is no answer about a weight. Between languages no words can be
    compared: there the grade decides, or the model named with a quantity of the kind.
    """
    asked, expected, units = facts_of(question), expect(question), expected_units(question)
    sure = verdict is Verdict.CORRECT
    if (not sure or (units and expected is not Expected.ANY)) and not can_answer(
        expected, quote.facts, asked, units=units
    ):
        return False
    if foreign(question, quote):
        likely = quote.evidence.score >= _LIKELY and verdict is Verdict.AMBIGUOUS
        asked_for = codes(question)
        only_that = codes(quote.text) <= asked_for  # not the battery pack that fits it
        named = bool(asked_for & quote.about) and only_that and (bool(units) or quote.evidence.score >= _WEAK)
        return sure or named or likely
    if sure:
        return bool(asked.terms & (quote.facts.terms | quote.context)) or quote.evidence.score >= _WEAK
    likely = verdict is Verdict.AMBIGUOUS and quote.evidence.score >= _LIKELY
    around = facts_of(surroundings(quote.evidence, evidence))
    if any(not around.states_name(name) for name in asked.names if not likely or is_code(name)):
        return False
    wanted = content_without(question, codes(question)) or asked.terms
    if any(base_unit(number) in units for number in quote.facts.numbers):
        wanted = frozenset(term for term in wanted if not expected_units(term))  # EUR 289 says that it is a price
    own, shared = wanted & quote.facts.terms, wanted & (quote.facts.terms | quote.context)
    enough = _THIRD if likely else _TWO_FIFTHS if verdict is Verdict.AMBIGUOUS else _HALF
    return len(own) >= _THIRD * len(wanted) and len(shared) >= enough * len(wanted)
