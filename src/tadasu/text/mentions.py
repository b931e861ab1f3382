"""Whether a question names the cell of a table: the row that it asks about."""

from __future__ import annotations

import re
from functools import lru_cache

from tadasu.text.codes import stem
from tadasu.text.normalize import fold
from tadasu.text.numbers import DateMention, dates, same_date

_WORD = re.compile(r"[a-z0-9À-ɏ]+(?:[.,'][a-z0-9À-ɏ]+)*|[^\W_]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_SCRIPTS = (re.compile(r"[\u3400-\u9fff々]"), re.compile(r"[\u30a1-\u30fa\u30fc]"))


def names_cell(question: str, cell: str) -> bool:
    """Whether `question` states `cell` whole: its words side by side, or the same date. A bare figure names nothing.

    >>> names_cell("What is the fee of the Gold level?", "Gold"), names_cell("Is 1 May 2026 free?", "2026-05-01")
    (True, True)
    >>> names_cell("What does Parcel M cost?", "Parcel S"), names_cell("東京都の人口", "京都")
    (False, False)
    """
    dated = _dates(cell)
    if dated and fold(cell).strip() == dated[0].raw.strip():
        return any(same_date(mine, dated[0]) for mine in _dates(question))
    words = _words(cell)
    if not words or not _LETTER.search(cell):
        return False
    asked = _words(question)
    for at in range(len(asked) - len(words) + 1):
        end = at + len(words)
        if asked[at:end] == words and not _joined(asked[:at], words) and not _joined(words, asked[end:]):
            return True
    return False


def _joined(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether what stands side by side is written as one word: kanji to kanji, katakana to katakana."""
    return bool(before and after) and any(kind.match(before[-1]) and kind.match(after[0]) for kind in _SCRIPTS)


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(stem(word.casefold()) for word in _WORD.findall(fold(text)))


@lru_cache(maxsize=4096)
def _dates(text: str) -> tuple[DateMention, ...]:
    return tuple(dates(text))
