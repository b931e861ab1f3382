"""Warnings of a run that name a cause: their English sentences, which are message ids with places."""

from __future__ import annotations

from typing import Final

from tadasu.text.messages import translate

UNGRADED_SOME: Final = "{count} of {total} passages could not be graded: {reason} (`tadasu doctor` says more)"
SEARCH_FAILED: Final = "a search failed: {reason} (`tadasu doctor` says more)"
FOREIGN: Final = (
    "grades not calibrated for {count} of {total} passages used: they are in another language than the question"
)
UNFITTED: Final = "grades not calibrated for {count} of {total} passages used: their grader has no calibration"
TEMPLATES: Final = (UNGRADED_SOME, SEARCH_FAILED, FOREIGN, UNFITTED)

_LONGEST_REASON = 300


def warning_of(template: str, *, reason: str = "", **places: object) -> str:
    """The English sentence of `template`; `reason` on one line, cut, and without its full stop.

    >>> warning_of(SEARCH_FAILED, reason="The disk\\nis full.")
    'a search failed: The disk is full (`tadasu doctor` says more)'
    """
    line = " ".join(reason.split()).rstrip(".")
    cut = line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 1]}…"
    return translate(template, "en", reason=cut, **places)
