"""Whether a query that a language model wrote still asks for the same: nothing lost, nothing made up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from tadasu.answering.correction.relative_time import with_dates
from tadasu.answering.correction.rewrite import quoted_terms
from tadasu.text.analyze import tokens
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold
from tadasu.text.numbers import Number, numbers, same_quantity
from tadasu.text.polarity import denies

_LONGEST = 100
"""Characters that a query may have beyond three times the question's."""
_DIGIT = re.compile(r"[0-9]")


def lost(question: str, query: str, *, today: date) -> str:
    """What `query` lost of `question` or added to it, in words; empty where it asks for the same.

    Numbers, codes, names, quoted terms, the negation and the language have to stay, and no number may be new. Relative
    times may have become dates of `today`.
    """
    if found := lost_together(question, (query,), today=today):
        return found
    if denies(question) is not denies(query):
        return "it turned the question round" if denies(query) else "it lost the negation"
    return ""


def lost_together(question: str, queries: Sequence[str], *, today: date) -> str:
    """The same for sub-questions: what is in none of them, or what one of them adds.

    A spelled-out number that is new may be idiom ("one of").
    """
    resolved = with_dates(question, today=today)
    if missing := _missing(fold(resolved), fold(with_dates("\n".join(queries), today=today))):
        return f"it lost {missing}"
    asked = numbers(f"{question}\n{resolved}\n{today.year}\n{today.isoformat()}")
    names = proper_names(question)
    for query in queries:
        added = [one for one in numbers(query) if not one.spelled and not _among(one, asked)]
        if added and not any(added[0].raw.strip() in name for name in names):
            return f"it added {added[0].raw.strip()}"
        if {detect(question), detect(query)} == {"en", "ja"}:
            return "it is in another language"
        if len(query) > _LONGEST + 3 * len(question):
            return "it is too long"
    return ""


def _missing(question: str, text: str) -> str:
    stated = numbers(text)
    for number in numbers(question):
        if not _among(number, stated):
            return number.raw.strip()
    low = text.casefold()
    for term in quoted_terms(question):
        if term.casefold() not in low:
            return f"“{term}”"
    terms = frozenset(tokens(text))
    for name in proper_names(question):
        if _DIGIT.search(name):
            kept = bool(re.search(rf"(?<![a-z0-9]){re.escape(name.casefold())}(?![a-z0-9])", low))
        else:  # an acronym may be written out
            kept = (name.isascii() and name.isupper()) or name.casefold() in low
        if not kept and not terms.issuperset(tokens(name)):
            return name
    return ""


def _among(number: Number, others: Sequence[Number]) -> bool:
    return any(same_quantity(number, other) for other in others)
