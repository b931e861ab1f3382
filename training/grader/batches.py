"""Groups of a question and its passages as ids, in batches of about equal length.

A batch holds whole groups, since the loss compares the passages of a group; groups of a pool are sorted by length, so
that little is padded. What varies from epoch to epoch: which negatives a group gets, which window of a long passage is
read (of a right passage one with the answer), whether the title is there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.grader.rows import Group, Kind, RowPassage

QUESTION, TITLE, WINDOW = 64, 24, 256
"""Most tokens of a question, a title, and a window of a passage's text."""
SHORT = 128
"""Most tokens of a text where training reads a part of it."""
SEPARATOR = ":"
BEGIN, PAD, END = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a window of a passage: `ids`; the window's tokens begin at `start`, each with its place.

    `offsets` (n, 2) are code points in the passage's text.
    """

    ids: NDArray[np.int64]
    start: int
    offsets: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A pair with what is known of it; `answer` and `strips` are per token of the window.

    `answer` is 1 within the answer, 0 outside, -1 where nothing is known of places. `strips` are strip numbers, -1
    between strips. `label` and `teacher` as in the rows (`teacher` NaN where there is none).
    """

    pair: Pair
    label: int
    teacher: float
    answer: NDArray[np.int8]
    strips: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded arrays of whole groups: `ids`, `answer`, `strips` (rows, length); `group`, `label`, `teacher` (rows,)."""

    ids: NDArray[np.int64]
    answer: NDArray[np.int8]
    strips: NDArray[np.int16]
    group: NDArray[np.int64]
    label: NDArray[np.int8]
    teacher: NDArray[np.float32]


class PairEncoder:
    """Turns questions and passages into ids with the encoder's tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        separator = tokenizer.token_to_id(SEPARATOR)
        if separator is None:
            raise ValueError(f"the tokenizer has no piece {SEPARATOR!r}")
        self.separator = int(separator)

    @classmethod
    def load(cls, folder: Path) -> PairEncoder:
        """From a folder with a ``tokenizer.json``, such as ``models/encoder``."""
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(tokenizer)

    def question(self, text: str) -> list[int]:
        """`<s> question </s></s>`, at most `QUESTION` pieces of it."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids[:QUESTION]
        return [BEGIN, *ids, END, END]

    def title(self, text: str) -> list[int]:
        """The title's pieces and the separator; nothing for an empty title."""
        if not text.strip():
            return []
        return [*self._tokenizer.encode(text.strip(), add_special_tokens=False).ids[:TITLE], self.separator]

    def text(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and offsets of a whole passage."""
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets

    def windows(self, question: str, title: str, text: str, *, window: int = WINDOW) -> list[Pair]:
        """Every pair that a passage makes: one, or overlapping windows by half of one where it is longer than that."""
        lead = self.question(question) + self.title(title)
        ids, offsets = self.text(text)
        places = np.array(offsets, dtype=np.int64).reshape(-1, 2)
        last = max(len(ids) - window, 0)
        starts = [*range(0, last, window // 2), last]
        return [
            Pair(np.array([*lead, *ids[at : at + window], END], dtype=np.int64), len(lead), places[at : at + window])
            for at in starts
        ]


@dataclass(frozen=True, slots=True)
class Drawing:
    """How groups are drawn: at most so many negatives, a share `short` of groups in windows of `SHORT` tokens (twice as
    many pairs in the same time), a share `untitled` without titles, random passages as often as `random`.
    """

    negatives: int = 4
    short: float = 0.8
    untitled: float = 0.3
    random: float = 0.4


class Drawer:
    """Draws passages of groups for training."""

    def __init__(self, encoder: PairEncoder, drawing: Drawing, *, seed: int = 0) -> None:
        self._encoder = encoder
        self._drawing = drawing
        self._random = random.Random(seed)

    def draw(self, group: Group) -> list[Drawn]:
        """One right passage if there is one, and as many others as are asked for."""
        right = [one for one in group.passages if one.label == 1]
        others = [one for one in group.passages if one.label != 1 and self._is_taken(one)]
        self._random.shuffle(others)
        chosen = others[: self._drawing.negatives + (not right)]
        if right:
            chosen.append(self._random.choice(right))
        lead = self._encoder.question(group.question)
        titled = self._random.random() >= self._drawing.untitled
        window = SHORT if self._random.random() < self._drawing.short else WINDOW
        return [self._pair(lead, passage, titled=titled, window=window) for passage in chosen]

    def _is_taken(self, passage: RowPassage) -> bool:
        if passage.kind is Kind.RANDOM and self._random.random() >= self._drawing.random:
            return False
        return says_something(passage)

    def _pair(self, lead: list[int], passage: RowPassage, *, titled: bool, window: int) -> Drawn:
        before = lead + (self._encoder.title(passage.title) if titled else [])
        ids, offsets = self._encoder.text(passage.text)
        places = np.array(offsets, dtype=np.int64).reshape(-1, 2)
        answer = _answer(passage, places)
        at = self._start(len(ids), answer, window=window)
        here = slice(at, at + window)
        pair = Pair(np.array([*before, *ids[here], END], dtype=np.int64), len(before), places[here])
        return Drawn(
            pair=pair,
            label=passage.label,
            teacher=float("nan") if passage.teacher is None else passage.teacher,
            answer=answer[here],
            strips=strips_of(places[here], passage.strips),
        )

    def _start(self, length: int, answer: NDArray[np.int8], *, window: int) -> int:
        last = max(length - window, 0)
        if last == 0:
            return 0
        marked = np.flatnonzero(answer == 1)
        if not len(marked):
            return self._random.choice((0, self._random.randint(0, last)))
        # The first place of the answer that is marked lies in the window, with what follows it where there is room.
        begin = int(marked[0])
        low, high = max(0, min(begin + 16, length) - window), min(begin, last)
        return self._random.randint(min(low, high), high)


def says_something(passage: RowPassage) -> bool:
    """Whether anything can be learnt from a passage: it has a label, or a teacher's score."""
    return passage.label >= 0 or passage.teacher is not None


def _answer(passage: RowPassage, places: NDArray[np.int64]) -> NDArray[np.int8]:
    if passage.label == 0:
        return np.zeros(len(places), dtype=np.int8)
    if passage.label != 1 or not passage.spans:
        return np.full(len(places), -1, dtype=np.int8)
    marks = np.zeros(len(places), dtype=np.int8)
    for start, end in passage.spans:
        marks[(places[:, 0] < end) & (places[:, 1] > start)] = 1
    return marks


def strips_of(places: NDArray[np.int64], strips: Sequence[tuple[int, int]]) -> NDArray[np.int16]:
    """The strip in which each token begins (its last character, where a space comes first); -1 between strips."""
    owner = np.full(len(places), -1, dtype=np.int16)
    if strips and len(places):
        bounds = np.array(strips, dtype=np.int64)
        last = np.maximum(places[:, 1] - 1, places[:, 0])
        found = np.searchsorted(bounds[:, 0], last, side="right") - 1
        inside = (found >= 0) & (last < bounds[np.maximum(found, 0), 1])
        owner[inside] = found[inside]
    return owner


def pad_rows(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rows of ids, padded to the longest."""
    ids = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
    return ids


def collate(groups: Sequence[Sequence[Drawn]]) -> Batch:
    """Groups as one batch."""
    drawn = [one for group in groups for one in group]
    ids = pad_rows([one.pair.ids for one in drawn])
    answer = np.full(ids.shape, -1, dtype=np.int8)
    strips = np.full(ids.shape, -1, dtype=np.int16)
    for index, one in enumerate(drawn):
        here = slice(one.pair.start, one.pair.start + len(one.answer))
        answer[index, here], strips[index, here] = one.answer, one.strips
    return Batch(
        ids=ids,
        answer=answer,
        strips=strips,
        group=np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
        label=np.array([one.label for one in drawn], dtype=np.int8),
        teacher=np.array([one.teacher for one in drawn], dtype=np.float32),
    )


def batches(groups: Sequence[Sequence[Drawn]], *, tokens: int, seed: int) -> Iterator[Batch]:
    """The groups of a pool, sorted by length, in batches of at most `tokens` tokens with their padding, shuffled."""
    order = sorted((group for group in groups if group), key=_longest)
    packed: list[list[Sequence[Drawn]]] = []
    rows = 0
    for group in order:
        if packed and (rows + len(group)) * _longest(group) <= tokens:
            packed[-1].append(group)
            rows += len(group)
        else:
            packed.append([group])
            rows = len(group)
    random.Random(seed).shuffle(packed)
    return (collate(one) for one in packed)


def _longest(group: Sequence[Drawn]) -> int:
    return max(len(one.pair.ids) for one in group)
