"""What in a sentence can stand in the place of another: people, places, numbers with their unit, other nouns.

A claim is made wrong by something of the same kind from the same text: such a swap keeps the form of the sentence, and
only the source tells that it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.text.japanese import tagged
from tadasu.text.wordlists import word_set

_DIGITS = re.compile(r"[\d０-９][\d０-９,，.．]*|[〇一二三四五六七八九十百千]+(?=[年月日人世歳回])")
_NUMBER = re.compile(
    r"(?P<month>(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2})?,?(?: \d{4})?)"
    r"|(?<![\w.,])[$£€]?\d[\d,.]*\d(?:st|nd|rd|th|s|%)?(?!\w)|(?<![\w.,])[$£€]?\d(?:st|nd|rd|th|%)?(?!\w)"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred)\b"
)
_NAME = re.compile(
    r"(?<![\w.])[A-ZÀ-Þ][\w'’-]*"
    r"(?:(?: of the| of| de| von| van| the| and the)? [A-ZÀ-Þ][\w'’-]*|(?<=\b[A-Z])\. ?[A-Z]\w+)*"
)
_SMALL = word_set(
    """
    The A An In On At It He She They His Her Its Their This That These Those There When While After Before As For But
    And Or If With From By To However Although Since During Also I We You Who What Which Where Why How One Some Many
    Most Both Each All Such Other Another Two Three Four Five Six Seven Eight Nine Ten Later Then Today Now Despite
    """
)
_LONGEST = {"ja": 16, "en": 40}


@dataclass(frozen=True, slots=True)
class Thing:
    """`text[start:end]` of a `kind`; things of one kind can stand in each other's place."""

    start: int
    end: int
    kind: str
    words: str


def things(text: str, language: str) -> list[Thing]:
    """All things of a sentence or short text, in order, apart from each other."""
    found = _japanese(text) if language == "ja" else _english(text)
    return [one for one in found if one.end - one.start <= _LONGEST[language]]


def kind_of(words: str, language: str) -> str:
    """The kind of an answer: that of the thing which makes up most of it; empty where there is none."""
    found = things(words, language)
    best = max(found, key=lambda one: one.end - one.start, default=None)
    return best.kind if best is not None and 2 * (best.end - best.start) >= len(words.strip()) else ""


def number_kind(words: str) -> str:
    """Digits as one sign, and years apart from other numbers.

    >>> number_kind("1945年"), number_kind("12人"), number_kind("1,200"), number_kind("1945")
    ('number #年', 'number #人', 'number #', 'number year')
    """
    bare = _DIGITS.sub("#", words)
    if bare == "#" and re.fullmatch(r"1[0-9]{3}|20[0-9]{2}", words):
        return "number year"
    return f"number {bare}"


def _english(text: str) -> list[Thing]:
    found: list[Thing] = []
    for match in _NUMBER.finditer(text):
        kind = "date" if match["month"] else number_kind(match[0]) if match[0][-1].isalnum() or "%" in match[0] else ""
        if match[0].isalpha() and not match["month"]:
            kind = "number word"
        if kind and match[0] != "May":
            found.append(Thing(match.start(), match.end(), kind, match[0]))
    taken = [(one.start, one.end) for one in found]
    for match in _NAME.finditer(text):
        start, words = match.start(), match[0]
        while (first := words.split(" ", 1)[0]) in _SMALL and " " in words:
            start, words = start + len(first) + 1, words.split(" ", 1)[1]
        if words in _SMALL or len(words) < 3 or any(a < start + len(words) and b > start for a, b in taken):
            continue
        if start == 0 and " " not in words:
            continue
        found.append(Thing(start, start + len(words), "name", words))
    return sorted(found, key=lambda one: one.start)


_KANA_ONLY = re.compile(r"[ぁ-ん]+")
_INSIDE = {"名詞", "接尾辞", "接頭辞"}


def _japanese(text: str) -> list[Thing]:
    found: list[Thing] = []
    run: list[tuple[str, Sequence[str], int]] = []
    for surface, part, start in [*tagged(text), ("", ("end",), len(text))]:
        if part[0] in _INSIDE or (run and surface in "・,，.．" and surface):
            run.append((surface, part, start))
            continue
        found += _of_run(text, run)
        run = []
    return found


def _of_run(text: str, run: Sequence[tuple[str, Sequence[str], int]]) -> list[Thing]:
    while run and run[0][1][0] == "接尾辞":
        run = run[1:]
    while run and run[-1][0] in "・,，.．":
        run = run[:-1]
    if not run:
        return []
    start, end = run[0][2], run[-1][2] + len(run[-1][0])
    words = text[start:end]
    levels = [set(part) for _, part, _ in run]
    if _DIGITS.match(words) or any("数詞" in one for one in levels[:1]):
        return [Thing(start, end, number_kind(words), words)]
    if any("人名" in one for one in levels):
        kind = "person"
    elif any("地名" in one for one in levels):
        kind = "place"
    elif any("固有名詞" in one for one in levels):
        kind = "proper"
    elif re.fullmatch(r"[ァ-ヺー・=]+", words) and len(words) > 2:
        kind = "katakana"
    elif len(words) >= 3 and len(run) > 1:
        kind = "compound"
    elif len(words) >= 2 and "普通名詞" in levels[-1] and "一般" in levels[-1] and not _KANA_ONLY.fullmatch(words):
        kind = "noun"
    else:
        return []
    return [Thing(start, end, kind, words)]
