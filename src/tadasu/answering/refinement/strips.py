"""How relevant each strip of a passage is, from what the grader gave or else from what is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tadasu.core.documents import Passage, Strip, strip_of
from tadasu.core.retrieved import GradedPassage
from tadasu.text.normalize import fold

_HEADING_MARK = re.compile(r"^\s*#{1,6}\s+")
_LABELLED = re.compile(r"\s*[^:：|]{1,40}[:：]\s?\S")
_LONGEST_HEADING = 200
_NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*\.?|第[0-9一二三四五六七八九十百]+[章節条項])\s+")


@dataclass(frozen=True, slots=True)
class ScoredStrip:
    """A strip and its probability of relevance in [0, 1].

    `known` says whether the grader scored the strip itself; otherwise `score` is its passage's probability, which
    speaks for the strip but never against it.
    """

    strip: Strip
    score: float
    known: bool


def score_strips(graded: GradedPassage) -> tuple[ScoredStrip, ...]:
    """Every strip of the passage with its score, in order; one per strip whatever the grader gave."""
    scores = graded.grade.strip_scores
    strips = strips_of(graded.passage)
    if len(scores) == len(strips):
        return tuple(ScoredStrip(s, float(p), known=True) for s, p in zip(strips, scores, strict=True))
    return tuple(ScoredStrip(s, graded.probability, known=False) for s in strips)


def strips_of(passage: Passage) -> tuple[Strip, ...]:
    """All strips of `passage`; their texts concatenate to its text."""
    return tuple(strip_of(passage, index) for index in range(len(passage.strips)))


def is_heading(strip: Strip, passage: Passage) -> bool:
    """Whether a strip is a heading: marked as one, or the same words as a heading above the passage."""
    text = strip.text.strip()
    if not text or len(text) > _LONGEST_HEADING:
        return False
    if _HEADING_MARK.match(text) and "\n" not in text:
        return True
    words = _bare(text) if passage.headings else ""
    return bool(words) and any(words == _bare(heading) for heading in passage.headings)


def table_heads(strips: Sequence[Strip]) -> dict[int, int]:
    """Each table row (by index) with the head row that it cannot be read without.

    A table is a run of strips with equally many cells between bars. Rows that name their columns themselves
    (``Model: A-1 | Price: 3``), as those of CSV files do, need no head.
    """
    found: dict[int, int] = {}
    head, width = 0, 0
    for strip in strips:
        cells = cells_of(strip.text)
        if len(cells) < 2 or is_labelled(cells):
            width = 0
        elif len(cells) == width:
            found[strip.index] = head
        else:
            head, width = strip.index, len(cells)
    return found


def is_labelled(cells: Sequence[str]) -> bool:
    """Whether a row names its columns itself."""
    return all(_LABELLED.match(cell) for cell in cells if cell.strip())


def cells_of(text: str) -> list[str]:
    """The cells of the first line of `text`, where it is a table row."""
    line = text.strip().partition("\n")[0].strip()
    return line.strip("|").split("|") if "|" in line.strip("|") else []


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    return _NUMBERING.sub("", _HEADING_MARK.sub("", fold(text).strip())).rstrip(" #:：").casefold()
