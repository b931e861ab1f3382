"""Cutting what is too long: at the softest border that leaves a sensible length, else between characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Best first. Each match ends where the next piece would begin.
_LINES = re.compile(r"\n\s*")
_CLAUSES = re.compile(r"[;；。！？!?]\s*|[:：](?![\d/])\s*|[,，、](?!\d)\s*|—\s*|(?<=[^\d\s]) – ")
_CELLS = re.compile(r"[|\t]\s*")
_SPACES = re.compile(r"\s+")
_SOFT_JAPANESE = re.compile(r"[」』）】]+|(?<=[をにはがでとへも])(?=[\u4e00-\u9fff\u30a1-\u30faA-Za-z0-9])")
_SCRIPTS = re.compile(r"(?<=[\u3041-\u3096])(?=[\u4e00-\u9fff\u30a1-\u30fa])|(?<=[^\x00-\x7f])(?=[A-Za-z0-9])")
PROSE = (_LINES, _CLAUSES, _SPACES, _SOFT_JAPANESE, _SCRIPTS)
CODE = (_LINES, _SPACES)
ROW = (_CELLS, _CLAUSES, _SPACES, _SOFT_JAPANESE)

# A border that would leave a shorter piece than this share of the limit is passed over for a harder one.
_SHORTEST = 0.4
_SEARCH_BACK = 48
_NOT_FIRST = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮーゝゞ々、。，．・：；？！）」』】〉》!?),.:;]}")
_NOT_LAST = frozenset("（「『【〈《([{เแโใไ")
_JOINER = "\u200d"


def cut(text: str, start: int, end: int, *, limit: int, borders: Sequence[re.Pattern[str]]) -> list[tuple[int, int]]:
    """Contiguous pieces of ``text[start:end]``, none longer than `limit` code points."""
    pieces: list[tuple[int, int]] = []
    while end - start > limit:
        at = _border(text, start, end, limit, borders)
        pieces.append((start, at))
        start = at
    pieces.append((start, end))
    return pieces


def _border(text: str, start: int, end: int, limit: int, borders: Sequence[re.Pattern[str]]) -> int:
    stop = start + limit
    shortest = start + max(1, int(limit * _SHORTEST))
    for pattern in borders:
        best = 0
        for match in pattern.finditer(text, shortest, stop):
            # White space belongs to the piece before it: no border within a run of it.
            if match.end() < end and not text[match.end()].isspace():
                best = match.end()
        if best > start:
            return best
    return _between_characters(text, start, stop)


def _between_characters(text: str, start: int, stop: int) -> int:
    lowest = max(start + 1, stop - _SEARCH_BACK)
    fallback = 0
    for at in range(stop, lowest - 1, -1):
        if splits_character(text, at):
            continue
        if not text[at].isspace() and text[at] not in _NOT_FIRST and text[at - 1] not in _NOT_LAST:
            return at
        fallback = fallback or at
    return fallback or stop


def splits_character(text: str, at: int) -> bool:
    """Whether a cut before ``text[at]`` would go through what a reader sees as one character."""
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if (
        after in "\uff9e\uff9f\u200d\u200c"
        or before == _JOINER
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or unicodedata.category(after)[0] == "M"
    ):
        return True
    if unicodedata.combining(before) == 9:  # a virama binds the consonant after it
        return True
    if _flag(after) and _flag(before):
        count = 0
        while at - 1 - count >= 0 and _flag(text[at - 1 - count]):
            count += 1
        return count % 2 == 1
    return ("\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff") or (
        "\uac00" <= before <= "\ud7a3" and "\u1160" <= after <= "\u11ff"
    )


def _flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
