"""What a text states that can be checked: numbers, dates, names, and the words it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from tadasu.text.analyze import content_terms, tokens
from tadasu.text.japanese import tagged
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold
from tadasu.text.numbers import DateMention, Number, dates, numbers, same_date, same_quantity
from tadasu.text.units import CANONICAL

_MARKUP = re.compile(r"\*\*|__|~~|`|(?m:^\s*(?:#{1,6}|>|[-*•・]|\(?\d{1,2}[.)、](?=\s*\D))\s+)")
_CONTENT = "xqzw"
_DIGITS = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")
_ERA_BESIDE = re.compile(r"年\(((?:明治|大正|昭和|平成|令和)(?:元|\d{1,2})年?)\)")
_LINK = re.compile(r"(?:https?|ftp|mailto|data|javascript):[^\s<>()\[\]{}「」（）]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)})\b(?= (?:day|week|month|year|hour|time|attempt|working|calendar))")
_PLACE = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th\b|[日週回度か月年ヶ]+目)|第(\d{1,2})[日週回]|初[日回]")
_ASCII = re.compile(r"[a-z0-9]")
_KANJI = re.compile(r"[\u3400-\u9fff々]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]")
_NAMED = frozenset(("人名", "地名"))
_KANJI_NAME = re.compile(r"[\u3400-\u9fff々ヶノ]{2,}")
_FOREIGN_NAME = re.compile(r"[^\x00-\x7f]")


class Facts:
    """What a text states. Each reading is made when first asked for, and kept."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def flat(self) -> str:
        """The text, folded, without case."""
        return fold(self.text).casefold()

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its quantities; the stated parts of a date are among them."""
        return tuple(numbers(self.text))

    @cached_property
    def ordinals(self) -> frozenset[int]:
        """The places in a row that it names: 3 for "the third day", 3日目, 第3日; 1 for 初日."""
        english = (_ORDINALS.index(word) + 1 for word in _ORDINAL.findall(self.flat))
        return frozenset(english) | {int(a or b or 1) for a, b in _PLACE.findall(self.flat)}

    @cached_property
    def dates(self) -> tuple[DateMention, ...]:
        """Its dates."""
        return tuple(dates(self.text))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its names, codes and quoted terms, without what is a unit only (Pa)."""
        return tuple(name for name in proper_names(self.text) if name not in CANONICAL)

    @cached_property
    def tagged_names(self) -> tuple[str, ...]:
        """People and places that the analyser of Japanese knows as such, whole, without titles and countries."""
        found, run, end = list[str](), "", 0
        for surface, part, start in [*tagged(self.flat), ("", ("",), -1)]:
            named = part[:2] == ("名詞", "固有名詞") and part[2] in _NAMED and part[3] != "国"
            if run and not (named and start == end):
                found.append(run)
                run = ""
            if named:
                run, end = run + surface, start + len(surface)
        return tuple(dict.fromkeys(name for name in found if _KANJI_NAME.fullmatch(name)))

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Its web and mail addresses."""
        return tuple(dict.fromkeys(link.rstrip(".,;:!?'\"。、") for link in _LINK.findall(self.flat)))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Its search terms, in sequence."""
        return tuple(tokens(self.text))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its content terms."""
        return frozenset(content_terms(self.text))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content terms that are no part of a number or a date."""
        # A word of content keeps the analyser from falling back to stop words where a figure was all.
        return frozenset(content_terms(f"{self._wordy} {_CONTENT}")) - {_CONTENT}

    @cached_property
    def figures(self) -> frozenset[str]:
        """Every run of digits in it, folded, without leading zeros and grouping."""
        return frozenset(run.lstrip("0") or "0" for run in _DIGITS.findall(_GROUPED.sub("", self.flat)))

    @cached_property
    def loose_figures(self) -> frozenset[str]:
        """The runs of digits that belong to no number, date or name: 5S, (3), the era year beside a year."""
        rest = fold(self._wordy).casefold()
        for name in self.names:
            rest = rest.replace(fold(name).casefold(), " ")
        return facts_of(rest).figures if _DIGITS.search(rest) else frozenset()

    @cached_property
    def _wordy(self) -> str:
        """The text with blanks where its numbers and dates stand."""
        text = self.text
        for start, end in [(n.start, n.end) for n in self.numbers] + [(d.start, d.end) for d in self.dates]:
            text = text[:start] + " " * (end - start) + text[end:]
        return text

    @cached_property
    def eras(self) -> tuple[DateMention, ...]:
        """Years of an era told in brackets beside a year: 1971年（昭和46年）."""
        return tuple(mention for era in _ERA_BESIDE.findall(fold(self.text)) for mention in dates(era))

    @cached_property
    def language(self) -> str:
        """``en``, ``ja`` or ``und``, by its script."""
        return detect(self.text)

    def states_number(self, number: Number) -> bool:
        """Whether an equal quantity stands here; a number spelled out and unitless counts only against another one."""
        if any(same_quantity(number, mine) for mine in self.numbers):
            return True
        return number.spelled and not number.unit and not any(not mine.unit for mine in self.numbers)

    def states_date(self, date: DateMention) -> bool:
        """Whether every stated part of `date` stands here in one date."""
        return any(same_date(date, mine) for mine in (*self.dates, *self.eras))

    def states_name(self, name: str) -> bool:
        """Whether `name` stands here as whole words: 京都 is not in 東京都, PT-305 not in PT-3051."""
        words = facts_of(name).order
        if words and _within(words, self.order):
            return True
        wanted = fold(name).strip().casefold()
        at = self.flat.find(wanted)
        while wanted and at >= 0:
            before, after = self.flat[at - 1 : at], self.flat[at + len(wanted) : at + len(wanted) + 1]
            if not _one_word(before, wanted[0]) and not _one_word(wanted[-1], after):
                return True
            at = self.flat.find(wanted, at + 1)
        return False

    def whole_name(self, name: str) -> str:
        """`name` with the kanji that it stands among here: a rule may have cut it out of a longer word."""
        wanted = fold(name).strip().casefold()
        start = self.flat.find(wanted)
        if start < 0:
            return name
        end = start + len(wanted)
        while start and _KANJI.match(self.flat[start]) and _KANJI.match(self.flat[start - 1]):
            start -= 1
        while end < len(self.flat) and _KANJI.match(self.flat[end - 1]) and _KANJI.match(self.flat[end]):
            end += 1
        return self.flat[start:end]


