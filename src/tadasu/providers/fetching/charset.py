"""Bytes of a web page to text: the right text or none, whatever the page says of itself.

What the header, a byte order mark or the page's own ``meta`` declare is a candidate, and so is every encoding that is
common in the languages we meet. Each candidate's text is scored by how much of it consists of the characters that a
language uses most; a wrong table turns text into characters that nobody uses. The declared one is taken unless another
reads clearly better, and where none reads like a language the page is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tadasu.providers.fetching.refusals import Refused, Why

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # UTF-32 LE begins with the mark of UTF-16 LE, so it comes first
_LABELS = {
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "ms_kanji": "cp932", "ms932": "cp932", "csshiftjis": "cp932", "x-euc-jp": "euc_jp", "cseucpkdfmtjapanese": "euc_jp",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030", "chinese": "gb18030",
    "big5": "big5hkscs", "x-x-big5": "big5hkscs", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "korean": "cp949",
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "windows-1252": "cp1252", "x-cp1252": "cp1252", "iso-2022-jp": "iso2022_jp_ext", "csiso2022jp": "iso2022_jp_ext",
    "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8", "utf-16": "utf-16-le",
}  # fmt: skip
_TEXTUAL = frozenset((
    "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp932", "euc_jp", "iso2022_jp_ext", "gb18030",
    "big5hkscs", "cp949", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp1258", "cp874", "tis-620", "koi8-r", "koi8-u", "cp866", "hz", "iso8859-2", "iso8859-3", "iso8859-4",
    "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14",
    "iso8859-15", "iso8859-16", "mac-roman", "mac-cyrillic",
))  # fmt: skip
_META = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)"
    rb"|\A\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_.-]+)",
    re.IGNORECASE,
)
_META_WITHIN = 4096
_SAMPLE = 200_000
_ESCAPES = re.compile(rb"\x1b\$(?:[@B]|\([CDOPQ])")

_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fc]")
_HALF_KANA = re.compile(r"[\uff65-\uff9f]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_MARKS = re.compile(
    r"[\u3000-\u3003\u3005-\u3015\u301c-\u301f\u30fb\uff01-\uff5e\u00b0\u00d7\u2010-\u2026\u203b\u2190-\u2193\u25a0-\u25cf\u2460-\u2473]"
)
_LATIN = re.compile(r"[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f\u1e00-\u1eff]")
_LATIN_INSIDE = re.compile(r"(?<=[A-Za-z])[\u00c0-\u017f\u1e00-\u1eff]|[\u00c0-\u017f\u1e00-\u1eff](?=[a-z])")
_LATIN_MARKS = re.compile(
    r"[\u00a0\u00a2\u00a3\u00a5\u00a7\u00a9\u00ab\u00ad\u00ae\u00b0-\u00b3\u00b5\u00b7\u00b9\u00bb-\u00be\u00d7\u00f7]"
    r"|[\u2010-\u2026\u2030\u2039\u203a\u20ac\u2122]|[\u00a1\u00bf](?=[A-Z\u00c0-\u00de])|(?<=[0-9])[\u00aa\u00ba]"
)
_OTHER_SCRIPTS = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0590-\u06ff\u0900-\u0e7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_NOBODY = re.compile(r"[\ufffd\ue000-\uf8ff\ufff0-\ufffb\U000f0000-\U0010ffff]")
_KANJI = frozenset(
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代明実"
    "円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思家話世受区"
    "領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知"
    "案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能"
    "無再位置企真流格有疑口過局少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転食比難防補車優夫研収断井何南石"
)
_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都"
    "同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问"
    "很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教原东声提立及比员解水名真论处"
    "說時對為國來學這個們會後發過還進開關經從實與長機業將間問應戰頭體見產製話給樣沒無當動現點東聲論處義"
)
_SYLLABLES = frozenset("이다의는에을가하고한지사로기를인들도서대있어그일시정수은리자나해제전과부스보적주성상만니라구장")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a page, and the Python name of the encoding that it was read with."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    encoding: str
    score: float
    high: int = 0
    """Characters beyond ASCII."""


def decode_page(data: bytes, *, header: str = "") -> Decoded:
    """`data` as text; `header` is the charset that the HTTP header declares, if any. Raises Refused (CHARSET)."""
    for mark, name in _BOMS:
        if data.startswith(mark) and (found := _read(data[len(mark) :], name)) and found.score > 0:
            return _checked(found)
    if _ESCAPES.search(data) and not _high(data):
        found = max(filter(None, (_read(data, name) for name in ("iso2022_jp_ext", "iso2022_jp_2"))), key=_score)
        return _checked(found)
    wide = _wide(data)
    if not wide and (found := _strict(data, "utf-8")):
        # Other encodings hardly ever form a sound sequence of UTF-8 by chance, so this is proof, whatever is declared.
        return _checked(found)
    if wide and (found := _strict(data, wide[0])):
        return _checked(found)
    declared = [found for name in _declared(data, header) if (found := _read(data, name))]
    others = [found for name in wide or _GUESSES if (found := _read(data, name))]
    return _checked(_chosen(declared, others))


_GUESSES = ("utf-8", "cp932", "euc_jp", "gb18030", "big5hkscs", "cp949", "cp1252")
_CLEARLY = 0.05
_READS = 0.5
_TELLING = 4


def _chosen(declared: list[_Candidate], others: list[_Candidate]) -> _Candidate:
    best = max(others, key=_score, default=None)
    if best is not None and best.high < _TELLING:
        best = None  # a few characters say nothing: only the page itself can
    for candidate in declared:
        if candidate.score >= _READS and (best is None or best.score - candidate.score < _CLEARLY):
            return candidate
    if best is None or best.score < _READS:
        raise Refused(Why.CHARSET, "its encoding cannot be told")
    rivals = [other for other in others if other.text != best.text]
    if rivals and best.score - max(map(_score, rivals)) < _CLEARLY:
        raise Refused(Why.CHARSET, "it reads like text in more than one encoding")
    return best


def _score(candidate: _Candidate) -> float:
    return candidate.score


def _declared(data: bytes, header: str) -> Iterator[str]:
    meta = _META.search(data[:_META_WITHIN])
    inside = (meta[1] or meta[2]).decode("ascii", "replace") if meta else ""
    if inside.lower().startswith("utf-16"):
        inside = "utf-8"  # it was read as bytes of ASCII, so it is not
    for declared in (header, inside):
        label = declared.strip().strip("\"'").lower()
        try:
            name = codecs.lookup(_LABELS.get(label, label)).name
        except (LookupError, ValueError):
            continue
        if name in _TEXTUAL:
            yield name


def _high(data: bytes) -> bool:
    return not data.isascii()


def _wide(data: bytes) -> tuple[str, ...]:
    """The two-byte encodings where every other byte of markup is nothing."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if even + odd <= len(sample) // 50:
        return ()
    return ("utf-16-le",) if odd > even else ("utf-16-be",)


