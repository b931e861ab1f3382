"""Passages: true offsets, whole strips, sections kept apart, within the budget."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.ingestion.chunkers import ChunkSettings, passages_of
from tadasu.answering.ingestion.documents import document_of
from tadasu.answering.ingestion.parsers.markdown import markdown_document
from tadasu.answering.ingestion.parsers.parsed import Parsed
from tadasu.answering.ingestion.parsers.text import text_blocks
from tadasu.core.documents import Document, Passage, label_of
from tests.answering.ingestion.making import WordCounter

COUNTER = WordCounter()
SMALL = ChunkSettings(max_tokens=40, min_tokens=8)


def markdown(text: str) -> Document:
    return document_of(markdown_document(text), source="docs/a.md", content_hash="h")


def plain(text: str) -> Document:
    parsed = Parsed(text=text, blocks=text_blocks(text), media_type="text/plain")
    return document_of(parsed, source="docs/a.txt", content_hash="h")


def check(document: Document, passages: list[Passage], limits: ChunkSettings) -> None:
    for number, passage in enumerate(passages):
        assert passage.ordinal == number
        assert passage.span.of(document.text) == passage.text
        assert passage.text.strip()
        assert passage.text == passage.text.rstrip()
        assert [strip.start for strip in passage.strips] == [0, *(strip.end for strip in passage.strips[:-1])]
        assert passage.strips[-1].end == len(passage.text)
        assert "".join(strip.of(passage.text) for strip in passage.strips) == passage.text
    assert all(a.span.end <= b.span.start for a, b in pairwise(passages))
    assert len({passage.id for passage in passages}) == len(passages)
    bound = limits.whole_tokens if len(passages) == 1 else limits.max_tokens
    for passage in passages:
        assert sum(COUNTER.count(strip.of(passage.text)) for strip in passage.strips) <= bound + 2 * len(passage.strips)


words = st.text(st.sampled_from("abc de。、！？「」.! あい漢字ｱ123#|-*\n\n\t　😀"), max_size=600)


@settings(max_examples=150, deadline=None)
@given(words)
def test_any_markdown_gives_true_offsets_and_lossless_strips(text: str) -> None:
    document = markdown(text)
    check(document, passages_of(document, COUNTER, settings=SMALL), SMALL)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=800))
def test_any_text_gives_true_offsets_and_keeps_every_word(text: str) -> None:
    document = plain(text)
    passages = passages_of(document, COUNTER, settings=SMALL)
    check(document, passages, SMALL)
    kept = "".join("".join(passage.text.split()) for passage in passages)
    assert kept == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    ["# 梅雨\n\n梅雨は5月から7月にかけて来る雨の多い期間のこと。雨季の一種である。", "# Rain\n\nIt rains. Often."],
)
def test_a_small_document_is_one_passage(text: str) -> None:
    (passage,) = passages_of(markdown(text), COUNTER)
    assert passage.text == text
    assert len(passage.strips) == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [("圧力を測ります。" * 6, "温度を測ります。" * 6), ("Pressure is measured here. " * 12, "Heat is measured. " * 14)],
)
def test_a_passage_does_not_cross_a_top_level_heading(first: str, second: str) -> None:
    document = markdown(f"# Manual\n\n## One\n\n{first}\n\n## Two\n\n{second}\n")
    passages = passages_of(document, COUNTER, settings=ChunkSettings(max_tokens=60, min_tokens=8))
    assert any(p.text.startswith("## Two") for p in passages)
    assert all(("## Two" in p.text) == p.text.startswith("## Two") or "## One" not in p.text for p in passages)
    assert passages[-1].headings == ("Manual", "Two")
    assert label_of(passages[-1]) == "Manual > Two"


def test_tiny_sections_share_a_passage_and_its_headings_are_what_they_share() -> None:
    text = "# FAQ\n\n" + "\n\n".join(f"## Q{n}\n\nYes." for n in range(60))
    passages = passages_of(markdown(text), COUNTER, settings=SMALL)
    assert 3 <= len(passages) <= 10
    assert all(passage.headings == ("FAQ",) for passage in passages[:-1])


def test_a_heading_stays_with_what_follows_it() -> None:
    body = "A sentence of some words here. " * 6
    text = "# T\n\n" + "\n\n".join(f"## Heading {n}\n\n{body}" for n in range(8))
    for passage in passages_of(markdown(text), COUNTER, settings=SMALL):
        assert not passage.text.splitlines()[-1].startswith("#")


def test_pieces_of_a_long_section_are_of_about_one_size() -> None:
    text = "これは一つの文です。" * 60
    sizes = [len(p.text) for p in passages_of(plain(text), COUNTER, settings=ChunkSettings(max_tokens=256))]
    assert len(sizes) == 3
    assert max(sizes) - min(sizes) <= 20


@pytest.mark.parametrize("letter", ["漢", "中", "ก", "क", "x"])
def test_a46_ten_thousand_characters_without_spaces_split_within_the_budget(letter: str) -> None:
    document = plain(letter * 10_000)
    limits = ChunkSettings()
    passages = passages_of(document, COUNTER, settings=limits)
    check(document, passages, limits)
    assert "".join(p.text for p in passages) == document.text
    assert len(passages) > 5


def test_rows_of_a_markdown_table_that_was_parted_still_know_their_columns() -> None:
    rows = "\n".join(f"| PT-{n} | {n} bar | {n}00 EUR |" for n in range(40))
    passages = passages_of(
        markdown(f"# Prices\n\n| Model | Range | Price |\n|---|---|---|\n{rows}\n"), COUNTER, settings=SMALL
    )
    assert len(passages) > 3
    assert all(row.startswith("|") for p in passages[1:] for row in p.text.splitlines())
    assert all(p.headings == ("Prices", "Model | Range | Price") for p in passages[1:])


def test_front_matter_and_comments_are_not_in_the_passages() -> None:
    text = "---\ntitle: Pump\nowner: nobody\n---\n<!-- internal note -->\n# Pump\n\nIt runs."
    (passage,) = passages_of(markdown(text), COUNTER)
    assert passage.text == "# Pump\n\nIt runs."
    assert passage.span.of(text) == passage.text


def test_the_label_is_short_and_says_nothing_twice() -> None:
    document = markdown("# Pump\n\nText.")
    (passage,) = passages_of(document, COUNTER)
    assert label_of(passage) == "Pump"
    long = Passage(
        "p",
        "d",
        "s",
        "Title",
        "x",
        passage.span,
        (),
        headings=tuple(f"Heading number {n} of a deep path" for n in range(9)),
    )
    assert len(label_of(long)) <= 120
    assert label_of(long).startswith("Title > ")
    assert label_of(long).endswith("Heading number 8 of a deep path")
