"""Dates as they are written in English and Japanese, read as ISO 8601 with unknown parts left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tadasu.text.normalize import fold_with_offsets
from tadasu.text.wordlists import words

_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_ERA_LETTERS = {"M": "明治", "T": "大正", "S": "昭和", "H": "平成", "R": "令和"}
_MONTHS = words(
    """
    january february march april may june july august september october november december
    """
)
_MONTH = (
    r"(?P<{0}>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
_ERA_NOTE = r" ?\((?:明治|大正|昭和|平成|令和)(?:元|[0-9]{1,2})年?\)"
_DATE = re.compile(
    r"(?:(?P<era>明治|大正|昭和|平成|令和)(?P<era_year>元|[0-9]{1,2}|[一二三四五六七八九十]{1,3})"
    r"|(?<![0-9])(?P<jp_year>[0-9]{4})|(?P<kanji_year>[一二三四五六七八九〇]{4}))"
    rf"(?:{_ERA_NOTE})? ?年(?:度|{_ERA_NOTE})?"
    r"(?: ?(?P<jp_month>[0-9]{1,2}|[一二三四五六七八九十]{1,2}) ?月(?!間)"
    r"(?: ?(?P<jp_day>[0-9]{1,2}|[一二三四五六七八九十]{1,3}) ?日(?!間))?)?"
    r"|(?<![0-9])(?P<md_month>[0-9]{1,2})月(?P<md_day>[0-9]{1,2})日(?!間)"
    r"|(?<![A-Za-z0-9])(?P<letter>[MTSHR])(?P<letter_year>[0-9]{1,2})[./]"
    r"(?P<letter_month>[0-9]{1,2})[./](?P<letter_day>[0-9]{1,2})(?![0-9])"
    r"|(?<![0-9./-])(?P<iso_year>(?:1[0-9]|20)[0-9]{2})(?P<sep>[-/.])"
    r"(?P<iso_month>0?[1-9]|1[0-2])(?P=sep)(?P<iso_day>0?[1-9]|[12][0-9]|3[01])(?![0-9-])"
    rf"|\b{_MONTH.format('en_month')} (?P<en_day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<en_year>[0-9]{{4}}))?(?![0-9])"
    rf"|(?<![0-9])(?P<dm_day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('dm_month')}"
    r"(?:,? (?P<dm_year>[0-9]{4})(?![0-9])|\b)"
    rf"|\b{_MONTH.format('my_month')},? (?P<my_year>[0-9]{{4}})(?![0-9])"
)
_KANJI_DIGITS = {c: value for value, c in enumerate("〇一二三四五六七八九")}


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date at ``[start, end)`` of the source; a part that is not stated is 0.

    `iso` is ``2024-03-05``, ``2024-03``, ``2024``, or ``--03-05`` without a year.
    """

    year: int
    month: int
    day: int
    start: int
    end: int
    raw: str

    @property
    def iso(self) -> str:
        """The date as ISO 8601 writes it, as far as it is stated."""
        if not self.year:
            return f"--{self.month:02}-{self.day:02}"
        return "-".join([f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part)])


def dates(text: str) -> list[DateMention]:
    """Dates of `text` in order of appearance. Numeric forms whose day and month could be swapped are left alone.

    >>> [d.iso for d in dates("令和6年3月5日、March 5, 2024, 2024/03/05、3月5日")]
    ['2024-03-05', '2024-03-05', '2024-03-05', '--03-05']
    """
    folded = fold_with_offsets(text)
    found = []
    for mention in scan_dates(folded.text):
        start, end = folded.to_source(mention.start, mention.end)
        found.append(DateMention(mention.year, mention.month, mention.day, start, end, text[start:end]))
    return found


def same_date(claim: DateMention, evidence: DateMention) -> bool:
    """Whether `evidence` states every part that `claim` states, and alike.

    3月5日 holds by 2024-03-05, not by 2024-03.
    """
    return all(
        not said or said == shown
        for said, shown in (
            (claim.year, evidence.year), (claim.month, evidence.month), (claim.day, evidence.day),
        )
    )  # fmt: skip


def scan_dates(folded: str) -> Iterator[DateMention]:
    """`dates` over text that is folded already."""
    for match in _DATE.finditer(folded):
        year, month, day = _parts(match)
        if month <= 12 and day <= 31:
            yield DateMention(year, month, day, match.start(), match.end(), match.group())


def _parts(match: re.Match[str]) -> tuple[int, int, int]:
    if match["era"]:
        year = _ERAS[match["era"]] + (1 if match["era_year"] == "元" else _small(match["era_year"]))
        return year, _small(match["jp_month"]), _small(match["jp_day"])
    if match["jp_year"] or match["kanji_year"]:
        year = int(match["jp_year"] or "".join(str(_KANJI_DIGITS[c]) for c in match["kanji_year"]))
        return year, _small(match["jp_month"]), _small(match["jp_day"])
    if match["md_month"]:
        return 0, int(match["md_month"]), int(match["md_day"])
    if match["letter"]:
        year = _ERAS[_ERA_LETTERS[match["letter"]]] + int(match["letter_year"])
        return year, int(match["letter_month"]), int(match["letter_day"])
    if match["iso_year"]:
        return int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"])
    if match["en_month"]:
        return int(match["en_year"] or 0), _month(match["en_month"]), int(match["en_day"])
    if match["dm_month"]:
        return int(match["dm_year"] or 0), _month(match["dm_month"]), int(match["dm_day"])
    return int(match["my_year"]), _month(match["my_month"]), 0


def _month(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower()[:3]))


def _small(written: str | None) -> int:
    """A month or a day in figures or kanji (十二, 二十三)."""
    if not written:
        return 0
    if written[0].isascii():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return _KANJI_DIGITS[written] if len(written) == 1 else 99
    return (_KANJI_DIGITS[tens] if tens else 1) * 10 + (_KANJI_DIGITS[ones] if ones else 0)
