"""Proper names, codes and quoted terms of a text: what an answer must not make up.

By rules, precise rather than complete: what is returned is almost surely a name, a code or a quotation.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

from tadasu.text.abbreviations import NEVER_LAST, STARTERS
from tadasu.text.normalize import fold
from tadasu.text.segment import segment
from tadasu.text.wordlists import word_set

_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]{1,8}[-_/]?[0-9][A-Za-z0-9]*(?:[-_/.][A-Za-z0-9]+)*|[0-9]+[-_]?[A-Z]{1,4}[-_]?[0-9][A-Za-z0-9-]*"
    r"|v[0-9]+(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+){2,}(?:-[a-z0-9.]+)?"
    r"|(?:ISO|IEC|JIS|ANSI|DIN|EN|IEEE|RFC|ASTM|API|NIST)(?:/[A-Z]+)* [A-Z]?[0-9]+(?:[-:.][0-9]+)*"
    r"|0[0-9]{1,4}-[0-9]{1,4}-[0-9]{3,4})(?![A-Za-z0-9])"
)
_ACRONYM = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2,6}s?|(?:[A-Z]\.){2,}|[A-Z][a-z]*[A-Z][A-Za-z]*|[a-z][A-Z][A-Za-z]+)(?![A-Za-z0-9À-ɏ-])"
)
_CAPITAL_WORD = r"[A-ZÀ-ÖØ-Þ](?:[A-Za-z0-9À-ɏ']|-(?=[A-Za-z0-9]))*"
_CAPITALISED = re.compile(
    rf"(?<![A-Za-z0-9À-ɏ.'-]){_CAPITAL_WORD}"
    r"(?:(?:(?<=\b[A-Z])\. ?|(?:(?<=\bDr)|(?<=\bSt)|(?<=\bMt)|(?<=\bMr)|(?<=\bMs)|(?<=\bMrs))\. "
    r"| (?:of|of the|de|da|di|du|la|le|van|von|der|den|bin|al|&) | )"
    rf"{_CAPITAL_WORD})*"
)
_LONGEST_NOUN = 16
_KATAKANA = re.compile(r"[ァ-ヺー]{3,}(?:[・=][ァ-ヺー]{2,})*")
_KANJI_NAME = re.compile(
    r"(?:[一-鿿々ァ-ヺーA-Za-z0-9&.]{1,12})?(?:株式会社|有限会社|合同会社|財団法人|社団法人|独立行政法人)(?:[一-鿿々ァ-ヺーA-Za-z0-9&.]{1,12})?"
    r"|[一-鿿々ヶケノ]{1,5}(?:大学院|大学|高等学校|高校|研究院|銀行|神社|天皇|市役所|県庁)"
    r"|[一-鿿々ヶケノ]{2,5}(?:中学校|小学校|研究所|病院|新聞|空港|工場|支店|営業所)"
    r"|[一-鿿々ヶケノ]{1,4}(?:都|府|県|市|区|町|村|駅|川|山|島|寺|城|線|港|藩|郡)(?![一-鿿々])"
    r"|[一-鿿々]{1,4}(?= ?(?:さん|氏|様|先生|教授|博士|社長|部長|課長|首相|大統領|選手|監督)(?![一-鿿]))"
)
_QUOTED = re.compile(r"[「『]([^「」『』\n。]{2,40})[」』]|\"([^\"\n.]{2,60})\"")
_COMMON = word_set(
    """
    都市 市町村 区市町村 地区 市区 同市 同県 同町 同区 本線 全県 他県 各市 各県 各区 両県 当市 当区 火山 登山
    鉱山 半島 列島 無人島 離島 河川 小川 空港 出港 入港 直線 曲線 路線 幹線 支線 沿線 無線 有線 回線 電線 光線
    視線 前線 配線 寺院 城下町 下町 農村 漁村 地方 最寄駅 終着駅 貨物駅 各駅 同駅 駅 県 市 区 町 村 本線 首都
    京都府
    """
)
# Katakana in use but rare in the texts that the list of nouns was counted on.
_COMMON_KATAKANA = word_set(
    """
    トラブル メリット デメリット ログイン アカウント パスワード インストール アップデート ダウンロード
    メンテナンス パラメータ パラメーター パスカル
    """
)
_NOT_NAMES = (
    STARTERS
    | word_set("""
    I Yes Ok Okay Mr Mrs Ms Dr Prof January February March April May June July August September October November
    December Monday Tuesday Wednesday Thursday Friday Saturday Sunday Figure Table Section Chapter Page Step
    Note Warning Caution Important Example Source Sources Answer Question Internet
    """)
)  # fmt: skip
_PARTICLES = word_set("of the de da di du la le van von der den bin al &")
# Verbs and adjectives whose capital at the start of a sentence is no part of the name that follows.
_OPENERS = word_set("""
    Calibrate Contact Restart Start Stop Install Replace Remove Open Close Connect Disconnect Select Click Press
    Choose Enter Set Run Read Write Call Ask Visit Send Download Upload Update Upgrade Turn Keep Make Take Put
    Get Go Try Let Add Change Copy Delete Save Clean Store Measure Mount Apply Avoid Ensure Verify Confirm
    Consider Refer Using Given Former President Based Born Including Against Across Among Around Behind Beyond
    Inside Outside Near Where Whether Whereas Today Formerly
    """)
_NOT_ACRONYMS = frozenset(("OK", "AM", "PM", "NG", "NO", "YES", "I"))


def proper_names(text: str, *, language: str | None = None) -> list[str]:
    """Names, acronyms, codes and quoted terms, folded, in order of appearance, each once.

    Args:
        text: an answer or a passage.
        language: accepted for symmetry with `segment`; scripts decide.

    >>> proper_names("The PT-3051S is made by Aoba Instruments in Kyoto. 青葉計器株式会社の「校正証明書」")
    ['PT-3051S', 'Aoba Instruments', 'Kyoto', '青葉計器株式会社', '校正証明書']
    """
    del language
    folded = fold(text)
    found: list[tuple[int, str]] = []
    taken = bytearray(len(folded))

    def take(start: int, end: int, name: str, *, over: bool = False) -> None:
        if not over and any(taken[start:end]):
            return
        taken[start:end] = b"\1" * (end - start)
        found.append((start, name))

    for match in _CODE.finditer(folded):
        take(*match.span(), match.group())
    for match in _KANJI_NAME.finditer(folded):
        if match.group() not in _COMMON:
            take(*match.span(), match.group())
    for start, end in _english(folded):
        take(start, end, folded[start:end])
    for match in _ACRONYM.finditer(folded):
        if match.group() not in _NOT_ACRONYMS:
            take(*match.span(), match.group())
    for match in _KATAKANA.finditer(folded):
        if not _is_common(match.group()):
            take(*match.span(), match.group())
    known = {name for _, name in found}
    for match in _QUOTED.finditer(folded):
        term = (match[1] or match[2]).strip()
        if term and term not in known:
            take(*match.span(), term, over=True)
    return list(dict.fromkeys(name for _, name in sorted(found)))


def _is_common(run: str) -> bool:
    """Whether a katakana run is made of common nouns alone: データセンター, but not カリフォルニア."""
    nouns = _katakana_nouns()
    reached = {0}
    for end in range(2, len(run) + 1):
        if any(run[start:end] in nouns for start in reached if 2 <= end - start <= _LONGEST_NOUN):
            reached.add(end)
    return len(run) in reached


@cache
def _katakana_nouns() -> frozenset[str]:
    text = (Path(__file__).parent / "data" / "katakana_nouns.txt").read_text(encoding="utf-8")
    return frozenset(text.split()) | _COMMON_KATAKANA


def _english(folded: str) -> list[tuple[int, int]]:
    """Capitalised sequences; a single word at the start of a sentence only where it also stands within one."""
    sentences = segment(folded)
    starts = {_first_letter(folded, start, end) for start, end in sentences}
    runs = [
        _trimmed(folded, *match.span(), at_start=match.start() in starts) for match in _CAPITALISED.finditer(folded)
    ]
    inside = Counter(folded[start:end] for start, end, at_start in runs if not at_start)
    kept = []
    for start, end, at_start in runs:
        name = folded[start:end]
        if not name or name in _NOT_NAMES or name.lower().rstrip(".") in NEVER_LAST or len(name) < 2 or name.isupper():
            continue
        if at_start and " " not in name and not inside[name]:
            continue
        kept.append((start, end))
    return kept


def _first_letter(text: str, start: int, end: int) -> int:
    while start < end and not text[start].isalnum():
        start += 1
    return start


def _trimmed(text: str, start: int, end: int, *, at_start: bool) -> tuple[int, int, bool]:
    """A run without the function words that a capital gave it: "The Aoba" is Aoba."""
    words = text[start:end].split(" ")
    while words and (words[0] in _NOT_NAMES or words[0] in _PARTICLES or (at_start and words[0] in _OPENERS)):
        start += len(words[0]) + 1
        words.pop(0)
        at_start = False
    while words and (words[-1] in _PARTICLES or words[-1] in _NOT_NAMES):
        end -= len(words[-1]) + 1
        words.pop()
    if words and words[-1].endswith("'s"):
        end -= 2
    return start, max(start, end), at_start
