"""Questions by topic: their encoder vectors merged by average linkage, and each topic's most telling words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tadasu.text.analyze import content_terms
from tadasu.text.language import detect
from tadasu.text.normalize import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tadasu.core.vectors import FloatMatrix

TOGETHER = 0.2
"""Questions are of one topic while their mean similarity, after `centred`, is at least this."""
ALIKE = 0.9
"""Two questions so similar, after `centred`, ask the same."""
BACKGROUND = (
    "How old is the oldest tree in the world?",
    "Which team won the final last year?",
    "How do I bake bread without yeast?",
    "When does the train to the airport leave?",
    "Who wrote the national anthem?",
    "What is the capital of Peru?",
    "How much does a new bicycle cost?",
    "Why is the sky blue?",
    "Can I cancel my subscription online?",
    "What are the symptoms of a cold?",
    "オーケストラには何人の奏者がいますか",
    "引っ越しの届け出はどこに出しますか",
    "富士山の高さは何メートルですか",
    "猫は一日に何時間眠りますか",
    "昨日の株価はいくらでしたか",
    "味噌汁の作り方を教えてください",
    "江戸幕府を開いたのは誰ですか",
    "会議室を予約する方法は",
    "この薬は食後に飲みますか",
    "次のオリンピックはどこで開かれますか",
)
"""Questions about anything: what they have in common says nothing of a topic."""
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_DIGITS = re.compile(r"[0-9.,:/-]+")
_TELLING = 3


def centred(texts: Sequence[str], encode: Callable[[Sequence[str]], FloatMatrix]) -> FloatMatrix:
    """A vector of unit length for each of `texts`, without what all questions in its language have in common.

    Encoders put all sentences into a narrow cone, and each language into a corner of it (Ethayarajh 2019), so that a
    plain cosine hardly tells topics apart and never brings two languages together. So each language's vectors are
    taken from their own middle, which `BACKGROUND` keeps from being that of one topic.
    """
    vectors = np.asarray(encode(texts), dtype=np.float64)
    others = np.asarray(encode(BACKGROUND), dtype=np.float64)
    japanese = np.array([_japanese(text) for text in texts], dtype=bool)
    of_others = np.array([_japanese(text) for text in BACKGROUND], dtype=bool)
    for flag in (True, False):
        rows = japanese == flag
        if rows.any():
            vectors[rows] -= np.concatenate((vectors[rows], others[of_others == flag])).mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)


def _japanese(text: str) -> bool:
    return detect(text) == "ja"


def grouped(vectors: FloatMatrix, *, least: float = TOGETHER, weights: Sequence[int] | None = None) -> list[list[int]]:
    """Rows of `vectors` (unit length) by group, each in order, groups by their first row.

    Average linkage (Sokal and Michener 1958) by chains of nearest neighbours (Benzécri 1982), which takes time and
    memory of n²: groups are merged while the mean cosine between their rows is at least `least`. `weights` counts a row
    several times. The same rows give the same groups; among equals, the earlier row goes first.
    """
    unit: NDArray[np.float64] = np.asarray(vectors, dtype=np.float64)
    near = unit @ unit.T
    np.fill_diagonal(near, -np.inf)
    sizes = np.ones(len(unit)) if weights is None else np.asarray(weights, dtype=np.float64)
    growing = {row: [row] for row in range(len(unit))}
    grown: list[list[int]] = []
    chain: list[int] = []
    while growing:
        if not chain:
            chain.append(min(growing))
        here = chain[-1]
        nearest = int(np.argmax(near[here]))
        if len(chain) > 1 and near[here, chain[-2]] >= near[here, nearest]:
            nearest = chain[-2]  # among equals the one that it came from, so that the chain ends
        if near[here, nearest] < least:
            # Merging others never brings them nearer than the nearest was: this group is complete.
            grown.append(growing.pop(here))
            near[here, :] = near[:, here] = -np.inf
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            into, gone = sorted((here, nearest))
            _merge(near, sizes, into, gone)
            growing[into] += growing.pop(gone)
            del chain[-2:]
        else:
            chain.append(nearest)
    return sorted(sorted(rows) for rows in grown)


def _merge(near: NDArray[np.float64], sizes: NDArray[np.float64], into: int, gone: int) -> None:
    """Put group `gone` into `into`: similarities become the means over all pairs of rows."""
    both = sizes[into] + sizes[gone]
    mean = (sizes[into] * near[into] + sizes[gone] * near[gone]) / both
    near[into, :] = near[:, into] = mean
    near[gone, :] = near[:, gone] = -np.inf
    near[into, into] = -np.inf
    sizes[into] = both


def telling_words(members: Sequence[str], everything: Sequence[str], *, most: int = _TELLING) -> list[str]:
    """The words by which the questions `members` stand out among `everything`, most telling first.

    A term counts the members that hold it, times the logarithm of how rare it is among all; it is shown as the word
    that it stands behind most often.
    """
    others = Counter(term for text in everything for term in set(content_terms(text)))
    inside = Counter(term for text in members for term in set(content_terms(text)))
    words = _words_of(members)

    def weight(term: str) -> float:
        return inside[term] * math.log1p(len(everything) / max(1, others[term]))

    shown = (term for term in inside if term in words and not _DIGITS.fullmatch(term))
    ordered = sorted(shown, key=lambda term: (-weight(term), term))
    return list(dict.fromkeys(words[term] for term in ordered))[:most]


def _words_of(texts: Sequence[str]) -> dict[str, str]:
    """Each term as it is written most often: English terms are stems, which nobody reads."""
    seen: dict[str, Counter[str]] = {}
    for text in texts:
        for word in _WORD.findall(fold(text)):
            terms = content_terms(word) if word.isascii() else []
            for term in terms[:1]:
                seen.setdefault(term, Counter())[word] += 1
        for term in content_terms(text):
            if not term.isascii():
                seen.setdefault(term, Counter())[term] += 1
    return {term: min(forms, key=lambda form: (-forms[form], form)) for term, forms in seen.items()}
