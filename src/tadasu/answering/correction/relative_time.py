"""Times that a question states by where the asker stands ("this year", 今年, "latest", 最新), as dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from tadasu.text.dates import dates
from tadasu.text.language import detect

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_FISCAL_YEAR_BEGINS = 4
"""In Japan a 年度 begins in April."""


def _month(today: date, ahead: int) -> date:
    years, month = divmod(today.month - 1 + ahead, 12)
    return date(today.year + years, month + 1, 1)


def _fiscal(today: date) -> int:
    return today.year if today.month >= _FISCAL_YEAR_BEGINS else today.year - 1


def _month_en(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.year}"


def _day_en(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def _month_ja(day: date) -> str:
    return f"{day.year}年{day.month}月"


def _day_ja(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


_STATED: tuple[tuple[re.Pattern[str], Callable[[date], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (r"\bthis year(?:'s)?\b", lambda t: f"{t.year}"),
        (r"\blast year(?:'s)?\b", lambda t: f"{t.year - 1}"),
        (r"\bnext year(?:'s)?\b", lambda t: f"{t.year + 1}"),
        (r"\bthis month(?:'s)?\b", _month_en),
        (r"\blast month(?:'s)?\b", lambda t: _month_en(_month(t, -1))),
        (r"\bnext month(?:'s)?\b", lambda t: _month_en(_month(t, 1))),
        (r"\b(?:as of )?today(?:'s)?\b", _day_en),
        (r"\byesterday(?:'s)?\b", lambda t: _day_en(t - timedelta(days=1))),
        (r"\btomorrow(?:'s)?\b", lambda t: _day_en(t + timedelta(days=1))),
        (r"一昨年|おととし", lambda t: f"{t.year - 2}年"),
        (r"今年度|本年度", lambda t: f"{_fiscal(t)}年度"),
        (r"昨年度|前年度", lambda t: f"{_fiscal(t) - 1}年度"),
        (r"来年度|次年度", lambda t: f"{_fiscal(t) + 1}年度"),
        (r"今年|ことし|本年", lambda t: f"{t.year}年"),
        (r"昨年|去年", lambda t: f"{t.year - 1}年"),
        (r"来年", lambda t: f"{t.year + 1}年"),
        (r"今月|当月", _month_ja),
        (r"先月", lambda t: _month_ja(_month(t, -1))),
        (r"来月", lambda t: _month_ja(_month(t, 1))),
        (r"本日|今日(?!では|的|まで|に至|の社会)", _day_ja),
        (r"(?<!一)昨日", lambda t: _day_ja(t - timedelta(days=1))),
        (r"明日", lambda t: _day_ja(t + timedelta(days=1))),
    )
)
# "Current" is electricity as often as it is time.
_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent|recently|currently|right now|nowadays|up[- ]to[- ]date)\b"
    r"|(?<!electric )(?<!rated )(?<!direct )(?<!supply )(?<!leakage )(?<!output )(?<!input )\bcurrent\b"
    r"(?! (?:rating|draw|consumption|loop|source|sensor|limit|leakage|flow|density|output|input|transformer|range)\b)"
    r"|最新|現在|最近|直近|目下|今の(?!と)",
    re.IGNORECASE,
)

_YEAR = re.compile(r"(?<![0-9A-Za-z.,-])(?:19|20)[0-9]{2}(?![0-9A-Za-z,-]|\.[0-9])")


def with_dates(text: str, *, today: date) -> str:
    """`text` with the years, months and days that it states by their distance from `today` written out.

    >>> with_dates("Which holidays fall into this year?", today=date(2026, 3, 5))
    'Which holidays fall into 2026?'
    >>> with_dates("今年度の予算と先月の売上", today=date(2026, 3, 5))
    '2025年度の予算と2026年2月の売上'
    """
    for pattern, written in _STATED:
        text = pattern.sub(written(today), text)
    return text


def wants_newest(text: str) -> bool:
    """Whether `text` asks for the state of things now, without a date of its own."""
    return bool(_NEWEST.search(text)) and not (_YEAR.search(text) or any(stated.year for stated in dates(text)))


def dated(text: str, *, asked: str, today: date) -> str:
    """`text`, made from the question `asked`, for a search where new and old pages lie side by side.

    Relative times become dates, and a question about the newest gets the year of `today`.

    >>> dated("PT-300 firmware", asked="What is the latest firmware of the PT-300?", today=date(2026, 3, 5))
    'PT-300 firmware 2026'
    """
    text = with_dates(text, today=today)
    if not wants_newest(with_dates(asked, today=today)):
        return text
    return f"{text} {today.year}年" if detect(asked) == "ja" else f"{text} {today.year}"
