"""No text makes any of these functions fail, or take more than time in proportion to its length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tadasu.text.analyze import content_terms, tokens
from tadasu.text.dates import dates
from tadasu.text.language import detect
from tadasu.text.names import proper_names
from tadasu.text.normalize import fold, fold_with_offsets
from tadasu.text.numbers import numbers
from tadasu.text.segment import segment

_TEXTS = {
    "brackets": "(" * 20_000,
    "closing brackets": "」" * 20_000,
    "quotes": '"' * 20_000,
    "stops": "。" * 20_000,
    "spaced stops": ". " * 20_000,
    "spaces": " " * 20_000,
    "one word": "a" * 50_000,
    "capitals": "A" * 50_000,
    "codes": "A-1" * 15_000,
    "digits": "1" * 50_000,
    "groups": "1,234" * 10_000,
    "versions": "1." * 20_000,
    "dashes": "-" * 20_000,
    "dated": "2024-" * 10_000,
    "kanji numerals": "一十百千万" * 5_000,
    "marks": "e" + "\u0301" * 20_000,
    "joined emoji": "\U0001f468\u200d" * 10_000,
    "katakana": "ア" * 20_000,
    "kanji": "東京都" * 10_000,
    "companies": "株式会社" * 5_000,
    "names": "Ab Cd " * 8_000,
    "initials": "A. " * 15_000,
    "fences": "```\n" * 5_000,
    "pipes": "|" * 20_000,
    "list marks": "-\n" * 10_000,
    "tabs": "a\t" * 10_000,
    "lone surrogates": "\ud800" * 1_000,
    "nulls": "\x00" * 20_000,
}


@pytest.mark.parametrize(
    "read", [fold, fold_with_offsets, detect, segment, tokens, content_terms, numbers, dates, proper_names]
)
@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS.keys())
def test_hostile_text_takes_time_in_proportion(read: Callable[[str], object], text: str) -> None:
    began = time.perf_counter()
    read(text)
    assert time.perf_counter() - began < 3
