"""Which quotation answers best: evidence, the words of the question, and what the question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tadasu.answering.generation.conflicts import COUNTERS, of_the_time
from tadasu.answering.generation.expectation import Expected, can_answer, expect, expected_units, fits
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.outdated import of_the_past
from tadasu.answering.generation.quoting import Quote, code_stem, codes
from tadasu.answering.generation.rows import named_cells, superlative
from tadasu.answering.generation.spotting import Spots
from tadasu.core.documents import Origin
from tadasu.text.normalize import fold

# Weights beside the evidence score (0 to 1), chosen by the first sentence for 400 questions each of the TRAIN split of
# xquad_en and jaquad: the share of the question's terms, and within it the share of its phrases.
_WORDS = 3.0
_PHRASES = 0.25
# A sentence with this share of its terms from the question, and no figure of its own, is an echo of it.
_ECHOED = 0.7
_ECHO = 0.6
# What was and is no more; a page of the web beside the reader's own documents.
_PAST = 0.6
_WEB = 0.3
_WEB_ON_US = 3.0
_NAMED_ABROAD = 4.0
# Each cell of a table row that the question states whole.
_NAMED = 0.4
# A document of the very date that the question names.
_DATED = 0.4
_WEAK = 0.5
# The likeliest words that answer, as the span reader sees them; chosen on CALIBRATE questions of xquad_en and jaquad.
_SPOTTED = 2.0
# How near to the best a sentence with a figure must come to be quoted before one without, where a figure is asked for.
_ABLE = 0.5
# A question about the reader's own company, which no page of the web calls "the company".
_ON_US = re.compile(r"\b(?:the company|our|we|us)\b|当社|弊社|わが社|我が社|(?:^|[、。 ])会社の")


@dataclass(frozen=True, slots=True)
class Scored:
    """A quotation with its rank score, and what of the question's words it has.

    `share` is that of the question's terms in the sentence or above it, `own` that in the sentence, both weighted by
    how few of the quotations have them; `spot` the probability that the span reader sees the answer in it.
    """

    quote: Quote
    score: float
    covered: frozenset[str]
    share: float = 0.0
    own: float = 0.0
    spot: float = 0.0


def ranked(question: str, quotes: Sequence[Quote], *, spots: Spots) -> list[Scored]:
    """`quotes` best first: evidence score, weighted share of the question's terms, fit of the expected kind."""
    asked, expected, units = facts_of(question), expect(question), expected_units(question)
    # What all of this evidence is about tells no sentence from another.
    wanted = content_without(question, codes(question)) or asked.terms
    wanted = wanted - COUNTERS or wanted
    holding = {term: sum(term in quote.facts.terms for quote in quotes) for term in wanted}
    weights = {term: 1.0 / (1.0 + count) for term, count in holding.items()}
    total = sum(weights.values()) or 1.0
    said = [term for term in asked.order if term in wanted]
    phrases = [(a, b) for a, b in pairwise(said) if a != b]
    scored = []
    named = codes(question)
    for quote in quotes:
        covered = wanted & (content_without(quote.text, named) if named else quote.facts.terms)
        near = (wanted & quote.context) - covered
        own = sum(weights[t] for t in covered) / total
        share = own + 0.5 * sum(weights[t] for t in near) / total
        if foreign(question, quote) and not named and quote.evidence.score >= _WEAK:
            own = share = max(share, quote.evidence.score)
        known = share
        here = [(a, b) for a, b in phrases if a in covered and b in covered]
        share += _PHRASES * sum(_adjacent(a, b, quote.facts.order) for a, b in here) / (len(phrases) or 1)
        score = quote.evidence.score + _WORDS * share + fits(expected, quote.facts, asked, units=units) - quote.penalty
        spotted = spots.get((quote.evidence.number, quote.at), 0.0)
        score += _SPOTTED * spotted + _NAMED * named_cells(question, quote)
        # Between languages the name is nearly all that can be compared.
        score += _of_the_same(quote, named) * (_NAMED_ABROAD if foreign(question, quote) else 1.0)
        score += _DATED * of_the_time(quote, asked)
        score -= _PAST * of_the_past(question, quote)
        if quote.evidence.strip.origin is Origin.WEB:
            score -= _WEB_ON_US if _ON_US.search(asked.flat) else _WEB
        if expected is not Expected.YES_NO and _echoes(quote, asked):
            score -= _ECHO
        scored.append(Scored(quote, score, covered, share=known, own=own, spot=spotted))
    return sorted(scored, key=lambda s: (-s.score, s.quote.evidence.number, s.quote.at))


def able_first(question: str, scored: list[Scored]) -> list[Scored]:
    """`scored` with the first quotation that can answer at all in front, where the best cannot and it comes near."""
    asked, expected, units = facts_of(question), expect(question), expected_units(question)
    if superlative(question) and any(one.quote.cells for one in scored):
        able = (one for one in scored if one.quote.cells)  # only a table can tell what is most
    else:
        able = (one for one in scored if can_answer(expected, one.quote.facts, asked, units=units))
    first = next(able, None)
    if first is None or first is scored[0] or first.score < _ABLE * scored[0].score:
        return scored
    return [first, *(one for one in scored if one is not first)]


def foreign(question: str, quote: Quote) -> bool:
    """Whether the question and a quotation are in the two languages that share no words."""
    return {facts_of(question).language, quote.facts.language} == {"en", "ja"}


def content_without(text: str, named: frozenset[str]) -> frozenset[str]:
    """The content terms of a text but for the models named: the 80 of "FLW-80 in DN 80" stays."""
    rest = fold(text)
    for code in named:
        rest = rest.replace(code, " ")
    return facts_of(rest).terms if rest.strip() else frozenset()


def _adjacent(a: str, b: str, order: Sequence[str]) -> bool:
    """Whether two terms stand side by side in a sentence, or with one term between them."""
    return any(term == a and b in order[max(0, at - 2) : at + 3] for at, term in enumerate(order))


def _echoes(quote: Quote, asked: Facts) -> bool:
    """Whether a sentence hardly says more than the question does, as pages do that want to be found."""
    terms = quote.facts.terms
    if len(terms & asked.terms) < _ECHOED * len(terms):
        return False
    return all(asked.states_number(n) for n in quote.facts.numbers)


def _of_the_same(quote: Quote, named: frozenset[str]) -> float:
    """A bonus for a sentence that names the model asked for, a malus for one that names a sister model instead."""
    if not named:
        return 0.0
    if any(quote.facts.states_name(code) for code in named):
        return 0.2
    return -1.5 if {code_stem(c) for c in named} & {code_stem(c) for c in codes(quote.text)} else 0.0
