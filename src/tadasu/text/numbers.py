"""Quantities as they are written in English and Japanese, read as values that can be compared.

Full-width digits, digit grouping, 万・億・兆, kanji numerals, percent, units, ranges, signs and scale words are
understood. Versions, model codes and telephone numbers are not quantities: `names` gives those. Dates have a module of
their own; here each stated part of a date counts as a number, so that "in March" is found in 2024-03-05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from tadasu.text.dates import DateMention, dates, same_date, scan_dates
from tadasu.text.normalize import fold_with_offsets
from tadasu.text.numerals import JAPANESE, LARGE, NUMBER_WORDS, SCALE_WORDS, clearly_numeric, value_of, word_value
from tadasu.text.units import CANONICAL, LOOSE, PREFIXED, SCALES, UNIT

__all__ = ["DateMention", "Number", "dates", "numbers", "same_date", "same_quantity"]


@dataclass(frozen=True, slots=True)
class Number:
    """A quantity: `value` in `unit` (canonical, "" where none is written), at ``[start, end)`` of the source.

    `spelled` says that it was written in words (three, 三), which may be idiom rather than measure.
    """

    value: Decimal
    unit: str
    start: int
    end: int
    raw: str
    spelled: bool = False


_SCALE_SUFFIXES = SCALE_WORDS | {"mn": 10**6, "bn": 10**9, "tn": 10**12}
_MONEY_SUFFIXES = {"K": 1000, "M": 10**6, "m": 10**6, "B": 10**9, "b": 10**9, "T": 10**12}
_SCALE = re.compile(
    r" ?(?P<word>hundred|thousand|million|billion|trillion|bn|mn|tn)\b|(?P<k>k)\b|(?P<money>[KMBTmb])\b"
)
_NUMBER = re.compile(
    # Versions and addresses, telephone and serial numbers: passed over as a whole.
    r"(?P<skip>\bv(?:er)?\.?[0-9]+(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+){2,}|(?<![0-9-])[0-9]{2,5}-[0-9]{1,4}-[0-9]{3,4}(?![0-9])"
    r"|(?<![A-Za-z_])(?!FY|CY)[A-Za-z_]+[-_/]?[0-9][A-Za-z0-9_-]*)"
    r"|(?P<time>(?<![0-9:])(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?![0-9:]))"
    r"|(?P<mixed>(?<![0-9])(?P<whole>[0-9]+) (?P<over>[1-9][0-9]?)/(?P<under>[2-9]|[1-9][0-9])(?![0-9/]))"
    rf"|(?! )(?P<sign>[-▲△+±]|マイナス|minus )?(?P<currency>US\$|[$¥€£]|(?<![A-Za-z])(?:EUR|USD|GBP|JPY)(?= ?[0-9]))? ?"
    rf"(?P<digits>{JAPANESE}|(?<![0-9A-Za-z])\.[0-9]+)(?:[eE](?P<power>[+-]?[0-9]{{1,2}})(?![A-Za-z0-9]))?"
    rf"|(?P<words>{NUMBER_WORDS})",
    re.IGNORECASE,
)
_BEFORE_MINUS = frozenset("([{=:,;~<>*")
_HALF_DAY = re.compile(r" ?([AaPp])(?:\.[Mm]\.|[Mm]\b)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_RANGE = re.compile(r" ?(?:-|~|—|to|から|ないし|and) ?(?=[-$¥€£]?[0-9])")


def numbers(text: str) -> list[Number]:
    """Quantities of `text` in order of appearance.

    >>> [(str(n.value), n.unit) for n in numbers("売上は1億2,300万円（前年比１０％増）、2-4 kg")]
    [('123000000', '円'), ('10', '%'), ('2', 'kg'), ('4', 'kg')]
    """
    folded = fold_with_offsets(text)
    return [
        Number(n.value, n.unit, *(at := folded.to_source(n.start, n.end)), text[slice(*at)], n.spelled)
        for n in _scan(folded.text)
    ]


def same_quantity(a: Number, b: Number) -> bool:
    """Whether two numbers state the same quantity: equal after scaling units (1 km, 1,000 m; 3割, 30 %).

    A number without a unit, or with a mere counter (個, 件, 人), agrees with any unit: a table gives the unit in its
    head, another language by a noun.
    """
    value_a, unit_a = _based(a)
    value_b, unit_b = _based(b)
    if unit_a == unit_b:
        return value_a == value_b
    bare_a, bare_b = not unit_a or unit_a in LOOSE, not unit_b or unit_b in LOOSE
    return (bare_a or bare_b) and a.value == b.value


def _based(number: Number) -> tuple[Decimal, str]:
    base, factor = SCALES.get(number.unit, (number.unit, Decimal(1)))
    return number.value * factor, base


@dataclass(frozen=True, slots=True)
class _Found:
    """A number at ``[start, end)`` of the folded text; `scale` is the 万 or million that its figures stand for."""

    value: Decimal
    unit: str
    start: int
    end: int
    spelled: bool = False
    scale: int = 1


def _scan(text: str) -> list[_Found]:
    found: list[_Found] = []
    at = 0
    for mention in scan_dates(text):
        found.extend(_scan_between(text, at, mention.start))
        for part, unit in ((mention.year, "年"), (mention.month, "月"), (mention.day, "日")):
            if part:
                found.append(_Found(Decimal(part), unit, mention.start, mention.end))
        at = mention.end
    found.extend(_scan_between(text, at, len(text)))
    return found


def _scan_between(text: str, start: int, end: int) -> Iterator[_Found]:
    pending: _Found | None = None
    for match in _NUMBER.finditer(text, start, end):
        if match["skip"]:
            continue
        if match["time"]:
            if pending is not None:
                yield pending
                pending = None
            hours, minutes = match["time"].split(":")
            hour, _ = _of_day(text, Decimal(hours), match.start(), match.end())
            yield _Found(hour, "時", match.start(), match.end())
            yield _Found(Decimal(minutes), "min", match.start(), match.end())
            continue
        current = _read(text, match, end)
        if current is None:
            continue
        if pending is not None:
            yield _with_unit_of(text, pending, current)
        pending = current
    if pending is not None:
        yield pending


def _read(text: str, match: re.Match[str], end: int) -> _Found | None:
    if match["words"]:
        unit, stop = _unit(text, match.end(), end)
        return _Found(Decimal(word_value(match["words"])), unit, match.start(), stop, spelled=True)
    if match["mixed"]:
        value = int(match["whole"]) + Decimal(match["over"]) / int(match["under"])
        unit, stop = _unit(text, match.end(), end)
        return _Found(value, unit, match.start(), stop)
    return _digit_number(text, match, end)


def _with_unit_of(text: str, first: _Found, second: _Found) -> _Found:
    """The first number of a range takes the unit and the scale written after the second: 2〜3億円."""
    between = _RANGE.match(text, first.end)
    if first.unit or between is None or between.end() != second.start:
        return first
    scale = second.scale if first.scale == 1 and first.value * second.scale < second.value else 1
    return replace(first, value=first.value * scale, unit=second.unit)


def _digit_number(text: str, match: re.Match[str], end: int) -> _Found | None:
    digits, start, stop = match["digits"], match.start(), match.end()
    spelled = not any("0" <= c <= "9" for c in digits)
    begins = match.start("digits")
    before = text[begins - 1] if begins else ""
    if spelled and not clearly_numeric(text, digits, before, begins, match.end("digits")):
        return None
    value = value_of(digits)
    if value is None:
        return None
    if match["power"]:
        value = value.scaleb(int(match["power"]))
    sign, currency = match["sign"], match["currency"]
    if sign and (sign in "▲△" or sign.lower() in ("マイナス", "minus ") or (sign == "-" and _is_minus(text, start))):
        value = -value
    elif sign:
        start = match.start("currency") if currency else begins
    scale = LARGE.get(digits[-1], 1)
    unscaled = value
    value, stop = _scaled(text, value, stop, end, money=bool(currency))
    if currency:
        return _Found(value, PREFIXED[currency.upper()], start, stop, spelled, scale)
    scale = int(value / unscaled) if value != unscaled else scale
    unit, stop = _unit(text, stop, end)
    hour, after = _of_day(text, value, begins, stop)
    if unit == "時" or (not unit and after > stop):
        return _Found(hour, "時", start, after if not unit else stop, spelled)
    if not unit and not spelled:
        ordinal = _ORDINAL.match(text, stop, end)
        if ordinal:
            stop = ordinal.end()
        elif stop < end and text[stop].isascii() and (text[stop].isalpha() or text[stop] == "_"):
            return None  # a code: 5G, 3D, 4x4
    return _Found(value, unit, start, stop, spelled, scale)


def _of_day(text: str, hour: Decimal, start: int, stop: int) -> tuple[Decimal, int]:
    """An hour on the clock of 24, by 午後 before it or p.m. after it, and where that ends."""
    half = _HALF_DAY.match(text, stop)
    afternoon = half[1] in "Pp" if half else text.endswith("午後", 0, start)
    if hour > 12 or not (half or text.endswith(("午後", "午前"), 0, start)):
        return hour, stop
    return hour % 12 + (12 if afternoon else 0), half.end() if half else stop


def _is_minus(text: str, at: int) -> bool:
    """Whether a hyphen is a sign: nothing that it could join stands before it, and a figure right after."""
    if not text[at + 1 : at + 2].isdigit() and text[at + 1 : at + 2] not in ("$", "¥", "€", "£", "."):
        return False
    before = text[at - 1] if at else " "
    return before.isspace() or before in _BEFORE_MINUS or "\u3001" <= before <= "\u3096"


def _scaled(text: str, value: Decimal, stop: int, end: int, *, money: bool) -> tuple[Decimal, int]:
    scale = _SCALE.match(text, stop, end)
    if scale is None:
        return value, stop
    if scale["word"]:
        return value * _SCALE_SUFFIXES[scale["word"]], scale.end()
    if scale["k"]:
        return value * 1000, scale.end()
    if money:
        return value * _MONEY_SUFFIXES[scale["money"]], scale.end()
    return value, stop


def _unit(text: str, stop: int, end: int) -> tuple[str, int]:
    unit = UNIT.match(text, stop, end)
    if unit is None:
        return "", stop
    written = unit["latin"] or unit["other"]
    if written == "分" and text.startswith("の", unit.end()):
        return "", stop
    return CANONICAL[written], unit.end()
