"""A text as its units: sentences, list items, table rows, headings, code blocks. Lossless.

Strips, chunks and checked answer sentences are all made of these spans.
"""

from __future__ import annotations

import re

from tadasu.text.blocks import Block, Shape, blocks, items_on_one_line
from tadasu.text.borders import sentence_ends
from tadasu.text.cutting import CODE, PROSE, ROW, cut

_SAYS_SOMETHING = re.compile(r"[^\W_]")
_BORDERS = {Shape.CODE: CODE, Shape.ROW: ROW}
# A list item is one unit up to this share of the limit; a longer one is cut at its sentences.
_WHOLE_ITEM = 0.4


def segment(text: str, *, language: str | None = None, max_length: int = 400) -> tuple[tuple[int, int], ...]:
    """Units of `text` as half-open spans of code points.

    The spans are contiguous and cover the whole text; white space belongs to the unit before it. None is longer than
    `max_length`. A stretch that says nothing (a rule, a lone bracket) joins its neighbour.

    Args:
        text: any text in any mixture of scripts, plain or Markdown.
        language: what the caller believes, for interface symmetry with `analyze`. Marks are read by the script around
            them, so a wrong belief cannot hide a border.
        max_length: in code points, at least 1.

    Raises:
        ValueError: `max_length` is below 1.

    >>> segment("田中の猫はかわいいですね。日本語上手。", language="en")
    ((0, 13), (13, 19))
    """
    del language
    if max_length < 1:
        raise ValueError("max_length must be at least 1")
    spans: list[tuple[int, int]] = []
    for block in blocks(text):
        for begins, end in _units(text, block, max_length):
            start = begins
            if spans:  # indentation belongs to the unit before it, as all white space does
                while start < end and text[start].isspace():
                    start += 1
                spans[-1] = (spans[-1][0], start)
                if start == end:
                    continue
            if spans and _joins(text, spans[-1], start, end, max_length):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return tuple(piece for start, end in spans for piece in _fit(text, start, end, max_length, PROSE))


def _units(text: str, block: Block, max_length: int) -> list[tuple[int, int]]:
    start, end = block.start, block.end
    if block.shape in _BORDERS:
        return _fit(text, start, end, max_length, _BORDERS[block.shape])
    if block.shape is Shape.HEADING:
        return [(start, end)]
    if block.shape is Shape.ITEM:
        return [
            unit
            for first, last in items_on_one_line(text, start, end)
            for unit in ([(first, last)] if last - first <= max_length * _WHOLE_ITEM else _sentences(text, first, last))
        ]
    return _sentences(text, start, end)


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    units: list[tuple[int, int]] = []
    for at in sentence_ends(text, start, end):
        units.append((start, at))
        start = at
    units.append((start, end))
    return units


def _joins(text: str, before: tuple[int, int], start: int, end: int, max_length: int) -> bool:
    if end - before[0] > max_length:
        return False
    return not _SAYS_SOMETHING.search(text, start, end) or not _SAYS_SOMETHING.search(text, *before)


def _fit(
    text: str, start: int, end: int, max_length: int, borders: tuple[re.Pattern[str], ...]
) -> list[tuple[int, int]]:
    return [(start, end)] if end - start <= max_length else cut(text, start, end, limit=max_length, borders=borders)
