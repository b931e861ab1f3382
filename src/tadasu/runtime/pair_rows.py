"""A question and its passages as rows of ids for our cross-encoder: ``<s> question </s></s> title: text </s>``.

Nothing is cut but a title. A passage longer than the window becomes several rows. A question longer than those of the
training takes room from the passage's window; one that would leave it less than half is read in overlapping parts, each
with every window, and the best of all counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from tokenizers import Encoding, Tokenizer

from tadasu.core.vectors import PassageText
from tadasu.runtime.onnx_models import sound
from tadasu.runtime.pair_card import PairCard
from tadasu.runtime.pair_windows import bounds_of, windows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]

MOST_PARTS = 16
_NO_BORDERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PairRow:
    """One run of the model: `ids`, in which tokens ``[first, last)`` of passage number `passage` begin at `lead`."""

    passage: int
    ids: Integers
    lead: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """A passage's tokens: `ids`, their spans of code points (t, 2), and which of them each strip holds (s, 2)."""

    ids: Integers
    spans: Integers
    bounds: Integers


@dataclass(frozen=True, slots=True)
class Reading:
    """All rows of one question, and its passages; `question` is how many tokens that has, `parts` in how many parts."""

    rows: list[PairRow]
    passages: list[PassageTokens]
    question: int
    parts: int


def read_pairs(tokenizer: Tokenizer, card: PairCard, question: str, passages: Sequence[PassageText]) -> Reading:
    """Every row that a question and its passages make; none where the question makes more than `MOST_PARTS` parts.

    The question is tokenised once, each title once. A passage without any token makes no row.
    """
    asked = tokenizer.encode(sound(question), add_special_tokens=False).ids
    read = [
        _tokens(encoded, passage)
        for encoded, passage in zip(_encoded(tokenizer, [one.text for one in passages]), passages, strict=True)
    ]
    longest = card.question + card.window // 2
    parts = windows_of(len(asked), room=longest, borders=_NO_BORDERS)
    reading = Reading([], read, len(asked), len(parts))
    if len(parts) <= MOST_PARTS:
        titles = _titles(tokenizer, card, passages)
        for start, end in parts:
            before = [card.begin, *asked[start:end], card.end, card.end]
            room = card.window - max(0, end - start - card.question)
            for index, (passage, tokens) in enumerate(zip(passages, read, strict=True)):
                lead = before + titles[passage.title]
                reading.rows.extend(_rows(index, lead, tokens, room=room, end=card.end))
    return reading


def _rows(index: int, lead: list[int], tokens: PassageTokens, *, room: int, end: int) -> list[PairRow]:
    if not len(tokens.ids):
        return []
    return [
        PairRow(index, np.array([*lead, *tokens.ids[first:last].tolist(), end], dtype=np.int64), len(lead), first, last)
        for first, last in windows_of(len(tokens.ids), room=room, borders=tokens.bounds[:, 0])
    ]


def _titles(tokenizer: Tokenizer, card: PairCard, passages: Sequence[PassageText]) -> dict[str, list[int]]:
    """Per title its ids, at most as many as in training, and the separator; nothing for one without text."""
    titles = list(dict.fromkeys(passage.title for passage in passages))
    found = {}
    for title, encoded in zip(titles, _encoded(tokenizer, [title.strip() for title in titles]), strict=True):
        ids: list[int] = encoded.ids[: card.title]
        found[title] = [*ids, card.separator] if ids else []
    return found


def _tokens(encoded: Encoding, passage: PassageText) -> PassageTokens:
    spans = np.array(encoded.offsets, dtype=np.int64).reshape(-1, 2)
    last = np.maximum(spans[:, 1] - 1, spans[:, 0])
    return PassageTokens(np.array(encoded.ids, dtype=np.int64), spans, bounds_of(last, passage.strips))


def _encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Encoding]:
    return tokenizer.encode_batch([sound(text) for text in texts], add_special_tokens=False) if texts else []
