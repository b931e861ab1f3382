"""Numerals: figures, kanji, mixtures of both, and English words, each to its value."""

from __future__ import annotations

import re
from decimal import Decimal

from tadasu.text.units import UNIT
from tadasu.text.wordlists import words

_ARABIC = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:[ '][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
_KANJI = "〇零一二三四五六七八九十百千壱弐"
JAPANESE = rf"(?:{_ARABIC}|[{_KANJI}])(?:{_ARABIC}|[{_KANJI}万億兆])*"
"""Pattern of a numeral in figures, kanji or both, with 万, 億 and 兆 after a figure."""
_UNDER_TWENTY = words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_WORDS = {word: value for value, word in enumerate(_UNDER_TWENTY)}
_WORDS |= {word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
SCALE_WORDS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORD = "|".join(sorted((word for word in _WORDS if word not in ("zero", "one")), key=len, reverse=True))
NUMBER_WORDS = (
    rf"\b(?:{_WORD})(?:[- ](?:{_WORD}|one|(?:hundred|thousand)(?: and(?= (?:{_WORD}|one)\b))?|million|billion))*\b"
)
"""Pattern of a number in English words. "One" alone is a pronoun more often than a number."""

_DIGITS = {c: value for value, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "壱": 1, "弐": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_PIECE = re.compile(rf"{_ARABIC}|.")
_IDIOMS = re.compile(
    r"十分(?![0-9間前後])|一(?:番|方|般|部|応|種|時(?!間)|度|切|致|緒|体|気|定|覧|貫|見|層|同|連|員|環|瞬|挙|旦|律|人(?:ひ|で)|日中|年中|昨|回り|つ一つ|段)"
    r"|二階堂|三日月|九頭竜|四日市|五月雨|五月晴|千歳|八代県|八代市|三重|四国|九州|八百|千葉|千代|百貨|百科|百合|十字|二重|二人三脚|三角|四角|五輪|六本木|二次元|三次元|一次的|二次的|七夕|三味|四季|五感|八幡|九段|十勝|万一"
)
_KANJI_CHARACTER = re.compile(r"[\u3400-\u9fff]")


def word_value(written: str) -> int:
    """Value of an English number in words: twenty-one, two hundred and fifty, three million."""
    total = section = 0
    for word in re.split(r" and |[- ]", written.lower()):
        if word == "hundred":
            section = (section or 1) * 100
        elif word in SCALE_WORDS:
            total += (section or 1) * SCALE_WORDS[word]
            section = 0
        else:
            section += _WORDS[word]
    return total + section


def value_of(digits: str) -> Decimal | None:
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
        elif piece in LARGE:
            section += current or 0
            total += (section or 1) * LARGE[piece]
            section, current = Decimal(0), None
        elif piece in _DIGITS:
            current = Decimal(_DIGITS[piece]) if current is None or not positional else current * 10 + _DIGITS[piece]
        else:
            if current is not None:
                return None
            current = Decimal(piece.replace(",", "").replace(" ", "").replace("'", ""))
        positional = piece in _DIGITS
    return total + section + (current or 0)


def clearly_numeric(text: str, digits: str, before: str, start: int, stop: int) -> bool:
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
    return any(c in _DIGITS for c in digits) and (any(c in _SMALL or c in LARGE for c in digits) or len(digits) >= 3)
