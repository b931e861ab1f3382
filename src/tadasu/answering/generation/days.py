"""Days of the week, which a question may ask for and a statement may name."""

from __future__ import annotations

import re

from tadasu.text.normalize import fold

_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)\w*days?\b|([月火水木金土日])曜", re.IGNORECASE)
_JAPANESE = dict(zip("月火水木金土日", ("mon", "tue", "wed", "thu", "fri", "sat", "sun"), strict=True))
_ASKED = re.compile(r"\b(?:what|which) days?\b|\bdays? of the week\b|曜日?", re.IGNORECASE)


def weekdays(text: str, *, question: str) -> frozenset[str]:
    """The days of the week that `text` names (``mon``, ``tue``, …), where `question` asks for one.

    >>> sorted(weekdays("Closed on Mondays and 火曜日", question="Which days is it closed?"))
    ['mon', 'tue']
    """
    if not _ASKED.search(fold(question)):
        return frozenset()
    found = _WEEKDAY.findall(fold(text))
    return frozenset(english.lower() or _JAPANESE[japanese] for english, japanese in found)
