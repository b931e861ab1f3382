"""What to quote: the deciding sentences, a list, rows of a table, or both sides of a contradiction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.answering.generation.comparing import compared
from tadasu.answering.generation.conflicts import Conflict, find_conflict, of_the_time
from tadasu.answering.generation.expectation import Expected, can_answer, expect, expected_units, fits
from tadasu.answering.generation.facts import facts_of
from tadasu.answering.generation.lists import whole_list
from tadasu.answering.generation.quoting import Quote, quotes_of
from tadasu.answering.generation.ranking import Scored, able_first, foreign, ranked
from tadasu.answering.generation.relevance import about, on_topic
from tadasu.answering.generation.rows import undecided, without_other_rows
from tadasu.answering.generation.sides import holds
from tadasu.answering.generation.spotting import Spots
from tadasu.answering.generation.sufficiency import Signals, Sufficiency, judge, log_odds, sureness
from tadasu.answering.generation.telling import excludes, lacks_attribute, other_subject
from tadasu.core.answers import Evidence
from tadasu.core.grades import Verdict
from tadasu.ports import WritingTask

# A sentence with this share of its terms from the question leans on the one before it, which says more.
_ECHOED = 0.7
# From here on the span reader is believed where the rules say that a sentence is about a neighbour.
_OVERRULES = 0.3
# Below this probability the reader as good as sees nothing.
_SEEN_AT_ALL = 0.1
# A further sentence is quoted where the reader sees the answer in it with this probability, rather than in the best;
# or where it is less sure of the best than this, and the other comes near enough and has been graded well enough.
_SEEN = 0.05
_UNSURE = 0.3
_NEAR = 0.3
_SCORED = 0.2
# A contradiction is looked for from the first few sentences that come close to the best, among all with half its score.
_LEADS = 3
_LEADING = 0.85
_RIVAL = 0.5
_PRONOUN = re.compile(
    r"(?:it|its|they|their|this|these|that|those|he|she|his|her|such)\b|(?:これ|それ|彼|この|その|同(?!じ))"
)


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """How much is quoted: at most `sentences`; a further one must score at least `follow` of the best.

    Nothing is quoted where the evidence is sufficient (`generation.sufficiency`) with less than `threshold`.
    """

    sentences: int = 2
    follow: float = 0.75
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to quote, in order, or both sides; nothing where the evidence is about another thing than the question.

    `sufficiency` is that of the best sentence, None where no sentence was a candidate.
    """

    quotes: tuple[Quote, ...] = ()
    conflict: Conflict | None = None
    sufficiency: Sufficiency | None = None


def choose(task: WritingTask, spots: Spots, settings: ExtractiveSettings) -> Chosen:
    """The quotations for `task`; `spots` is what a span reader found, empty where none has read."""
    question = task.query or task.question
    quotes = [quote for piece in about(question, task.evidence) for quote in quotes_of(piece, task.evidence, question)]
    every = ranked(question, without_other_rows(question, quotes), spots=spots)
    able = [one for one in every if not excludes(question, one.quote)]
    scored = [one for one in able if one.spot >= _OVERRULES or not _of_a_neighbour(question, one.quote, task)]
    # What comes next when the best is about a neighbour of the subject has to show that it is not.
    passed_over = scored[:1] != every[:1]
    # With a reader, what the rules only suppose to be about neighbours is a matter of the score.
    scored = able_first(question, scored or (able[:1] if spots and able[:1] == every[:1] else []))
    if not scored:
        return Chosen()
    verdict = Verdict.INCORRECT if passed_over else task.verdict
    found = _sufficiency(question, scored[0], task, verdict=verdict, read=bool(spots))
    on_its_own = (spots and not passed_over) or scored[0].spot >= _OVERRULES
    if spots and _nothing_speaks_for(found.signals):
        return Chosen(sufficiency=found)
    if found.score < settings.threshold or not (on_its_own or found.signals.on_topic):
        return Chosen(sufficiency=found)
    chosen = _chosen(question, scored, quotes, task, verdict=verdict, settings=settings)
    if isinstance(chosen, Conflict):
        return Chosen(conflict=chosen, sufficiency=found)
    return Chosen(tuple(chosen), sufficiency=found)


def _nothing_speaks_for(signals: Signals) -> bool:
    """Whether reader, grader and rules all see no answer in a sentence, whatever its passage promises."""
    by_rules = signals.on_topic > 0.0 and signals.kind >= 0.0
    return not by_rules and signals.span < log_odds(_SEEN_AT_ALL) and signals.strip < 0.0


def _of_a_neighbour(question: str, quote: Quote, task: WritingTask) -> bool:
    return other_subject(question, quote, task.evidence) or lacks_attribute(question, quote)


