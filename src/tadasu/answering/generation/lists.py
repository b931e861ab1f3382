"""Lists as answers: all steps of a procedure, all items of an enumeration."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.generation.expectation import Expected, expect
from tadasu.answering.generation.facts import facts_of
from tadasu.answering.generation.quoting import Quote
from tadasu.text.normalize import fold

MOST_ITEMS = 8
"""Items of a list that are quoted at most."""
_STEPS = re.compile(r"\b(?:steps|procedure|instructions)\b|手順|ステップ|流れ")
_ENUMERATES = re.compile(r"\b(?:what|which|list|name all)\b|何|なに|どの|どんな|どれ|一覧|すべて|全て")
_NUMBERED = re.compile(r"\(?\d")


def whole_list(question: str, best: Quote, quotes: Sequence[Quote]) -> list[Quote]:
    """The list to quote instead of `best`; empty where one sentence is the answer.

    A question for a procedure gets the numbered steps of the best quotation's passage; another one gets the list that
    the best is an item of, where it asks for several things and two items at least answer it alike.
    """
    runs = _runs([q for q in quotes if q.evidence.strip.passage_id == best.evidence.strip.passage_id])
    if expect(question) is Expected.PROCEDURE or _STEPS.search(fold(question).casefold()):
        steps = [run for run in runs if best in run or all(_NUMBERED.match(item.text) for item in run)]
        return list(steps[0][:MOST_ITEMS]) if steps else []
    mine = next((run for run in runs if best in run), [])
    if expect(question) is not Expected.ANY or not _ENUMERATES.search(fold(question).casefold()):
        return []
    asked = facts_of(question).terms
    said = asked & best.facts.terms
    alike = [item for item in mine if said and said <= item.facts.terms]
    return list(mine[:MOST_ITEMS]) if len(alike) > 1 else []


def _runs(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Items that stand one after the other, two at least."""
    runs: list[list[Quote]] = []
    for quote in sorted((q for q in quotes if q.item), key=lambda q: (q.evidence.strip.index, q.at)):
        if runs and quote.evidence.strip.index - runs[-1][-1].evidence.strip.index <= 1:
            runs[-1].append(quote)
        else:
            runs.append([quote])
    return [run for run in runs if len(run) > 1]
