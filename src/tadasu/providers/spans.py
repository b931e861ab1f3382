"""From a logit per token to the words that answer: the best run of tokens, whole words of it, and how likely it is."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u024f]")
_SKIRT = " \t\r\n\u3000、。,;:"


@dataclass(frozen=True, slots=True)
class SpanRule:
    """How a run is chosen, as fitted on held-back questions.

    A token counts for a run by how far its logit lies above the highest one less `below`, at most `cap`; a run has at
    most `most` tokens. `weights` per language: bias, then the factors of the text's logit and of the run's (the
    logarithm of the summed exponentials of its tokens).
    """

    below: float
    cap: float
    most: int
    weights: Mapping[str, tuple[float, float, float]]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> SpanRule:
        """From a card; raises KeyError, TypeError or ValueError where it is broken."""
        weights = {str(k): (float(v[0]), float(v[1]), float(v[2])) for k, v in told["weights"].items()}
        if not weights or not all(math.isfinite(x) for one in weights.values() for x in one):
            raise ValueError("the weights of spans are not finite")
        return cls(float(told["below"]), float(told["cap"]), int(told["most"]), weights)

    def probability(self, language: str, *, text: float, run: float) -> float:
        """That the run is an answer, in [0, 1]."""
        bias, of_text, of_run = self.weights.get(language) or next(iter(self.weights.values()))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, bias + of_text * text + of_run * run))))


def best_run(tokens: Floats, rule: SpanRule) -> tuple[int, int]:
    """Tokens ``[first, end)`` of the likeliest answer; `tokens` holds at least one."""
    worth = np.minimum(tokens - (tokens.max() - rule.below), rule.cap)
    sums = np.concatenate(([0.0], np.cumsum(worth)))
    best, found = -math.inf, (0, 1)
    for first in np.flatnonzero(worth > 0):
        reach = sums[first + 1 : first + rule.most + 1]
        end = int(np.argmax(reach))
        if reach[end] - sums[first] > best:
            best, found = float(reach[end] - sums[first]), (int(first), int(first) + end + 1)
    return found


def run_logit(tokens: Floats, first: int, end: int) -> float:
    """The logarithm of the summed exponentials of a run."""
    return float(np.logaddexp.reduce(tokens[first:end]))


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """`start` and `end` without blanks and commas at the rim, and with the rest of Latin words and numbers cut there.

    >>> whole_words("It was Ann, in 1912.", 6, 10), whole_words("1912年に", 0, 5)
    ((7, 10), (0, 5))
    """
    while start < end and text[start] in _SKIRT:
        start += 1
    while end > start and text[end - 1] in _SKIRT:
        end -= 1
    while 0 < start < end and _WORD.match(text[start]) and _WORD.match(text[start - 1]):
        start -= 1
    while start < end < len(text) and _WORD.match(text[end - 1]) and _WORD.match(text[end]):
        end += 1
    return start, end
