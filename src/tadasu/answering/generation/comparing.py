"""Comparisons: which of two is heavier, what differs between them. Both sides are quoted; the reader compares."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.answering.generation.quoting import Quote, codes
from tadasu.answering.generation.ranking import Scored
from tadasu.text.normalize import fold

_OF_SIZE = re.compile(
    r"\bwhich\b[^?]{0,60}\b(?:\w{2,}(?:er|est)|more|less|fewer|most|least)\b[^?]*\bor\b"
    r"|\bor\b[^?]*\b(?:\w{3,}er|more|less|fewer)\b\?"
    r"|(?:どちら|どっち|いずれ)[^?？。]{0,12}(?:[重軽高安長短大小早速遅広狭深浅強弱古厚薄太細]|多|少な|新し)",
    re.IGNORECASE,
)
_OF_ANY_KIND = re.compile(
    r"\bdifferences? between\b|\bhow (?:do|does|are|is)\b[^?]*\bdiffer|\bcompare\b|違い|比べ|比較", re.IGNORECASE
)
_SIDES = 2


def compared(question: str, scored: Sequence[Scored]) -> list[Quote]:
    """The best quotation on each of the two models that `question` compares; nothing where it compares none.

    Where a size is compared, only what holds a number counts. Nothing either where one of the two is not spoken of.
    """
    flat = fold(question)
    of_size = _OF_SIZE.search(flat) is not None
    named = sorted(codes(question), key=lambda code: fold(question).find(fold(code)))
    if len(named) != _SIDES or not (of_size or _OF_ANY_KIND.search(flat)):
        return []
    found: list[Quote] = []
    for code in named:
        other = next(one for one in named if one != code)
        own = (
            one.quote
            for one in scored
            if one.quote.facts.states_name(code)
            and not one.quote.facts.states_name(other)
            and not (of_size and not one.quote.facts.numbers)
        )
        if (quote := next(own, None)) is not None:
            found.append(quote)
    return found if len(found) == _SIDES else []