def _strict(data: bytes, name: str) -> _Candidate | None:
    try:
        return _Candidate(data.decode(name), name, 1.0)
    except UnicodeDecodeError:
        return None


def _read(data: bytes, name: str) -> _Candidate | None:
    try:
        text = data.decode(name, "replace")
    except (UnicodeError, LookupError):
        return None
    return _Candidate(text, name, _likeness(text, name), sum(character > "\x7f" for character in text))


def _checked(found: _Candidate) -> Decoded:
    """`found` unless it holds what nobody writes: replaced characters, controls, or text that was garbled before."""
    text = found.text
    if not text.strip():
        return Decoded(text, found.encoding)
    beyond = sum(character > "\x7f" for character in text)
    replaced = text.count("\ufffd")
    if replaced > max(2, 0.002 * len(text)) or replaced * 20 > max(40, beyond):
        raise Refused(Why.CHARSET, f"{replaced} of {len(text)} characters are broken")
    if len(_CONTROL.findall(text)) > max(2, 0.005 * len(text)):
        raise Refused(Why.CHARSET, "it is full of control characters")
    if len(_NOBODY.findall(text)) > max(4, 0.05 * beyond):
        raise Refused(Why.CHARSET, "it is full of characters that nobody uses")
    if _garbled(text, beyond):
        raise Refused(Why.CHARSET, "it was garbled before it was sent")
    return Decoded(text, found.encoding)


_TWICE = re.compile(
    r"[縺繧繝]|ã[\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œ]|[äåæçèé][\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œ]{2}|ï¼|â€"
)


