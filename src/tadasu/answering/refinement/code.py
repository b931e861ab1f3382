"""Blocks of code: half of one is read by nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tadasu.core.documents import BlockKind, Passage, Strip

MOST_PIECES = 6
"""Strips up to which a block of code goes on whole, about 2,400 characters; a longer one is treated as text."""
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)


def code_blocks(strips: Sequence[Strip], passage: Passage) -> list[frozenset[int]]:
    """The blocks of code of `passage` as the indices of their strips, those of up to `MOST_PIECES` strips.

    A block stands between fences, or is the whole of a passage that its parser saw as code. One whose end the passage
    cuts off reaches to the end of the passage.
    """
    written = [strip for strip in strips if strip.text.strip()]
    whole = passage.kind is BlockKind.CODE
    blocks = [{strip.index for strip in written}] if whole else _fenced(written)
    return [frozenset(block) for block in blocks if 0 < len(block) <= MOST_PIECES]


def _fenced(strips: Sequence[Strip]) -> list[set[int]]:
    found: list[set[int]] = []
    closes = ""
    for strip in strips:
        inside = bool(closes)
        for fence in _FENCE.findall(strip.text):
            if not closes:
                closes = fence
            elif fence.startswith(closes):
                closes = ""
        if inside:
            found[-1].add(strip.index)
        elif _FENCE.search(strip.text):
            found.append({strip.index})
    return found
