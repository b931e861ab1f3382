"""From graded passages to the evidence that fits the prompt, with an account of every strip left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tadasu.answering.refinement.duplicates import merge_duplicates
from tadasu.answering.refinement.ordering import ordered
from tadasu.answering.refinement.selection import Choice, RefinementSettings, select, unique
from tadasu.core.answers import Evidence
from tadasu.core.documents import Strip
from tadasu.core.retrieved import GradedPassage
from tadasu.core.runs import Packing, StripFate, StripRecord
from tadasu.ports import TokenCounter


@dataclass(frozen=True, slots=True)
class Refined:
    """What refinement made of some passages.

    `evidence` is numbered from 1 in the order that the settings name. `records` holds every strip of every passage
    once, in passage order, with its fate. `tokens` is what the texts of the evidence take of `budget`. `packing` is
    what the run keeps of that, where somebody has filled it in.
    """

    evidence: tuple[Evidence, ...]
    records: tuple[StripRecord, ...]
    tokens: int
    budget: int = 0
    packing: Packing | None = None


def refine(
    passages: Sequence[GradedPassage],
    *,
    counter: TokenCounter,
    settings: RefinementSettings,
    question: str = "",
    room: int | None = None,
) -> Refined:
    """Keep the strips that matter, each once, within the token budget.

    A strip that does not fit is left out whole and listed as OVER_BUDGET; nothing is cut inside a strip. The texts of
    all records of a passage concatenate to the passage. `question`, where given, points at rows of tables. `room` is
    what the model's window leaves for evidence and the line over each piece of it (title, source, date), in tokens;
    None where the window is not known.
    """
    ranked = unique(passages)
    selected = select(ranked, settings=settings, question=question)
    choices, merged = merge_duplicates(selected, near=settings.near_duplicate)
    purse = _Purse(counter, settings.token_budget, room)
    choices = _pack(choices, purse)
    sources = {choice.scored.strip.id: choice.scored.strip.source for choice in choices}
    evidence = tuple(
        Evidence(
            number=number,
            strip=choice.scored.strip,
            score=choice.scored.score,
            merged=(ids := merged.get(choice.scored.strip.id, ())),
            also=_others(choice.scored.strip.source, (sources[id_] for id_ in ids)),
        )
        for number, choice in enumerate(ordered(choices, settings.order), 1)
    )
    records = tuple(StripRecord(c.scored.strip, c.scored.score, c.fate, c.detail) for c in choices)
    return Refined(evidence=evidence, records=records, tokens=purse.used, budget=purse.budget)


def restore(
    passages: Sequence[GradedPassage],
    *,
    counter: TokenCounter,
    settings: RefinementSettings,
    question: str = "",
    room: int | None = None,
) -> Refined:
    """The whole of `passages`, as far as it fits: the way back from refinement, in one step.

    As `refine`, but no strip is left out for its score; repetitions and what speaks to a model stay out.
    """
    whole = replace(settings, strip_threshold=0.0, shares={})
    return refine(passages, counter=counter, settings=whole, question=question, room=room)


def _others(own: str, sources: Iterable[str]) -> tuple[str, ...]:
    return tuple(source for source in dict.fromkeys(sources) if source != own)


class _Purse:
    """What is left to spend: tokens of text, and of text with the lines over it."""

    def __init__(self, counter: TokenCounter, budget: int, room: int | None) -> None:
        self._counter = counter
        self._room = room
        self._taken = 0
        self._frames: dict[str, int] = {}
        self.budget = budget if room is None else max(0, min(budget, room))
        self.used = 0

    def cost(self, strip: Strip) -> tuple[int, int]:
        """Tokens of the text alone, and with the line over it."""
        text = self._counter.count(strip.text)
        if self._room is None:
            return text, text
        frame = frame_of(strip)
        if frame not in self._frames:
            self._frames[frame] = self._counter.count(frame)
        return text, text + self._frames[frame]

    def buys(self, costs: Sequence[tuple[int, int]]) -> bool:
        """Take `costs` together, where they fit."""
        text, whole = sum(cost for cost, _ in costs), sum(cost for _, cost in costs)
        if self.used + text > self.budget or (self._room is not None and self._taken + whole > self._room):
            return False
        self.used += text
        self._taken += whole
        return True

    @property
    def left(self) -> int:
        """Tokens of text that may still come."""
        left = self.budget - self.used
        return left if self._room is None else max(0, min(left, self._room - self._taken))


def frame_of(strip: Strip) -> str:
    """About what a prompt writes over a strip: number, title and headings, source, page, date."""
    names = " > ".join(dict.fromkeys(name for name in (strip.title, *strip.headings) if name))
    page = "" if strip.page is None else f" · page {strip.page}"
    return f"[10] {names} · {strip.source}{page} · {strip.date}\n\n\n"


def _pack(choices: Sequence[Choice], purse: _Purse) -> list[Choice]:
    """`choices` with those that do not fit marked OVER_BUDGET.

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

    for i in sorted(alone, key=turn):
        heads = explained.get(i, [])
        cost, head_costs = purse.cost(choices[i].scored.strip), [purse.cost(choices[j].scored.strip) for j in heads]
        if purse.buys([cost, *head_costs]):
            continue
        for j, (tokens, _) in zip(heads, head_costs, strict=True):
            out[j] = _over(choices[j], tokens, purse.left)
        if not purse.buys([cost]):
            out[i] = _over(choices[i], cost[0], purse.left)
    return out


def _over(choice: Choice, tokens: int, left: int) -> Choice:
    return replace(choice, fate=StripFate.OVER_BUDGET, detail=f"{tokens} tokens, {left} left")
