"""Claims and sources as ids, in batches of about equal length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.grader.batches import BEGIN, END, SEPARATOR, pad_rows
from training.heads.claims import ClaimRow

QUESTION, SENTENCE, LONGEST = 64, 128, 352
"""Most tokens of a question, of a sentence read at once, and of all with the source."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """`ids` of a claim and its source; the sentence's tokens begin at `start`; `wrong` per token of it, -1 unknown."""

    ids: NDArray[np.int64]
    start: int
    wrong: NDArray[np.int8]
    label: int


@dataclass(frozen=True, slots=True)
class ClaimBatch:
    """Padded arrays: `ids`, `wrong` (rows, length), `label` (rows,)."""

    ids: NDArray[np.int64]
    wrong: NDArray[np.int8]
    label: NDArray[np.int8]


class ClaimEncoder:
    """Turns claims into ids with the encoder's tokenizer: ``<s> question : sentence </s></s> source </s>``."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        separator = tokenizer.token_to_id(SEPARATOR)
        if separator is None:
            raise ValueError(f"the tokenizer has no piece {SEPARATOR!r}")
        self.separator = int(separator)

    @classmethod
    def load(cls, folder: Path) -> ClaimEncoder:
        """From a folder with a ``tokenizer.json``."""
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(tokenizer)

    def pair(self, row: ClaimRow, *, longest: int = LONGEST) -> ClaimPair | None:
        """The pair of a row; None where it does not fit at once, since a part of a source may not support."""
        asked = self._ids(row.question)[:QUESTION] if row.question else []
        lead = [BEGIN, *asked, *([self.separator] if asked else [])]
        encoded = self._tokenizer.encode(row.sentence, add_special_tokens=False)
        source = self._ids(row.source)
        if len(encoded.ids) > SENTENCE or not encoded.ids or not source:
            return None
        ids = [*lead, *encoded.ids, END, END, *source, END]
        if len(ids) > longest:
            return None
        places = np.array(encoded.offsets, dtype=np.int64).reshape(-1, 2)
        wrong = np.full(len(places), -1 if row.wrong is None else 0, dtype=np.int8)
        for start, end in row.wrong or ():
            wrong[(places[:, 0] < end) & (places[:, 1] > start)] = 1
        return ClaimPair(np.array(ids, dtype=np.int64), len(lead), wrong, row.label)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def collate(pairs: Sequence[ClaimPair]) -> ClaimBatch:
    """Pairs as one batch."""
    ids = pad_rows([one.ids for one in pairs])
    wrong = np.full(ids.shape, -1, dtype=np.int8)
    for index, one in enumerate(pairs):
        wrong[index, one.start : one.start + len(one.wrong)] = one.wrong
    return ClaimBatch(ids, wrong, np.array([one.label for one in pairs], dtype=np.int8))


def batches(pairs: Sequence[ClaimPair], *, tokens: int, seed: int) -> Iterator[ClaimBatch]:
    """Pairs of a pool, sorted by length, in batches of at most `tokens` tokens with their padding, shuffled."""
    packed: list[list[ClaimPair]] = []
    for one in sorted(pairs, key=lambda pair: len(pair.ids)):
        if packed and (len(packed[-1]) + 1) * len(one.ids) <= tokens:
            packed[-1].append(one)
        else:
            packed.append([one])
    random.Random(seed).shuffle(packed)
    return (collate(one) for one in packed)
