"""An answer without a chat model: the sentences that decide the question, quoted and cited."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tadasu.answering.generation.conflicts import COUNTERS, Conflict, find_conflict, of_the_time
from tadasu.answering.generation.expectation import Expected, base_unit, can_answer, expect, expected_units, fits
from tadasu.answering.generation.facts import Facts, facts_of
from tadasu.answering.generation.grounding import beside, check
from tadasu.answering.generation.lists import whole_list
from tadasu.answering.generation.outdated import of_the_past, replaced_by, superseded
from tadasu.answering.generation.quoting import Quote, code_stem, codes, label, quotes_of, surroundings
from tadasu.answering.generation.rows import named_cells, superlative, undecided, without_other_rows
from tadasu.answering.generation.telling import is_code, lacks_attribute, other_subject
from tadasu.core.answers import Evidence
from tadasu.core.documents import Origin
from tadasu.core.grades import Verdict
from tadasu.core.usage import Stage
from tadasu.ports import Ledger, WritingTask
from tadasu.runtime.ledger import timed
from tadasu.text.messages import translate
from tadasu.text.normalize import fold

# Weights beside the evidence score (0 to 1), chosen by the first sentence for 400 questions each of the TRAIN split of
# xquad_en and jaquad: the share of the question's terms, and within it the share of its phrases.
_WORDS = 3.0
_PHRASES = 0.25
# A sentence with this share of its terms from the question, and no figure of its own, is an echo of it.
_ECHOED = 0.7
_ECHO = 0.6
# Below this evidence score, a sentence without a word of the question in it or above it is about something else.
_WEAK = 0.5
_LIKELY = 0.7
_THIRD = 1 / 3
_TWO_FIFTHS = 2 / 5
_HALF = 1 / 2
# What was and is no more; a page of the web beside the reader's own documents.
_PAST = 0.6
_WEB = 0.3
_WEB_ON_US = 3.0
_NAMED_ABROAD = 4.0
# Each cell of a table row that the question states whole.
_NAMED = 0.4
# A document of the very date that the question names.
_DATED = 0.4
# A contradiction is looked for from the first few sentences that come close to the best, among all with half its score.
_LEADS = 3
_LEADING = 0.85
_RIVAL = 0.5
# How near to the best a sentence with a figure must come to be quoted before one without, where a figure is asked for.
_ABLE = 0.5
# A question about the reader's own company, which no page of the web calls "the company".
_ON_US = re.compile(r"\b(?:the company|our|we|us)\b|当社|弊社|わが社|我が社|(?:^|[、。 ])会社の")
_PRONOUN = re.compile(
    r"(?:it|its|they|their|this|these|that|those|he|she|his|her|such)\b|(?:これ|それ|彼|この|その|同(?!じ))"
)
_TERMINATED = (".", "!", "?", "。", "！", "？", "…", ")", "）")


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """How much is quoted: at most `sentences`; a further one must score at least `follow` of the best."""

    sentences: int = 3
    follow: float = 0.75


@dataclass(frozen=True, slots=True)
class _Scored:
    quote: Quote
    score: float
    covered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Both sides as they are written for a reader, cited, and the evidence numbers of each."""

    text: str
    sides: tuple[frozenset[int], ...]