def _sufficiency(question: str, best: Scored, task: WritingTask, *, verdict: Verdict, read: bool) -> Sufficiency:
    expected, units = expect(question), expected_units(question)
    telling = bool(units) or expected in _TELLING
    able = can_answer(expected, best.quote.facts, facts_of(question), units=units)
    signals = Signals(
        span=log_odds(best.spot) if read else 0.0,
        strip=log_odds(best.quote.evidence.score),
        passage=log_odds(task.grades.get(best.quote.evidence.strip.passage_id, 0.5)),
        covered=min(best.share, 1.0),
        own=min(best.own, 1.0),
        kind=0.0 if not telling else 1.0 if able else -1.0,
        verdict=sureness(task.verdict),
        same_subject=float(verdict is task.verdict and not _of_a_neighbour(question, best.quote, task)),
        on_topic=float(on_topic(question, best.quote, task.evidence, verdict=verdict)),
    )
    return judge(signals, read=read)


_TELLING = frozenset((Expected.PERSON, Expected.PLACE, Expected.DATE, Expected.NUMBER))


def _chosen(
    question: str,
    scored: Sequence[Scored],
    quotes: Sequence[Quote],
    task: WritingTask,
    *,
    verdict: Verdict,
    settings: ExtractiveSettings,
) -> Sequence[Quote] | Conflict:
    best = scored[0]
    if both := compared(question, scored):
        return both
    rows = undecided(question, best.quote, [one.quote for one in scored])
    if rows != [best.quote]:
        # Of a table in another language nothing tells that it is the one asked about, but for the grades.
        return rows if verdict is Verdict.CORRECT or not foreign(question, best.quote) else ()
    if items := whole_list(question, best.quote, quotes):
        return items
    for lead in scored[:_LEADS]:
        others = [s.quote for s in scored if s is not lead and s.score >= _RIVAL * best.score]
        if lead.score < _LEADING * best.score:
            continue
        conflict = find_conflict(question, lead.quote, others, evidence=task.evidence)
        if conflict is not None:
            sides = [side for side in conflict.sides if holds(side, task)]
            return Conflict(tuple(sides)) if len(sides) > 1 else sides or [lead.quote]
    return _with_followers(question, scored, settings)


def _with_followers(question: str, scored: Sequence[Scored], settings: ExtractiveSettings) -> list[Quote]:
    best = scored[0]
    chosen, covered = [best.quote], set(best.covered)
    if _leans(best.quote, question) and (before := _before(best.quote, scored)) is not None:
        chosen.append(before)
    steps, read = expect(question) is Expected.PROCEDURE, any(one.spot for one in scored)
    for other in _next(best, scored[1:]):
        if len(chosen) >= settings.sentences:
            break
        if any(_same(other.quote, kept) for kept in chosen):
            continue
        same_passage = other.quote.evidence.strip.passage_id == best.quote.evidence.strip.passage_id
        adds = other.score >= settings.follow * best.score and bool(other.covered - covered or (steps and same_passage))
        if adds or _may_be_it(question, best, other, read=read):
            chosen.append(other.quote)
            covered |= other.covered
    place = {piece.number: at for at, piece in enumerate(_by_passage(chosen))}
    return sorted(chosen, key=lambda quote: (place[quote.evidence.number], quote.at))


def _next(best: Scored, others: Sequence[Scored]) -> list[Scored]:
    """`others` in their order, but first the one where the reader sees the answer, if that is not in the best."""
    ahead = max(others, key=lambda one: one.spot, default=None)
    if ahead is None or ahead.spot <= best.spot:
        return list(others)
    return [ahead, *(one for one in others if one is not ahead)]


def _may_be_it(question: str, best: Scored, other: Scored, *, read: bool) -> bool:
    """Whether the answer may as well be in `other`: the reader sees it there, or is not sure of the best.

    Not where the best was chosen among its like: a row or item, or the document of the date that was asked for.
    """
    asked = facts_of(question)
    if not read or best.quote.cells or best.quote.item or other.quote.cells:
        return False
    if of_the_time(best.quote, asked) and not of_the_time(other.quote, asked):
        return False
    if other.spot > best.spot:
        return other.spot >= _SEEN
    return best.spot < _UNSURE and other.score >= _NEAR * best.score and other.quote.evidence.score >= _SCORED


def _leans(quote: Quote, question: str) -> bool:
    """Whether a sentence needs the one before it.

    It does where it does not hold what is asked for, and says little beside the question or begins with a pronoun.
    """
    asked = facts_of(question)
    if fits(expect(question), quote.facts, asked, units=expected_units(question)) > 0:
        return False
    echoed = len(quote.facts.terms & asked.terms) >= _ECHOED * len(quote.facts.terms)
    return echoed or bool(_PRONOUN.match(quote.facts.flat))


def _before(quote: Quote, scored: Sequence[Scored]) -> Quote | None:
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


def _by_passage(quotes: Sequence[Quote]) -> list[Evidence]:
    """The evidence of `quotes`, the best one's passage first, each passage in its own order."""
    order = list(dict.fromkeys(quote.evidence.strip.passage_id for quote in quotes))
    pieces = {quote.evidence.number: quote.evidence for quote in quotes}
    return sorted(pieces.values(), key=lambda p: (order.index(p.strip.passage_id), p.number))


def _same(a: Quote, b: Quote) -> bool:
    return a.facts.flat == b.facts.flat
