"""Bytes to text: which encoding, or that it cannot be told. Never garbage silently."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from tadasu.errors import EncodingUnknown

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # UTF-32 LE begins with the mark of UTF-16 LE, so it comes first
_SAMPLE = 64 * 1024
_ISO_2022_JP = re.compile(rb"\x1b\$[@B(]|\x1b\([JI]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fc]")
_JAPANESE_MARKS = re.compile(r"[、。「」『』（）・！？：〜ー々]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HALF_KANA = re.compile(r"[\uff61-\uff9f]")
_WIDE_ASCII = re.compile(r"[\uff01-\uff5e\u3000]")
_PLAIN = re.compile(r"[\t\n\r -~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_STRANGE = re.compile(
    r"[\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U000f0000-\U0010ffff]|[\u0250-\u036f\u0500-\u1fff\ua000-\uabff\ud7b0-\ud7ff]"
)
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u00ff\u0160\u0161\u0178\u017d\u017e\u0152\u0153]+")
_ACCENTED = re.compile(r"[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0160\u0161\u0178\u017d\u017e\u0152\u0153]")
_LATIN_MARKS = re.compile(
    r"[\u2018-\u201e\u2020-\u2026\u2013\u2014\u2030\u2039\u203a\u20ac\u2122\u00a0-\u00bf\u00d7\u00f7]"
)
_REPLACED_SHARE = 0.002
_CONTROL_SHARE = 0.01
_LABELS = {
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-jp": "euc_jp", "x-euc-jp": "euc_jp", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252",
    "ms_kanji": "cp932", "us-ascii": "cp1252", "ascii": "cp1252", "utf8": "utf-8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the Python name of the encoding it was read with, and how many characters had to be replaced."""

    text: str
    encoding: str
    replaced: int = 0