class ExtractiveWriter:
    """Quotes the deciding sentences word for word (white space aside); where sources differ, both sides."""

    __slots__ = ("_settings",)

    def __init__(self, settings: ExtractiveSettings | None = None) -> None:
        self._settings = settings or ExtractiveSettings()

    @property
    def id(self) -> str:
        """Name and version."""
        return "extractive/1"

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """One piece per sentence; nothing where the evidence is about another thing than the question."""
        with timed(ledger, Stage.GENERATE, provider="local", model=self.id, items=len(task.evidence)):
            chosen = self._choose(task)
        if isinstance(chosen, Conflict):
            for line in _told(chosen, task):
                yield line
            return
        previous: Quote | None = None
        listed = len(chosen) > 1 and all(quote.item for quote in chosen)
        for quote in chosen:
            gap = "" if previous is None else "\n" if listed else _join(previous.text, quote.text)
            mark = "- " if listed and not quote.text[0].isdigit() else ""
            space = " " if quote.text[-1].isascii() else ""
            previous = quote
            yield f"{gap}{mark}{quote.text}{space}{_cited(quote)}"

    def contradiction(self, task: WritingTask) -> Contradiction | None:
        """What the evidence says against itself about the question; None where it does not."""
        chosen = self._choose(task)
        if not isinstance(chosen, Conflict):
            return None
        sides = tuple(frozenset(side.numbers) for side in chosen.sides)
        return Contradiction("".join(_told(chosen, task)), sides)

    def _choose(self, task: WritingTask) -> Sequence[Quote] | Conflict:
        question = task.query or task.question
        evidence = _about(question, task.evidence)
        quotes = [quote for piece in evidence for quote in quotes_of(piece, task.evidence, question)]
        ranked = _score(question, without_other_rows(question, quotes))
        scored = [
            one
            for one in ranked
            if not (other_subject(question, one.quote, task.evidence) or lacks_attribute(question, one.quote))
        ]
        # What comes next when the best is about a neighbour of the subject has to show that it is not.
        verdict = task.verdict if scored[:1] == ranked[:1] else Verdict.INCORRECT
        scored = _able_first(question, scored)
        if not scored:
            return ()
        best = scored[0]
        if not _on_topic(question, best.quote, task.evidence, verdict=verdict):
            return ()
        rows = undecided(question, best.quote, [one.quote for one in scored])
        if rows != [best.quote]:
            # Of a table in another language nothing tells that it is the one asked about, but for the grades.
            return rows if verdict is Verdict.CORRECT or not _foreign(question, best.quote) else ()
        if items := whole_list(question, best.quote, quotes):
            return items
        for lead in scored[:_LEADS]:
            others = [s.quote for s in scored if s is not lead and s.score >= _RIVAL * best.score]
            if lead.score < _LEADING * best.score:
                continue
            conflict = find_conflict(question, lead.quote, others, evidence=task.evidence)
            if conflict is not None:
                sides = [side for side in conflict.sides if _holds(side, task)]
                return Conflict(tuple(sides)) if len(sides) > 1 else sides or [lead.quote]
        return self._with_followers(question, scored)

    def _with_followers(self, question: str, scored: Sequence[_Scored]) -> list[Quote]:
        best = scored[0]
        chosen, covered = [best.quote], set(best.covered)
        if _leans(best.quote, question) and (before := _before(best.quote, scored)) is not None:
            chosen.append(before)
        steps = expect(question) is Expected.PROCEDURE
        for other in scored[1:]:
            if len(chosen) >= self._settings.sentences:
                break
            if other.score < self._settings.follow * best.score or any(_same(other.quote, kept) for kept in chosen):
                continue
            same_passage = other.quote.evidence.strip.passage_id == best.quote.evidence.strip.passage_id
            if other.covered - covered or (steps and same_passage):
                chosen.append(other.quote)
                covered |= other.covered
        place = {piece.number: at for at, piece in enumerate(_by_passage(chosen))}
        return sorted(chosen, key=lambda quote: (place[quote.evidence.number], quote.at))


def _told(conflict: Conflict, task: WritingTask) -> list[str]:
    lines = [translate("Sources differ:", task.language)]
    return lines + [f"\n- {_attributed(side, task)} {_cited(side)}" for side in conflict.sides]


def _able_first(question: str, scored: list[_Scored]) -> list[_Scored]:
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


def _on_topic(question: str, quote: Quote, evidence: Sequence[Evidence], *, verdict: Verdict) -> bool:
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
    if _foreign(question, quote):
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
    wanted = _without(question, codes(question)) or asked.terms
    if any(base_unit(number) in units for number in quote.facts.numbers):
        wanted = frozenset(term for term in wanted if not expected_units(term))  # EUR 289 says that it is a price
    own, shared = wanted & quote.facts.terms, wanted & (quote.facts.terms | quote.context)
    enough = _THIRD if likely else _TWO_FIFTHS if verdict is Verdict.AMBIGUOUS else _HALF
    return len(own) >= _THIRD * len(wanted) and len(shared) >= enough * len(wanted)


def _foreign(question: str, quote: Quote) -> bool:
    """Whether the question and a quotation are in the two languages that share no words."""
    return {facts_of(question).language, quote.facts.language} == {"en", "ja"}


