"""Rows become documents whose passages point back into them, and vectors are remembered as they were made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tadasu.core.documents import Scope
from tadasu.core.vectors import PassageText, PassageVectors
from tadasu.testing.articles import CachedEncoder, articles, chunked, encode, index
from tadasu.testing.datasets import Part, PassageRow
from tadasu.testing.memory_store import open_store

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix

ROWS = [
    PassageRow(Part.JSQUAD_VALID, "j-0", "梅雨", "梅雨は雨季の一種である。北海道にはない。", "title:梅雨"),
    PassageRow(Part.JSQUAD_VALID, "j-1", "梅雨", "梅雨入りは六月が多い。", "title:梅雨"),
    PassageRow(Part.JSQUAD_VALID, "j-2", "東京", "東京は日本の首都である。", "title:東京"),
]


class _Counting:
    """An encoder that counts what it is asked."""

    id = "counting@1"
    dimensions = 4

    def __init__(self) -> None:
        self.asked = 0

    def encode_queries(self, queries: Sequence[str]) -> FloatMatrix:
        self.asked += len(queries)
        return np.array([[len(query), 1, 0, 0] for query in queries], dtype=np.float32)

    def encode_passages(self, passages: Sequence[PassageText]) -> list[PassageVectors]:
        self.asked += len(passages)
        return [
            PassageVectors(
                np.array([len(one.text), len(one.title), 0, 1], dtype=np.float32),
                np.array([[end - start, 0, 0, 1] for start, end in one.strips], dtype=np.float32).reshape(-1, 4),
            )
            for one in passages
        ]


def test_an_article_is_one_document_and_its_passages_point_into_it() -> None:
    found = articles(ROWS)
    assert [len(article.passages) for article in found] == [2, 1]
    for article in found:
        for passage in article.passages:
            assert passage.span.of(article.document.text) == passage.text
            assert "".join(strip.of(passage.text) for strip in passage.strips) == passage.text


@pytest.mark.parametrize("text", ["One sentence. " * 200, "これは文です。" * 300, "x" * 5000, "Short."])
def test_a_cut_paper_is_whole_and_within_its_limit(text: str) -> None:
    row = PassageRow(Part.COVIDQA, "c", "t", text, "title:t")
    pieces = chunked(Part.COVIDQA, [row], limit=300)
    assert "".join(piece.text for piece in pieces) == text
    assert all(len(piece.text) <= 300 and piece.key == row.key for piece in pieces)
    assert len({piece.id for piece in pieces}) == len(pieces)


def test_a_cached_vector_is_the_one_that_was_made_and_made_once(tmp_path: Path) -> None:
    plain, counting = _Counting(), _Counting()
    cached = CachedEncoder(counting, tmp_path / "cache.db")
    passages = [passage for article in articles(ROWS) for passage in article.passages]
    for _ in range(2):
        for made, kept in zip(encode(passages, encoder=plain), encode(passages, encoder=cached), strict=True):
            assert np.array_equal(made.passage, kept.passage)
            assert np.array_equal(made.strips, kept.strips)
        assert np.array_equal(cached.encode_queries(["いつ", "when"]), plain.encode_queries(["いつ", "when"]))
    assert counting.asked == 5


async def test_what_was_indexed_is_found_by_title_and_text() -> None:
    store = open_store("", encoder_id="counting@1", dimensions=4, analyzer_id="any")
    assert await index(articles(ROWS), encoder=_Counting(), store=store) == 3
    assert [hit.passage_id for hit in await store.lexical(["首都"], k=5, scope=Scope())] == ["j-2"]
    await store.close()
