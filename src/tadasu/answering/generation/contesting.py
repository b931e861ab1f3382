"""Statements that call others wrong: corrections, honest ones and those that only say so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tadasu.answering.generation.facts import Facts
from tadasu.answering.generation.quoting import Quote
from tadasu.core.answers import Evidence
from tadasu.text.normalize import fold
from tadasu.text.numbers import Number

_CONTESTS = re.compile(
    r"\b(?:correction|correct(?:ed)? (?:value|figure|number|price|date|year|answer|default)|the correct"
    r"|outdated|out of date|superseded?s?"
    r"|overrides?|misprints?|mistaken|erroneous|(?:is|was|are|were|be) wrong|no longer (?:valid|true"
    r"|correct|applies)|never valid|contrary to"
    r"|replaces? all|disregard|not be used|instead of the)\b"
    r"|訂正|正しくは|が正しい|正しい情報|誤り|誤植|誤記|間違い|測り間違|旧(?:規則|情報|説|い)|古(?:い|く)"
    r"|改正|昔のもの|最新の|破棄され",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    r"\b(?:not|never|instead of|rather than|disregard|ignore|(?:figure|value|number|price|date|year) of"
    r"|no longer)\b[^.;]{0,24}$"
)
_DENIED_AFTER = re.compile(
    r"^[^。.;]{0,6}(?:ではな[くい]|でな[くい]|と(?:書かれ|され|いう)|は(?:誤|間違|古|旧)|の(?:値|数字|表記"
    r"|記載)は?(?:誤|間違|古))"
    r"|^[^.;]{0,24}\b(?:was never|is wrong|was wrong|is outdated|no longer|is not valid|wherever)\b"
)


def contests(quote: Quote, evidence: Sequence[Evidence]) -> bool:
    """Whether a quotation, or a sentence beside it in its passage, calls other statements wrong or out of date."""
    strip = quote.evidence.strip
    beside = (
        other.strip.text
        for other in evidence
        if other.strip.passage_id == strip.passage_id and abs(other.strip.index - strip.index) == 1
    )
    return _CONTESTS.search(fold(quote.text)) is not None or any(_CONTESTS.search(fold(text)) for text in beside)


def not_denied(numbers: Iterable[Number], facts: Facts) -> list[Number]:
    """`numbers` without those that a statement only mentions to deny them: "90 days, not 19"."""
    text = fold(facts.text).lower()
    kept = []
    for number in numbers:
        at = text.find(fold(number.raw).lower().strip())
        before, after = text[:at], text[at + len(fold(number.raw).strip()) :]
        if at < 0 or not (_DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after)):
            kept.append(number)
    return kept