def _about(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
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


def _score(question: str, quotes: Sequence[Quote]) -> list[_Scored]:
    """`quotes` best first: evidence score, weighted share of the question's terms, fit of the expected kind."""
    asked, expected, units = facts_of(question), expect(question), expected_units(question)
    # What all of this evidence is about tells no sentence from another.
    wanted = _without(question, codes(question)) or asked.terms
    wanted = wanted - COUNTERS or wanted
    holding = {term: sum(term in quote.facts.terms for quote in quotes) for term in wanted}
    weights = {term: 1.0 / (1.0 + count) for term, count in holding.items()}
    total = sum(weights.values()) or 1.0
    said = [term for term in asked.order if term in wanted]
    phrases = [(a, b) for a, b in pairwise(said) if a != b]
    scored = []
    named = codes(question)
    for quote in quotes:
        covered = wanted & (_without(quote.text, named) if named else quote.facts.terms)
        near = (wanted & quote.context) - covered
        share = (sum(weights[t] for t in covered) + 0.5 * sum(weights[t] for t in near)) / total
        if _foreign(question, quote) and not named and quote.evidence.score >= _WEAK:
            share = max(share, quote.evidence.score)
        here = [(a, b) for a, b in phrases if a in covered and b in covered]
        share += _PHRASES * sum(_adjacent(a, b, quote.facts.order) for a, b in here) / (len(phrases) or 1)
        score = quote.evidence.score + _WORDS * share + fits(expected, quote.facts, asked, units=units) - quote.penalty
        score += _NAMED * named_cells(question, quote)
        # Between languages the name is nearly all that can be compared.
        score += _of_the_same(quote, named) * (_NAMED_ABROAD if _foreign(question, quote) else 1.0)
        score += _DATED * of_the_time(quote, asked)
        score -= _PAST * of_the_past(question, quote)
        if quote.evidence.strip.origin is Origin.WEB:
            score -= _WEB_ON_US if _ON_US.search(asked.flat) else _WEB
        if expected is not Expected.YES_NO and _echoes(quote, asked):
            score -= _ECHO
        scored.append(_Scored(quote, score, covered))
    return sorted(scored, key=lambda s: (-s.score, s.quote.evidence.number, s.quote.at))


def _without(text: str, named: frozenset[str]) -> frozenset[str]:
    """The content terms of a text but for the models named: the 80 of "FLW-80 in DN 80" stays."""
    rest = fold(text)
    for code in named:
        rest = rest.replace(code, " ")
    return facts_of(rest).terms if rest.strip() else frozenset()


def _adjacent(a: str, b: str, order: Sequence[str]) -> bool:
    """Whether two terms stand side by side in a sentence, or with one term between them."""
    return any(term == a and b in order[max(0, at - 2) : at + 3] for at, term in enumerate(order))


def _leans(quote: Quote, question: str) -> bool:
    """Whether a sentence needs the one before it.

    It does where it does not hold what is asked for, and says little beside the question or begins with a pronoun.
    """
    asked = facts_of(question)
    if fits(expect(question), quote.facts, asked, units=expected_units(question)) > 0:
        return False
    echoed = len(quote.facts.terms & asked.terms) >= _ECHOED * len(quote.facts.terms)
    return echoed or bool(_PRONOUN.match(quote.facts.flat))


def _before(quote: Quote, scored: Sequence[_Scored]) -> Quote | None:
    """The sentence right before `quote` in its passage, if it is among the evidence and no heading or table row."""
    strip = quote.evidence.strip
    for other in (s.quote for s in scored):
        theirs = other.evidence.strip
        if theirs.passage_id != strip.passage_id or len(other.numbers) > 1:
            continue
        if (theirs.index, other.at) == (strip.index, quote.at - 1):
            return other
        if quote.at == 0 and theirs.index == strip.index - 1 and other.last:
            return other
    return None


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


def _by_passage(quotes: Sequence[Quote]) -> list[Evidence]:
    """The evidence of `quotes`, the best one's passage first, each passage in its own order."""
    order = list(dict.fromkeys(quote.evidence.strip.passage_id for quote in quotes))
    pieces = {quote.evidence.number: quote.evidence for quote in quotes}
    return sorted(pieces.values(), key=lambda p: (order.index(p.strip.passage_id), p.number))


def _same(a: Quote, b: Quote) -> bool:
    return a.facts.flat == b.facts.flat


def _cited(quote: Quote) -> str:
    return "".join(f"[{number}]" for number in quote.numbers)


def _attributed(side: Quote, task: WritingTask) -> str:
    """A side of a conflict with its source, its date, and whether it is no longer in force."""
    strip = side.evidence.strip
    past = superseded(side) or any(
        replaced_by(strip, piece.strip, task.evidence)
        for piece in task.evidence
        if piece.strip.document_id != strip.document_id
    )
    parts = [strip.source, strip.date, translate("superseded", task.language) if past else ""]
    origin = ", ".join(part for part in parts if part)
    return f"{side.text} ({origin})" if task.language != "ja" else f"{side.text}({origin})"


def _holds(side: Quote, task: WritingTask) -> bool:
    """Whether a side of a conflict will pass the check of answers as it is written."""
    pieces = [piece for piece in task.evidence if piece.number in side.numbers]
    around = beside(pieces, task.evidence)
    return check(
        _attributed(side, task), [p.strip for p in pieces], question=task.query or task.question, around=around
    ).holds


def _join(before: str, after: str) -> str:
    if not before.endswith(_TERMINATED):
        return "\n"
    return " " if before[-1].isascii() or after[0].isascii() else ""
