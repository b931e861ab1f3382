"""Time zones by name, for the days that budgets and sums are counted in."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_OFFSET = re.compile(r"([+-])(\d{2}):([0-5]\d)")


def zone_of(name: str) -> tzinfo:
    """The zone of that name: ``UTC``, ``Asia/Tokyo``, or an offset such as ``+09:00``, which every machine knows.

    Raises ValueError where there is none, or where the machine has no table of zones.

    >>> str(zone_of("+09:00")), str(zone_of("UTC"))
    ('UTC+09:00', 'UTC')
    """
    if name.upper() == "UTC":
        return UTC
    if offset := _OFFSET.fullmatch(name):
        away = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        if away < timedelta(hours=24):
            return timezone(-away if offset[1] == "-" else away)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("this machine knows no such time zone; write UTC, Asia/Tokyo or +09:00") from None