def _garbled(text: str, beyond: int) -> bool:
    """Whether this is Japanese in UTF-8 that someone read as another encoding and wrote down again."""
    return len(_TWICE.findall(text)) > max(3, 0.08 * beyond)


def _likeness(text: str, name: str) -> float:
    """From 0 (nobody writes so) to 1 (surely right): how much of `text` is what its language is mostly made of."""
    high = "".join(character for character in text[:_SAMPLE] if character > "\x7f")
    if not high:
        return 0.9 if text.isascii() and text.strip() else 0.0
    total = len(high)
    bad = (len(_NOBODY.findall(high)) + len(_CONTROL.findall(text[:_SAMPLE]))) / total
    kana, half, han = len(_KANA.findall(high)), len(_HALF_KANA.findall(high)), _HAN.findall(high)
    hangul, marks = _HANGUL.findall(high), len(_MARKS.findall(high))
    letters = max(1, kana + half + len(han) + len(hangul))
    odd = total - kana - half - len(han) - len(hangul) - marks if letters > 1 else 0
    bad += 0.5 * max(0, odd) / total
    best = 0.0
    if name in _LATIN_ENCODINGS or not (kana or han or hangul or half):
        best = max(_latin(text[:_SAMPLE], high), _alphabet(high, name))
    if kana and name not in _NO_JAPANESE:
        known = sum(character in _KANJI for character in han)
        # Half-width kana are what a wrong table makes of Japanese: a few are typed, many are not.
        best = max(best, _japanese(kana, known, len(han), half, letters))
    elif han and name in _NO_CHINESE and name not in _NO_JAPANESE:  # names and addresses have no kana
        best = 0.6 * min(1.0, sum(character in _KANJI for character in han) / len(han) / 0.4)
    if han and name not in _NO_CHINESE:
        frequent = sum(character in _HANZI for character in han) / letters
        best = max(best, min(1.0, frequent / 0.35) * (1 - kana / letters))
    if hangul and name not in _NO_KOREAN:
        frequent = sum(character in _SYLLABLES for character in hangul) / letters
        best = max(best, min(1.0, frequent / 0.35))
    if not best and marks == total:
        best = 0.6  # nothing but dashes and quotation marks
    return max(0.0, min(1.0, best) - 3 * bad)


def _japanese(kana: int, known: int, han: int, half: int, letters: int) -> float:
    """Kana, and of the kanji the usual share of the usual ones."""
    if kana / letters < 0.08:
        return 0.0
    usual = min(1.0, (known / han) / 0.4) if han else 1.0
    weight = min(0.75, han / letters)
    return max(0.0, (1 - weight) + weight * usual - 1.5 * half / letters - 0.25 * (kana / letters < 0.15))


_LATIN_ENCODINGS = frozenset({"cp1252", "iso8859-15", "mac-roman"})
_NO_JAPANESE = _LATIN_ENCODINGS | {"big5hkscs", "cp949"}
_NO_CHINESE = _LATIN_ENCODINGS | {"cp932", "euc_jp", "iso2022_jp_ext", "iso2022_jp_2", "cp949"}
_NO_KOREAN = _LATIN_ENCODINGS | {"cp932", "euc_jp", "big5hkscs", "iso2022_jp_ext", "iso2022_jp_2"}


def _latin(text: str, high: str) -> float:
    """Western text has few accented letters, inside words of plain ones, and typographic marks."""
    accented = len(_LATIN.findall(high))
    sensible = len(_LATIN_INSIDE.findall(text)) + len(_LATIN_MARKS.findall(text))
    letters = sum(map(str.isalpha, re.sub(r"<[^>]*>", " ", text))) or 1
    if accented > 0.25 * letters or sensible < 0.8 * len(high):
        return 0.0
    return 0.6 + 0.3 * (sensible / len(high)) - 0.5 * accented / letters


def _alphabet(high: str, name: str) -> float:
    """Another alphabet, in an encoding made for it: nearly all of it letters, and most of these small ones."""
    if name in _GUESSES and not name.startswith("utf"):
        return 0.0
    letters = _OTHER_SCRIPTS.findall(high) + _LATIN.findall(high)
    marks = len(_LATIN_MARKS.findall(high))
    capitals = sum(letter.isupper() for letter in letters)
    if not letters or capitals > 0.25 * len(letters) or marks > 0.2 * len(high):
        return 0.0
    return 0.9 * (len(letters) + marks) / len(high)
