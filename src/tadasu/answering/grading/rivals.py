"""Neighbours: a passage about the MLD-60 does not answer a question about the MLD-120, however alike the words.

Two rules after the model. The public sets that the tier is fitted on hardly hold model codes, so what a missing code
takes is set by hand. What a missing name takes beyond the model's own signals is mild (``models/grader/card.md``): in
the public sets, most names that a right passage lacks are said in other words or understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from tadasu.answering.grading.model import Numbers
from tadasu.answering.grading.views import PASSAGE_COLUMN
from tadasu.core.retrieved import Candidate
from tadasu.text.normalize import fold

_CODE = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{1,8})[-‐–_ ]?([0-9]{1,6})([A-Za-z]{0,3})(?![A-Za-z0-9])")
_SPACED = re.compile(r"[A-Za-z]+ [0-9]+[A-Za-z]*\Z")
_KEPT_BESIDE_A_RIVAL: Final = 0.2
_KEPT_ALONE: Final = 0.5
_KEPT_WITHOUT_NAME: Final = 0.75
_RAREST = 0.999


def code_patterns(question: str) -> tuple[re.Pattern[str], ...]:
    """One pattern per model code of `question`: letters, then digits, spelled with or without a hyphen or space.

    A word and a number with a space between (``May 2026``, ``Figure 3``) is no code.

    >>> [bool(p.search("the mld120, PT 300")) for p in code_patterns("MLD-120 and PT-300 in May 2026")]
    [True, True]
    """
    found = {}
    for match in _CODE.finditer(fold(question)):
        if _SPACED.match(match.group()):
            continue
        letters, digits, tail = match.groups()
        found[letters.casefold(), digits, tail.casefold()] = re.compile(
            rf"(?<![A-Za-z0-9]){re.escape(letters)}[-‐–_ ]?{digits}{re.escape(tail)}(?![A-Za-z0-9])", re.IGNORECASE
        )
    return tuple(found.values())


def kept_without_name(passages: Numbers) -> Numbers:
    """What is kept of each probability, (n,), from the signals of the passages (n, all signals).

    Three quarters where the most telling of all words asked for is part of a name, or a number, that neither the
    passage nor its headings hold; all of it elsewhere, also where that is unknown.
    """
    shares = np.ones(len(passages))
    shares[passages[:, PASSAGE_COLUMN["lacks_name"]] >= _RAREST] = _KEPT_WITHOUT_NAME
    return shares


def kept_shares(question: str, candidates: Sequence[Candidate]) -> Numbers:
    """What is kept of each candidate's probability, (n,) in (0, 1].

    All of it where the question names no code, or the passage (title, headings and source too) holds one of them; a
    fifth where it holds none and another candidate does; half where no candidate does.
    """
    patterns = code_patterns(question)
    shares = np.ones(len(candidates))
    if not patterns:
        return shares
    holds = np.array([_holds(patterns, candidate) for candidate in candidates], dtype=bool)
    shares[~holds] = _KEPT_BESIDE_A_RIVAL if holds.any() else _KEPT_ALONE
    return shares


def _holds(patterns: Sequence[re.Pattern[str]], candidate: Candidate) -> bool:
    passage = candidate.passage
    text = fold("\n".join((passage.title, *passage.headings, passage.source, passage.text)))
    return any(pattern.search(text) for pattern in patterns)
