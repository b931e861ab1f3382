"""Hard paragraphs, whose cuts were written by two who had not seen the segmenter (see the folder's README files)."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from benchmarks.segmentation import Cut, cut, paragraphs, score


@cache
def cuts() -> tuple[Cut, ...]:
    return tuple(cut(one) for one in paragraphs())


def test_the_set_is_large_and_in_both_languages() -> None:
    languages = Counter(one.paragraph.language for one in cuts())
    assert len(cuts()) >= 300
    assert min(languages["en"], languages["ja"]) >= 100
    assert len({one.paragraph.id for one in cuts()}) == len(cuts())
    assert len({one.paragraph.kind for one in cuts()}) >= 20


def test_all_cuts_together() -> None:
    assert score(cuts()).f1 >= 0.98


@pytest.mark.parametrize("language", ["en", "ja", "mixed"])
def test_cuts_of_each_language(language: str) -> None:
    assert score([one for one in cuts() if one.paragraph.language == language]).f1 >= 0.97
