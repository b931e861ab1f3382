"""A question and its passages as inputs of a classifier from elsewhere, whatever its tokenizer makes of pairs.

Windows are stretches of text, not of ids: each is given to the tokenizer as a passage of its own, so that every model's
own special tokens stand where it expects them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from tokenizers import Encoding, Tokenizer

from tadasu.core.documents import Span
from tadasu.core.vectors import PassageText
from tadasu.runtime.onnx_models import sound
from tadasu.runtime.pair_rows import MOST_PARTS
from tadasu.runtime.pair_windows import bounds_of, windows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]

_ATTEMPTS = 6
_NO_BORDERS = np.empty(0, dtype=np.int64)
_PLACE = re.compile(r"(\{(?:question|passage|title)\})")


@dataclass(frozen=True, slots=True)
class Input:
    """One run of the model: what the tokenizer made of passage number `passage`, or of `window` in it."""

    passage: int
    encoded: Encoding
    window: Span | None


@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of one question; `failed` are the passages that could not be fitted in, with the reason."""

    inputs: list[Input]
    failed: dict[int, str]


class InputMaker:
    """Makes inputs of at most `window` tokens, by `template` or, where it is empty, as the tokenizer's own pairs.

    Words that look like special tokens, in a question or a passage, stay words.
    """

    def __init__(self, tokenizer: Tokenizer, *, window: int, template: str) -> None:
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._window = window
        self._template = _PLACE.split(template) if template else []

    def make(self, question: str, passages: Sequence[PassageText]) -> Inputs:
        """Inputs for all passages that hold words, in order; several for a long passage or a very long question."""
        made = Inputs([], {})
        parts = self._parts(question)
        filled = [index for index, passage in enumerate(passages) if passage.text.strip()]
        if len(parts) > MOST_PARTS:
            reason = f"the question makes {len(parts)} parts of what the model reads at once, more than {MOST_PARTS}"
            return Inputs([], dict.fromkeys(filled, reason))
        for part in parts:
            whole = self._encode([self._fill(part, passages[index], passages[index].text) for index in filled])
            for index, encoded in zip(filled, whole, strict=True):
                if len(encoded.ids) <= self._window:
                    made.inputs.append(Input(index, encoded, None))
                    continue
                windows = self._windows(part, passages[index])
                made.inputs.extend(Input(index, one, window) for one, window in windows)
                if not windows:
                    made.failed[index] = "no part of it fits into what the model reads at once"
        return made

    def _parts(self, question: str) -> list[str]:
        """The question, in overlapping parts of about half the window where it is longer than that."""
        encoded = self._bare(question)
        room = max(1, self._window // 2 - self._length("", PassageText("")))
        if len(encoded.ids) <= room:
            return [question]
        windows = windows_of(len(encoded.ids), room=room, borders=_NO_BORDERS)
        return [question[encoded.offsets[first][0] : encoded.offsets[last - 1][1]] for first, last in windows]

    def _windows(self, question: str, passage: PassageText) -> list[tuple[Encoding, Span]]:
        """Windows that fit, between strips where there are some; none where even short ones do not fit."""
        encoded = self._bare(passage.text)
        spans = np.array(encoded.offsets, dtype=np.int64).reshape(-1, 2)
        borders = bounds_of(np.maximum(spans[:, 1] - 1, spans[:, 0]), passage.strips)
        room = self._window - self._length(question, passage)
        for _ in range(_ATTEMPTS):
            if room < 1 or not len(spans):
                break
            windows = windows_of(len(spans), room=room, borders=borders[:, 0])
            stretches = [_stretch(window, spans, borders, passage) for window in windows]
            made = self._encode([self._fill(question, passage, stretch.of(passage.text)) for stretch in stretches])
            # A stretch may have more tokens alone than it had within its passage.
            over = max(len(one.ids) for one in made) - self._window
            if over <= 0:
                return list(zip(made, stretches, strict=True))
            room -= over
        return []

    def _length(self, question: str, passage: PassageText) -> int:
        """Tokens of an input without the passage's text."""
        return len(self._encode([self._fill(question, passage, "")])[0].ids)

    def _fill(self, question: str, passage: PassageText, text: str) -> str | tuple[str, str]:
        if not self._template:
            return question, text
        values = {"{question}": question, "{passage}": text, "{title}": passage.title}
        return "".join(values.get(part, part) for part in self._template)

    def _encode(self, texts: Sequence[str | tuple[str, str]]) -> list[Encoding]:
        clean = [sound(text) if isinstance(text, str) else (sound(text[0]), sound(text[1])) for text in texts]
        return self._tokenizer.encode_batch(clean) if clean else []

    def _bare(self, text: str) -> Encoding:
        return self._tokenizer.encode(sound(text), add_special_tokens=False)


def _stretch(window: tuple[int, int], spans: Integers, bounds: Integers, passage: PassageText) -> Span:
    """The window's code points, up to the strips' borders where it lies between strips; no code point is lost."""
    first, last = window
    begun, ended = np.flatnonzero(bounds[:, 0] == first), np.flatnonzero(bounds[:, 1] == last)
    start = passage.strips[begun[-1]][0] if len(begun) else int(spans[first, 0])
    end = passage.strips[ended[0]][1] if len(ended) else int(spans[last - 1, 1])
    return Span(start if first else 0, end if last < len(spans) else len(passage.text))
