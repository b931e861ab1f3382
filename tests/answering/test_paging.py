from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.paging import on_their_pages
from tadasu.core.answers import Evidence
from tadasu.core.documents import Block, BlockKind, Document, Origin, Reader, Span, Strip

TEXTS = {
    "en": ("First page.", "\nSecond page.", "\nIts end."),
    "ja": ("一ページ目です。", "\n二ページ目です。", "\n終わり。"),
}


class Shelf:
    """Holds one document of two pages."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        text, cut = "".join(texts), len(texts[0]) + 1
        blocks = (
            Block(BlockKind.PARAGRAPH, Span(0, cut - 1), page=1),
            Block(BlockKind.PARAGRAPH, Span(cut, len(text)), page=2),
        )
        self.document_of = {"d": Document("d", "a.pdf", "A", text, "hash", blocks)}
        self.asked: list[str] = []

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        self.asked.append(id_or_source)
        return self.document_of.get(id_or_source)


def pieces(texts: tuple[str, ...]) -> tuple[Evidence, ...]:
    """One passage over both pages, which names the first."""
    out, at = list[Evidence](), 0
    for index, text in enumerate(texts):
        strip = Strip(f"p.{index}", "p", "d", "a.pdf", "A", text, Span(at, at + len(text)), index, page=1)
        out.append(Evidence(index + 1, strip, 0.9))
        at += len(text)
    return tuple(out)


@pytest.mark.parametrize("language", TEXTS)
async def test_each_strip_names_the_page_that_it_begins_on(language: str) -> None:
    shelf = Shelf(TEXTS[language])
    found = await on_their_pages(pieces(TEXTS[language]), shelf=shelf, reader=Reader())  # type: ignore[arg-type]
    assert [piece.strip.page for piece in found] == [1, 2, 2]
    assert shelf.asked == ["d"]


async def test_what_has_no_pages_or_is_not_ours_is_left_alone() -> None:
    shelf = Shelf(TEXTS["en"])
    first = pieces(TEXTS["en"])[1]
    others = (
        replace(first, strip=replace(first.strip, page=None)),
        replace(first, strip=replace(first.strip, origin=Origin.WEB)),
    )
    assert await on_their_pages(others, shelf=shelf, reader=Reader()) == others  # type: ignore[arg-type]
    assert shelf.asked == []
    elsewhere = replace(first, strip=replace(first.strip, document_id="gone"))
    changed = replace(first, strip=replace(first.strip, text="Other text.."))
    assert await on_their_pages((elsewhere, changed), shelf=shelf, reader=Reader()) == (elsewhere, changed)  # type: ignore[arg-type]
