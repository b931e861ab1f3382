"""Noun phrases: which words stand before a noun and tell which of its kind is meant."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from tadasu.answering.generation.facts import facts_of
from tadasu.text.normalize import fold
from tadasu.text.stopwords import ENGLISH_STOPWORDS, QUESTION_WORDS
from tadasu.text.wordlists import word_set

_WORD = re.compile(r"(?<![a-z0-9])[a-z][a-z'-]*|[\u3400-\u9fff々ァ-ヺー]+|[^\w\s]", re.IGNORECASE)
_SHIP = re.compile(r"[ぁ-ゖ]{2,}[丸号](?![\u3400-\u9fff々])")  # and trains: かもめ丸, ひかり号
_RUN = re.compile(
    r"(?<![a-z0-9])[a-z][a-z'-]*(?: [a-z][a-z'-]*)+|[\u3400-\u9fff々ァ-ヺー]{3,}"
    rf"|{_SHIP.pattern}",
    re.IGNORECASE,
)
# One noun that belongs to another: 祖父母の死亡.
_BELONGS = re.compile(
    r"(?<![\u3400-\u9fff々ァ-ヺー])([\u3400-\u9fff々ァ-ヺー]{2,})の(?=([\u3400-\u9fff々ァ-ヺー]{2,}))"
)
# A stop word that tells which is meant: the other parent.
_NO_NOUNS = (ENGLISH_STOPWORDS | QUESTION_WORDS) - {"other"}
# What a noun phrase begins with, and an adjective that may stand there first.
_OPENS = word_set("""
    a an the of for in on by with any our my your their its each every this that much no per from at about as or and
    """)
_ADJECTIVE = re.compile(r"paid|\w{2,}(?:ed|al|ive|ic|ous|ful|less|able|ible|ary)")
# How alike two words must be to be the same one misspelt.
_MISSPELT = 0.8
SAYS_NOT_WHICH = (
    QUESTION_WORDS
    | facts_of(
        "current total main general new kind type sort number amount many much get level one two three four "
        "five six seven eight nine ten first last exactly known official maximum minimum average usual "
        "standard whole full latest present common big large small major certain original around along among "
        "between after before against now out off up "
        "現在 全体 合計 主 種類 名前 名称 数 人 物 年 月 日 目 一番 最大 最小 平均 標準 通常 正式 最新"
    ).terms
)
"""Terms that stand beside a noun without saying which of its kind is meant."""


def replaced(text: str, source: str, *, known: frozenset[str]) -> frozenset[str]:
    """The terms of `text` that tell which of a kind is meant and in whose place `source` has others.

    `known` are all terms of the source and of what it stands under: what is there is not replaced.

    >>> sorted(replaced("the range of a diesel van", "Electric vans have a range of 310 km.", known=frozenset({"van"})))
    ['diesel']
    """
    mine = facts_of(text).terms | {before for before, _ in pairs(text)}
    theirs, leading = facts_of(source).terms, _leading(text)
    found = set()
    for telling, noun in pairs(text):
        if telling in known or telling not in leading or noun not in theirs or not (_tells(telling) and _tells(noun)):
            continue
        others = [before for before, after in pairs(source) if after == noun]
        if others and all(_tells(word) and word not in mine and not _alike(word, telling) for word in others):
            found.add(telling)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _leading(text: str) -> frozenset[str]:
    """The terms that stand where a noun phrase begins, first or second in it; every term of Japanese compounds."""
    found: set[str] = set()
    words = [word.casefold() for word in _WORD.findall(fold(text))]
    for at, word in enumerate(words):
        second = at > 0 and _ADJECTIVE.fullmatch(words[at - 1]) and (at == 1 or words[at - 2] in _OPENS)
        if not word.isascii() or at == 0 or words[at - 1] in _OPENS or second:
            found.update(facts_of(word).order)
    for named in _SHIP.findall(fold(text)):
        found.update(facts_of(named).order)
    return frozenset(found)


@lru_cache(maxsize=4096)
def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Neighbouring terms of one noun phrase: nothing but a space, in Japanese nothing at all, between them."""
    found = []
    for run in _RUN.findall(fold(text)):
        order: list[str] = []
        for word in run.split():
            # A compound has as many spellings as synonyms: web-based, Chinese-style.
            order.extend("" if term in _NO_NOUNS or "-" in word else term for term in facts_of(word).order)
        found += [(a, b) for a, b in pairwise(order) if a and b and a != b]
    for owner, owned in _BELONGS.findall(fold(text)):
        first, second = facts_of(owner).order, facts_of(owned).order
        if len(first) == 1 and second:
            found.append((first[0], second[0]))
    return tuple(found)


def _alike(a: str, b: str) -> bool:
    return SequenceMatcher(None, a, b).ratio() >= _MISSPELT


def _tells(word: str) -> bool:
    return word not in SAYS_NOT_WHICH and not word.isdigit()
