"""Questions whose answer was in the index until one word of them was replaced: "a neighbour is served".

Whoever asks for the floor space of a warehouse that does not exist must not be told that of the one next to it. The
public sets ask only for what they hold, so this is made: the rarest name, number or noun of a question that its passage
holds gives way to one of the same kind from a question about another article.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tadasu.testing.datasets import PassageRow, Question, normal
from tadasu.text.japanese import tagged
from tadasu.text.stopwords import ENGLISH_STOPWORDS, QUESTION_WORDS
from training.feature_sets import Asked

_PATTERNS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "ja": {
        "katakana": re.compile(r"[\u30a1-\u30fa\u30fc]{2,}"),
        "latin": re.compile(r"[A-Za-z][A-Za-z0-9-]+"),
        "number": re.compile(r"\d[\d,.]*"),
        # What is asked of something: の床面積は何
        "attribute": re.compile(
            r"(?<=の)[\u30a1-\u30fa\u30fc\u3400-\u9fff]{2,6}(?=[はを](?:[何誰？?。]|なに|どこ|いつ|いくら|どの|$))"
        ),
    },
    "en": {
        "name": re.compile(r"(?<=[a-z,] )[A-Z][\w'-]*\w(?: [A-Z][\w'-]*\w)*"),
        "number": re.compile(r"\b\d[\d,.]*\b"),
        "attribute": re.compile(r"\b[a-z]{4,}(?= of )"),
        "modifier": re.compile(r"(?<= the )[a-z]{4,}(?= [a-z]{4,})"),
    },
}
_ASKS = re.compile(r"何|誰|[年月日人回]$")


@dataclass(frozen=True, slots=True)
class _Word:
    kind: str
    text: str
    key: str


class Swapper:
    """Replaces words of questions in one language; the words come from `pool`, what is rare is told by `rows`."""

    def __init__(self, language: str, *, pool: Iterable[Question], rows: Sequence[PassageRow]) -> None:
        self._language = language
        self._texts = {row.id: normal(f"{row.title} {row.text}") for row in rows}
        self._frequencies: dict[str, int] = {}
        words: dict[str, dict[str, _Word]] = {}
        for question in pool:
            for word, _ in self._words(question):
                words.setdefault(word.kind, {}).setdefault(word.text, word)
        self._pool = {kind: sorted(found.values(), key=lambda one: _hash(one.text)) for kind, found in words.items()}

    def swapped(self, asked: Asked) -> Asked | None:
        """`asked` with another word in it, or None where it has no word that its passage holds.

        Its `gold` is the passage that used to answer.
        """
        gold = " ".join(self._texts[id_] for id_ in sorted(asked.gold))
        held = [(word, at) for word, at in self._words(asked.question) if normal(word.text) in gold]
        for word, at in sorted(held, key=lambda one: (self._frequency(one[0].text), one[1])):
            other = self._other(word, asked.question, gold)
            if other is not None:
                text = asked.question.text
                new = f"{text[:at]}{other}{text[at + len(word.text) :]}"
                return replace(asked, question=replace(asked.question, text=new))
        return None

    def _other(self, word: _Word, question: Question, gold: str) -> str | None:
        pool = self._pool.get(word.kind, [])
        start = _hash(f"{question.id}\n{question.text}") % max(len(pool), 1)
        for other in [*pool[start:], *pool[:start]][:200]:
            apart = other.key != question.key and normal(other.text) not in gold
            if apart and normal(other.text) not in normal(question.text):
                return other.text
        return None

    def _words(self, question: Question) -> Iterator[tuple[_Word, int]]:
        for kind, text, at in self._found(question.text):
            if text.casefold() in ENGLISH_STOPWORDS or text.casefold() in QUESTION_WORDS or _ASKS.search(text):
                continue
            yield _Word(kind, text, question.key), at

    def _found(self, question: str) -> Iterator[tuple[str, str, int]]:
        for kind, pattern in _PATTERNS[self._language].items():
            yield from ((kind, match.group(), match.start()) for match in pattern.finditer(question))
        if self._language == "ja":
            yield from _japanese_words(question)

    def _frequency(self, word: str) -> int:
        if word not in self._frequencies:
            self._frequencies[word] = sum(normal(word) in text for text in self._texts.values())
        return self._frequencies[word]


def _japanese_words(question: str) -> Iterator[tuple[str, str, int]]:
    """Proper nouns by their kind, and the first word of a compound of two."""
    last: tuple[str, int, int] = ("", -1, -1)
    for surface, levels, start in tagged(question):
        end = start + len(surface)
        kind = levels[2] if levels[1] == "固有名詞" else "common" if levels[:2] == ("名詞", "普通名詞") else ""
        if last[0] == kind == "人名" and last[2] == start:
            last = (kind, last[1], end)
            continue
        if last[0] and (last[0] != "common" or (kind and last[2] == start)):
            yield last[0], question[last[1] : last[2]], last[1]
        last = (kind if len(surface) > 1 else "", start, end)
    if last[0] and last[0] != "common":
        yield last[0], question[last[1] : last[2]], last[1]


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