def plain(sentence: str) -> str:
    """`sentence` without Markdown and list marks: **42** is 42, and the 1 of "1. First" is no number."""
    return _MARKUP.sub("", sentence).strip()


@lru_cache(maxsize=8192)
def facts_of(text: str) -> Facts:
    """The facts of `text`; kept for texts seen lately, as evidence is checked many times."""
    return Facts(text)


def claimed_numbers(facts: Facts) -> list[Number]:
    """The numbers of a claim that are no part of a date."""
    return [n for n in facts.numbers if not any(d.start < n.end and n.start < d.end for d in facts.dates)]


def joined(texts: Sequence[str]) -> Facts:
    """The facts of several texts together."""
    return facts_of("\n".join(texts))


def is_foreign(name: str) -> bool:
    """Whether a name is written in a script that another language would not keep (katakana, kanji)."""
    return _FOREIGN_NAME.search(name) is not None


def _within(words: Sequence[str], order: Sequence[str]) -> bool:
    if words[0] not in order:
        return False
    return any(tuple(order[at : at + len(words)]) == tuple(words) for at in range(len(order) - len(words) + 1))


def _one_word(a: str, b: str) -> bool:
    """Whether two neighbouring characters belong to one word."""
    return bool(a and b) and any(kind.match(a) and kind.match(b) for kind in (_ASCII, _KANJI, _KATAKANA))
