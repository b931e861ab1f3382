"""From graded passages to the evidence that fits the prompt, with an account of every strip left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tadasu.answering.refinement.duplicates import merge_duplicates
from tadasu.answering.refinement.selection import Choice, RefinementSettings, select, unique
from tadasu.core.answers import Evidence
from tadasu.core.retrieved import GradedPassage
from tadasu.core.runs import StripFate, StripRecord
from tadasu.ports import TokenCounter


@dataclass(frozen=True, slots=True)
class Refined:
    """What refinement made of some passages.

    `evidence` is numbered from 1: the document of the best passage first, within a document in its own order.
    `records` holds every strip of every passage once, in passage order, with its fate. `tokens` is what the evidence
    takes of the budget.
    """

    evidence: tuple[Evidence, ...]
    records: tuple[StripRecord, ...]
    tokens: int


def refine(
    passages: Sequence[GradedPassage], *, counter: TokenCounter, settings: RefinementSettings, question: str = ""
) -> Refined:
    """Keep the strips that matter, each once, within the token budget.

    A strip that does not fit is left out whole and listed as OVER_BUDGET; nothing is cut inside a strip. The texts of
    all records of a passage concatenate to the passage. `question`, where given, points at rows of tables.
    """
    ranked = unique(passages)
    selected = select(ranked, settings=settings, question=question)
    choices, merged = merge_duplicates(selected, near=settings.near_duplicate)
    choices, tokens = _pack(choices, counter=counter, budget=settings.token_budget)
    kept = _in_document_order([choice for choice in choices if choice.kept])
    evidence = tuple(
        Evidence(
            number=number,
            strip=choice.scored.strip,
            score=choice.scored.score,
            merged=merged.get(choice.scored.strip.id, ()),
        )
        for number, choice in enumerate(kept, 1)
    )
    records = tuple(StripRecord(c.scored.strip, c.scored.score, c.fate, c.detail) for c in choices)
    return Refined(evidence=evidence, records=records, tokens=tokens)


def _pack(choices: Sequence[Choice], *, counter: TokenCounter, budget: int) -> tuple[list[Choice], int]:
    """`choices` with those that do not fit marked OVER_BUDGET, and the tokens used.

    Selected strips go first, best first, then neighbours of the best; a heading shares the fortune of its strip.
    """
    out = list(choices)
    index = {(choice.rank, choice.scored.strip.index): i for i, choice in enumerate(choices)}
    explained: dict[int, list[int]] = {}
    alone: list[int] = []
    for i, choice in enumerate(choices):
        if not choice.kept:
            continue
        served = index[choice.rank, choice.serves]
        if choice.companion and served != i and choices[served].kept:
            explained.setdefault(served, []).append(i)
        else:
            alone.append(i)

    def turn(i: int) -> tuple[bool, float, int, int]:
        choice = choices[i]
        parent = choices[index[choice.rank, choice.serves]]
        return choice.fate is not StripFate.SELECTED, -parent.scored.score, choice.rank, choice.scored.strip.index

    used = 0
    for i in sorted(alone, key=turn):
        heads = explained.get(i, [])
        cost = counter.count(choices[i].scored.strip.text)
        head_costs = [counter.count(choices[j].scored.strip.text) for j in heads]
        if used + cost + sum(head_costs) <= budget:
            used += cost + sum(head_costs)
            continue
        for j, head_cost in zip(heads, head_costs, strict=True):
            out[j] = _over(choices[j], head_cost, budget - used)
        if used + cost <= budget:
            used += cost
        else:
            out[i] = _over(choices[i], cost, budget - used)
    return out, used


def _over(choice: Choice, tokens: int, left: int) -> Choice:
    return replace(choice, fate=StripFate.OVER_BUDGET, detail=f"{tokens} tokens, {left} left")


def _in_document_order(choices: Iterable[Choice]) -> list[Choice]:
    kept = list(choices)
    first: dict[str, int] = {}
    for choice in kept:
        document = choice.scored.strip.document_id
        first[document] = min(choice.rank, first.get(document, choice.rank))

    def place(choice: Choice) -> tuple[int, str, int, int]:
        strip = choice.scored.strip
        return first[strip.document_id], strip.document_id, strip.span.start, strip.index

    return sorted(kept, key=place)