def decode(data: bytes, *, source: str, declared: str = "") -> Decoded:
    """`data` as text: byte order mark, then `declared` (an HTML or HTTP charset), then strict trials and plausibility.

    Knows UTF-8/16/32, Shift_JIS (cp932), EUC-JP, ISO-2022-JP and Windows-1252. A few broken characters (at most 0.2 %)
    are replaced and counted; more, or text that no one would write, is an error.

    Raises:
        EncodingUnknown: no encoding gives plausible text.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _accept(data[len(mark) :], name, source=source)
    if declared and (found := _declared(data, declared)):
        return found
    if _ISO_2022_JP.search(data) and not any(byte >= 0x80 for byte in data[:_SAMPLE]):
        return _accept(data, "iso2022_jp_2", source=source)
    if b"\x00" not in data[:_SAMPLE]:
        try:
            return _checked(Decoded(data.decode("utf-8"), "utf-8"), source=source)
        except UnicodeDecodeError:
            pass
    return _guess(data, source=source)


def _declared(data: bytes, declared: str) -> Decoded | None:
    label = declared.strip().strip("\"'").lower()
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name
        text = data.decode(name, "replace")
    except (LookupError, ValueError):
        return None
    if _broken(text) or (name == "cp1252" and _plausibility(data, name) < 0.5):
        return None
    return Decoded(text, name, text.count("\ufffd"))


def _accept(data: bytes, name: str, *, source: str) -> Decoded:
    text = data.decode(name, "replace")
    return _checked(Decoded(text, name, text.count("\ufffd")), source=source)


def _checked(decoded: Decoded, *, source: str) -> Decoded:
    if reason := _broken(decoded.text):
        raise EncodingUnknown(source=source, reason=reason)
    return decoded


def _broken(text: str) -> str:
    """Why `text` is not what anyone wrote, or an empty string."""
    replaced = text.count("\ufffd")
    if replaced > max(2, _REPLACED_SHARE * len(text)) or replaced * 5 > len(text):
        return f"{replaced} of {len(text)} characters are broken in every encoding that was tried"
    sample = text[:_SAMPLE]
    controls = len(_CONTROL.findall(sample))
    if controls > max(2, _CONTROL_SHARE * len(sample)):
        return f"{controls} of the first {len(sample)} characters are control characters"
    return ""


def _guess(data: bytes, *, source: str) -> Decoded:
    """The most plausible encoding of bytes that are not UTF-8."""
    candidates = ["cp932", "euc_jp", "cp1252"]
    if len(data) % 2 == 0:
        candidates += ["utf-16-le", "utf-16-be"]
    if b"\x00" in data[:_SAMPLE]:
        candidates = candidates[3:]
    scored = sorted(((_plausibility(data, name), name) for name in candidates), reverse=True)
    best = scored[0] if scored else (0.0, "")
    if b"\x00" not in data[:_SAMPLE] and (text := _mostly_utf8(data)):
        return Decoded(text, "utf-8", text.count("\ufffd"))
    if best[0] < 0.5:
        raise EncodingUnknown(
            source=source, reason="it is neither UTF-8/16, Shift_JIS, EUC-JP, ISO-2022-JP nor Windows-1252"
        )
    text = data.decode(best[1], "replace")
    return _checked(Decoded(text, best[1], text.count("\ufffd")), source=source)


def _mostly_utf8(data: bytes) -> str:
    """The text of UTF-8 with a few broken bytes, empty where it is something else.

    A multi-byte sequence hardly ever forms by chance: where sound ones outnumber the broken bytes, it is UTF-8.
    """
    text = data.decode("utf-8", "replace")
    sound = sum(character > "\x7f" for character in text) - text.count("\ufffd")
    return text if sound > 3 * text.count("\ufffd") and not _broken(text) else ""


def _plausibility(data: bytes, name: str) -> float:
    """0 (no) to 1 (surely) that `data` is text in the encoding `name`, judged by what it would say."""
    sample = data[:_SAMPLE]
    text = sample.decode(name, "replace").rstrip("\ufffd")
    beyond = [character for character in text if character > "\x7f"]
    if not text or text.count("\ufffd") > max(1, _REPLACED_SHARE * len(text)):
        return 0.0
    if _CONTROL.search(text) and len(_CONTROL.findall(text)) > max(1, _CONTROL_SHARE * len(text)):
        return 0.0
    if not beyond:
        return 0.95 if sample.isascii() or name.startswith("utf-16") else 0.0
    if name == "cp1252":
        return _latin(text, len(beyond))
    high = "".join(beyond)
    kana, marks, han = len(_KANA.findall(high)), len(_JAPANESE_MARKS.findall(high)), len(_HAN.findall(high))
    half, wide, strange = len(_HALF_KANA.findall(high)), len(_WIDE_ASCII.findall(high)), len(_STRANGE.findall(high))
    total = len(high)
    rare = _rare_han(high)
    # Half-width kana and rare ideographs are what the wrong double-byte table makes of Japanese.
    good = kana + marks + wide + (han - rare) * (1.0 if kana or marks else 0.75) + 0.3 * half
    if name.startswith("utf-16"):
        good += 0.9 * len(_LATIN_MARKS.findall(high)) + 0.9 * len(_ACCENTED.findall(high))
        plain = len(_PLAIN.findall(text))
        good, total = good + plain, total + plain
    return max(0.0, (good - 3 * strange) / total)


def _rare_han(text: str) -> int:
    """Ideographs beyond the first level of JIS X 0208: the 2,965 characters that carry nearly all Japanese text."""
    rare = 0
    for character in _HAN.findall(text):
        try:
            encoded = character.encode("euc_jp")
        except UnicodeEncodeError:
            rare += 1
            continue
        rare += len(encoded) != 2 or encoded[0] >= 0xD0
    return rare


def _latin(text: str, beyond: int) -> float:
    """Western text has few accented letters, inside words of plain ones, and typographic marks."""
    sensible = len(_LATIN_MARKS.findall(text))
    accented = 0
    for word in _LATIN_WORD.findall(text):
        accents = len(_ACCENTED.findall(word))
        accented += accents
        if accents and (accents <= (len(word) + 1) // 2 or len(word) == 1):
            sensible += accents
    letters = sum(map(str.isalpha, text)) or 1
    if accented > 0.25 * letters or sensible < 0.8 * beyond:
        return 0.0
    return 0.6 + 0.3 * (sensible / beyond) - 0.5 * accented / letters
