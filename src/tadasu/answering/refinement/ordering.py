"""In which order evidence stands in the prompt."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from tadasu.answering.refinement.selection import Choice
from tadasu.core.refining import EvidenceOrder


def ordered(choices: Iterable[Choice], order: EvidenceOrder) -> list[Choice]:
    """The kept ones of `choices` as the prompt is to have them."""
    kept = [choice for choice in choices if choice.kept]
    return _by_document(kept) if order is EvidenceOrder.DOCUMENT else _from_the_edges(kept)


def _by_document(kept: list[Choice]) -> list[Choice]:
    first: dict[str, int] = {}
    for choice in kept:
        document = choice.scored.strip.document_id
        first[document] = min(choice.rank, first.get(document, choice.rank))

    def place(choice: Choice) -> tuple[int, str, int, int]:
        strip = choice.scored.strip
        return first[strip.document_id], strip.document_id, strip.span.start, strip.index

    return sorted(kept, key=place)


def _from_the_edges(kept: list[Choice]) -> list[Choice]:
    by_rank = sorted(kept, key=lambda choice: (choice.rank, choice.scored.strip.index))
    groups = [list(group) for _, group in groupby(by_rank, key=lambda choice: choice.rank)]
    inwards = [*groups[::2], *reversed(groups[1::2])]
    return [choice for group in inwards for choice in group]
