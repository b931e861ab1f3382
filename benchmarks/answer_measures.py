"""Three measures of an answer, to be shown side by side: none of them tells the whole.

Exact match and F1 over words are those of SQuAD (Rajpurkar et al. 2016): without case, punctuation and English
articles; for Japanese over characters. Containment is what `tadasu.testing.datasets.holds_answer` says: it pays for
rambling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.testing.datasets import holds_answer, normal

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")
_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Marks:
    """Of one answer against the accepted ones, each in [0, 1]; the best of the accepted ones counts."""

    exact: float
    f1: float
    contained: float


def marks(answer: str, accepted: Sequence[str]) -> Marks:
    """All three; all 0 where nothing is accepted or answered.

    >>> marks("The Eiffel Tower.", ["Eiffel tower"])
    Marks(exact=1.0, f1=1.0, contained=1.0)
    """
    return Marks(
        exact=max((float(_bare(answer) == _bare(one) != "") for one in accepted), default=0.0),
        f1=max((_f1(_words(answer), _words(one)) for one in accepted), default=0.0),
        contained=float(holds_answer(answer, tuple(accepted))),
    )


def _bare(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", normal(text))).split())


def _words(text: str) -> list[str]:
    bare = _bare(text)
    return [one for one in bare if not one.isspace()] if _JAPANESE.search(bare) else bare.split()


def _f1(mine: Sequence[str], theirs: Sequence[str]) -> float:
    shared = sum((Counter(mine) & Counter(theirs)).values())
    return 2.0 * shared / (len(mine) + len(theirs)) if shared else 0.0
