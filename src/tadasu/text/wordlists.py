"""Word lists as they read best in source: words with white space between."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a list, in order."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """The words of a list, to be looked up."""
    return frozenset(text.split())
