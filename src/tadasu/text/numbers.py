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
from tadasu.text.units import CANONICAL, LOOSE, PREFIXED, SCALES, UNIT
from tadasu.text.wordlists import words

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


_ARABIC = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:[ '][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
_KANJI = "〇零一二三四五六七八九十百千壱弐"
_JAPANESE = rf"(?:{_ARABIC}|[{_KANJI}])(?:{_ARABIC}|[{_KANJI}万億兆])*"
_UNDER_TWENTY = words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_WORDS = {word: value for value, word in enumerate(_UNDER_TWENTY)}
_WORDS |= {word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
_SCALE_WORDS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALE_SUFFIXES = _SCALE_WORDS | {"mn": 10**6, "bn": 10**9, "tn": 10**12}
_MONEY_SUFFIXES = {"K": 1000, "M": 10**6, "m": 10**6, "B": 10**9, "b": 10**9, "T": 10**12}
_SCALE = re.compile(
    r" ?(?P<word>hundred|thousand|million|billion|trillion|bn|mn|tn)\b|(?P<k>k)\b|(?P<money>[KMBTmb])\b"
)
_WORD_NUMBER = "|".join(sorted((w for w in _WORDS if w not in ("zero", "one")), key=len, reverse=True))
_NUMBER = re.compile(
    # Versions and addresses, telephone and serial numbers: passed over as a whole.
    r"(?P<skip>\bv(?:er)?\.?[0-9]+(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+){2,}|(?<![0-9-])[0-9]{2,5}-[0-9]{1,4}-[0-9]{3,4}(?![0-9])"
    r"|(?<![A-Za-z_])(?!FY|CY)[A-Za-z_]+[-_/]?[0-9][A-Za-z0-9_-]*)"
    r"|(?P<time>(?<![0-9:])(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?![0-9:]))"
    r"|(?P<mixed>(?<![0-9])(?P<whole>[0-9]+) (?P<over>[1-9][0-9]?)/(?P<under>[2-9]|[1-9][0-9])(?![0-9/]))"
    rf"|(?! )(?P<sign>[-▲△+±]|マイナス|minus )?(?P<currency>US\$|[$¥€£])? ?"
    rf"(?P<digits>{_JAPANESE}|(?<![0-9A-Za-z])\.[0-9]+)(?:[eE](?P<power>[+-]?[0-9]{{1,2}})(?![A-Za-z0-9]))?"
    rf"|(?P<words>\b(?:{_WORD_NUMBER})(?:[- ](?:{_WORD_NUMBER}|one|"
    rf"(?:hundred|thousand)(?: and(?= (?:{_WORD_NUMBER}|one)\b))?|million|billion))*\b)",
    re.IGNORECASE,
)
_BEFORE_MINUS = frozenset("([{=:,;~<>*")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_RANGE = re.compile(r" ?(?:-|~|—|to|から|ないし|and) ?(?=[-$¥€£]?[0-9])")
_DIGITS = {c: value for value, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "壱": 1, "弐": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_PIECE = re.compile(rf"{_ARABIC}|.")
_IDIOMS = re.compile(
    r"十分(?![0-9間前後])|一(?:番|方|般|部|応|種|時(?!間)|度|切|致|緒|体|気|定|覧|貫|見|層|同|連|員|環|瞬|挙|旦|律|人(?:ひ|で)|日中|年中|昨|回り|つ一つ|段)"
    r"|二階堂|三日月|九頭竜|四日市|五月雨|五月晴|千歳|八代県|八代市|三重|四国|九州|八百|千葉|千代|百貨|百科|百合|十字|二重|二人三脚|三角|四角|五輪|六本木|二次元|三次元|一次的|二次的|七夕|三味|四季|五感|八幡|九段|十勝|万一"
)
_KANJI_CHARACTER = re.compile(r"[\u3400-\u9fff]")


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
            hours, minutes = match["time"].split(":")
            yield _Found(Decimal(hours), "時", match.start(), match.end())
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
        return _word_number(text, match, end)
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
    if spelled and not _clearly_numeric(text, digits, before, begins, match.end("digits")):
        return None
    value = _value(digits)
    if value is None:
        return None
    if match["power"]:
        value = value.scaleb(int(match["power"]))
    sign, currency = match["sign"], match["currency"]
    if sign and (sign in "▲△" or sign.lower() in ("マイナス", "minus ") or (sign == "-" and _is_minus(text, start))):
        value = -value
    elif sign:
        start = match.start("currency") if currency else begins
    scale = _LARGE.get(digits[-1], 1)
    unscaled = value
    value, stop = _scaled(text, value, stop, end, money=bool(currency))
    if currency:
        return _Found(value, PREFIXED[currency.upper()], start, stop, spelled, scale)
    scale = int(value / unscaled) if value != unscaled else scale
    unit, stop = _unit(text, stop, end)
    if not unit and not spelled:
        ordinal = _ORDINAL.match(text, stop, end)
        if ordinal:
            stop = ordinal.end()
        elif stop < end and text[stop].isascii() and (text[stop].isalpha() or text[stop] == "_"):
            return None  # a code: 5G, 3D, 4x4
    return _Found(value, unit, start, stop, spelled, scale)


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


def _word_number(text: str, match: re.Match[str], end: int) -> _Found:
    total = section = 0
    for word in re.split(r" and |[- ]", match["words"].lower()):
        if word == "hundred":
            section = (section or 1) * 100
        elif word in _SCALE_WORDS:
            total += (section or 1) * _SCALE_WORDS[word]
            section = 0
        else:
            section += _WORDS[word]
    unit, stop = _unit(text, match.end(), end)
    return _Found(Decimal(total + section), unit, match.start(), stop, spelled=True)


def _value(digits: str) -> Decimal | None:
    """Value of a numeral that mixes figures, kanji digits and 十百千万億兆; ``None`` where it is none."""
    if digits[0] == ".":
        return Decimal("0" + digits)
    total = section = Decimal(0)
    current: Decimal | None = None
    positional = False
    for piece in _PIECE.findall(digits):
        if piece in _SMALL:
            section += (Decimal(1) if current is None else current) * _SMALL[piece]
            current = None
        elif piece in _LARGE:
            section += current or 0
            total += (section or 1) * _LARGE[piece]
            section, current = Decimal(0), None
        elif piece in _DIGITS:
            current = Decimal(_DIGITS[piece]) if current is None or not positional else current * 10 + _DIGITS[piece]
        else:
            if current is not None:
                return None
            current = Decimal(piece.replace(",", "").replace(" ", "").replace("'", ""))
        positional = piece in _DIGITS
    return total + section + (current or 0)


def _clearly_numeric(text: str, digits: str, before: str, start: int, stop: int) -> bool:
    """Whether a kanji numeral is a number here, and not part of a name or an idiom."""
    if (before and before in "数何幾統唯均単専画") or _IDIOMS.match(text, start):
        return False
    counted = UNIT.match(text, stop) is not None
    if (
        before
        and _KANJI_CHARACTER.match(before)
        and before not in "第約計全各昭和平成令大正明治同他毎前後残"
        and not counted
    ):
        return False
    following = text[stop : stop + 1]
    if counted:
        return digits not in ("万", "億", "兆")
    if len(digits) == 1 or (following and _KANJI_CHARACTER.match(following)):
        return False
    return any(c in _DIGITS for c in digits) and (any(c in _SMALL or c in _LARGE for c in digits) or len(digits) >= 3)
