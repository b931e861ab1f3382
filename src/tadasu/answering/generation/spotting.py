"""Which sentences of the evidence hold the words that answer, as a model reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from tadasu.answering.generation.quoting import unit_spans
from tadasu.core.answers import Evidence
from tadasu.errors import ModelUnavailable
from tadasu.ports import FoundSpan, Ledger, SpanReader

Spots: TypeAlias = Mapping[tuple[int, int], float]
"""Probability that the answer stands there, by evidence number and place of the sentence within the strip."""


async def spot(reader: SpanReader | None, question: str, evidence: Sequence[Evidence], *, ledger: Ledger) -> Spots:
    """The likeliest answer of each passage, where it stands; all passages in one batch.

    Empty without a reader, and where it cannot read: rules then choose alone.
    """
    passages: dict[str, list[Evidence]] = {}
    for piece in evidence:
        passages.setdefault(piece.strip.passage_id, []).append(piece)
    groups = list(passages.values())
    if reader is None or not groups:
        return {}
    texts = ["".join(piece.strip.text for piece in group) for group in groups]
    try:
        found = await reader.read(question, texts, ledger=ledger)
    except ModelUnavailable:
        return {}
    spots: dict[tuple[int, int], float] = {}
    for group, span in zip(groups, found, strict=True):
        if span is not None:
            spots.update(_places(group, span))
    return spots


def _places(group: Sequence[Evidence], span: FoundSpan) -> dict[tuple[int, int], float]:
    """Every sentence of a passage's strips that the span touches."""
    starts = accumulate((len(piece.strip.text) for piece in group), initial=0)
    places: dict[tuple[int, int], float] = {}
    for piece, start in zip(group, starts, strict=False):
        for at, (first, end) in enumerate(unit_spans(piece.strip.text)):
            if start + first < span.end and span.start < start + end:
                places[piece.number, at] = span.probability
    return places
