"""Dates as people write them, to ISO 8601."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911}
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_NUMERIC = re.compile(r"(?<!\d)((?:19|20)\d\d)\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?:D:|(?<!\d))((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?=\d{6}|\D|$)")
_ERA = re.compile(r"(令和|平成|昭和|大正)\s?(元|\d{1,2})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+((?:19|20)\d\d)(?!\d)")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)(?!\d)")
_LABEL = re.compile(
    r"^[\s>*_|#-]*(?:date|dated|last[ -](?:updated|modified|revised)|updated|published|issued|effective(?: date| from)?"
    r"|revision date|日付|発行日|更新日|最終更新日?"
    r"|改訂日|改定日|制定日|公開日|作成日|適用日|施行日)[*_]*\s*[:：|]\s*(.{4,40})$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_WINDOW = 1500


def iso_date(text: str) -> str:
    """The first date in `text` as ``YYYY-MM-DD``, or ``""``. Day/month order that cannot be told is no date.

    >>> iso_date("令和7年3月1日"), iso_date("March 5, 2024"), iso_date("D:20250301120000+09'00'")
    ('2025-03-01', '2024-03-05', '2025-03-01')
    """
    text = unicodedata.normalize("NFKC", text)
    if found := _NUMERIC.search(text) or _COMPACT.search(text):
        return _valid(int(found[1]), int(found[2]), int(found[3]))
    if found := _ERA.search(text):
        year = _ERAS[found[1]] + (1 if found[2] == "元" else int(found[2]))
        return _valid(year, int(found[3]), int(found[4]))
    if (found := _DAY_FIRST.search(text)) and (month := _MONTHS.get(found[2].lower())):
        return _valid(int(found[3]), month, int(found[1]))
    if (found := _MONTH_FIRST.search(text)) and (month := _MONTHS.get(found[1].lower())):
        return _valid(int(found[3]), month, int(found[2]))
    return ""


def labelled_date(text: str) -> str:
    """The date on a line such as ``Last updated: …`` or ``更新日：…`` near the top of a text, or ``""``."""
    for found in _LABEL.finditer(text[:_LABEL_WINDOW]):
        if date := iso_date(found[1]):
            return date
    return ""


def _valid(year: int, month: int, day: int) -> str:
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return ""
