"""Markdown, plain text, CSV and JSON lines."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.ingestion.parsers.markdown import front_matter, markdown_document
from tadasu.answering.ingestion.parsers.parsed import Parsed, RowProblem
from tadasu.answering.ingestion.parsers.registry import parse_bytes
from tadasu.core.documents import BlockKind

K = BlockKind


def parsed(name: str, data: str | bytes) -> list[Parsed | RowProblem]:
    return list(parse_bytes(name, data.encode() if isinstance(data, str) else data))


def one(name: str, data: str | bytes) -> Parsed:
    (item,) = parsed(name, data)
    assert isinstance(item, Parsed)
    return item


def blocks(item: Parsed) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.span.of(item.text)) for block in item.blocks]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_markdown_blocks_lie_where_they_stand_in_the_file(newline: str) -> None:
    source = newline.join(
        ["---", "title: ポンプ", "date: 2026-04-01", "language: ja", "owner: 保守課", "---", "# 見出し", "", "段落です。", "二行目。", "",
         "- a", "- b", "  - c", "", "| A | B |", "|---|---|", "| 1 | 2 |", "", "```", "code", "```", "> quote", "", "Under", "====="]
    )  # fmt: skip
    item = one("a.md", source)
    assert item.text == source
    assert (item.title, item.date, item.language, item.metadata["owner"]) == ("ポンプ", "2026-04-01", "ja", "保守課")
    assert [(kind, text.replace("\r\n", "\n")) for kind, text in blocks(item)] == [
        (K.HEADING, "# 見出し"),
        (K.PARAGRAPH, "段落です。\n二行目。"),
        (K.LIST, "- a\n- b\n  - c"),
        (K.TABLE, "| A | B |\n|---|---|\n| 1 | 2 |"),
        (K.CODE, "```\ncode\n```"),
        (K.PARAGRAPH, "> quote"),
        (K.HEADING, "Under\n====="),
    ]
    assert [block.level for block in item.blocks if block.kind is K.HEADING] == [1, 1]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    text = "---\nJust prose, and: a colon in it\n---\nMore."
    assert front_matter(text) == ({}, 0)
    assert one("a.md", text).text == text


def test_toml_front_matter_is_read() -> None:
    assert one("a.md", '+++\ntitle = "Pump"\ndate = 2026-04-01\n+++\nText').date == "2026-04-01"


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab 漢。#->|`*[]:!\n\r\t1.="), max_size=300))
def test_every_line_of_markdown_lies_in_a_block(text: str) -> None:
    item = markdown_document(text)
    covered = [False] * len(text)
    for block in item.blocks:
        assert block.span.of(text).strip()
        covered[block.span.start : block.span.end] = [True] * len(block.span)
    left = "".join(character for character, taken in zip(text, covered, strict=True) if not taken)
    assert not left.strip(" \t\r\n*-_=")  # rules are no text


def test_text_stays_as_it_is_and_gets_a_title_and_sections() -> None:
    text = "Handling of buffers\nIssue 3\nDate: 2025-12-08\n\nStorage\n\nThey are stored in the dark.\n\n- one\n- two\n"
    item = one("a.txt", text)
    assert (item.text, item.title, item.date) == (text, "Handling of buffers", "2025-12-08")
    assert [kind for kind, _ in blocks(item)] == [K.PARAGRAPH, K.HEADING, K.PARAGRAPH, K.LIST]


@pytest.mark.parametrize(
    ("encoding", "title"), [("cp932", "温度計の仕様"), ("euc_jp", "温度計の仕様"), ("utf-16", "温度計の仕様")]
)
def test_japanese_text_in_old_encodings(encoding: str, title: str) -> None:
    item = one("a.txt", f"{title}\n更新日：2025年7月28日\n\n食品工場で使う防水型の温度計です。".encode(encoding))
    assert (item.title, item.date) == (title, "2025-07-28")


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_csv_table_names_its_columns_in_every_row(delimiter: str) -> None:
    rows = [["型番", "価格"], ["PT-100", '"48,000円"'], ["PT-200", "無料"]]
    item = one(
        "a.tsv" if delimiter == "\t" else "a.csv", "\r\n".join(delimiter.join(row) for row in rows).encode("cp932")
    )
    assert item.text == "型番: PT-100 | 価格: 48,000円\n型番: PT-200 | 価格: 無料"
    assert [kind for kind, _ in blocks(item)] == [K.TABLE]


def test_a_csv_with_a_text_column_is_a_document_a_row() -> None:
    items = parsed(
        "a.csv",
        'id,title,text,date,area\n7,Leave,"Twenty days.\nNot more.",2026-04-01,people\n,Pay,Monthly.,,\n9,No text,,,\n',
    )
    first, second, problem = items
    assert isinstance(first, Parsed)
    assert isinstance(second, Parsed)
    assert (first.key, first.title, first.text, first.date) == ("7", "Leave", "Twenty days.\nNot more.", "2026-04-01")
    assert first.metadata["area"] == "people"
    assert second.key == "4"  # its line, where it has no id
    assert problem == RowProblem(5, "the column text is empty")


def test_a_quote_that_is_never_closed_costs_one_row() -> None:
    items = parsed("a.csv", 'A,B\n1,2\n3,"4\n5,6\n')
    assert items[0] == RowProblem(3, "a quote is never closed")
    assert isinstance(items[1], Parsed)
    assert items[1].text == "A: 1 | B: 2\nA: 5 | B: 6"


def test_a_file_full_of_stray_quotes_is_read_in_no_time() -> None:
    began = time.perf_counter()
    items = parsed("a.csv", "a,b\n" + '1,"x\n' * 5000 + "3,4\n")
    assert time.perf_counter() - began < 5
    assert len(items) == 5001
    assert isinstance(items[-1], Parsed)
    assert items[-1].text == "a: 3 | b: 4"


def test_inches_and_line_separators_are_no_quotes_and_no_rows() -> None:
    items = parsed("a.csv", 'Pipe,Note\n5" pipe,a\n"7"" pipe",b\n9"\u2028pipe,"c\n""d"""\n')
    (item,) = items
    assert isinstance(item, Parsed)
    assert item.text == 'Pipe: 5" pipe | Note: a\nPipe: 7" pipe | Note: b\nPipe: 9" pipe | Note: c "d"'


def test_a_cell_may_be_longer_than_the_csv_module_likes() -> None:
    item = one("a.csv", "name,text\nlong," + "Many words. " * 20_000 + "\n")
    assert len(item.text) > 200_000


def test_json_lines_are_a_document_each() -> None:
    items = parsed(
        "a.jsonl",
        '{"id": 3, "title": "Range", "body": "Ten bar.", "lang": "en", "date": "1 April 2026", "metadata": {"area": "x"}, "n": 5}\n\n'
        '{"question": "電源は？", "answer": "24 V", "tags": ["a", "b"], "more": {"deep": true}}\n',
    )
    first, second = items
    assert isinstance(first, Parsed)
    assert isinstance(second, Parsed)
    assert (first.key, first.title, first.text, first.language, first.date) == (
        "3",
        "Range",
        "Ten bar.",
        "en",
        "2026-04-01",
    )
    assert first.metadata == {"area": "x", "n": "5"}
    assert (second.key, second.text) == ("row-3", "question: 電源は？\nanswer: 24 V\ntags: a, b\nmore.deep: true")


def test_ids_of_rows_never_clash_with_line_numbers() -> None:
    items = parsed(
        "a.jsonl", '{"text": "first"}\n{"text": "second"}\n{"id": "2", "text": "third"}\n{"id": "2", "text": "again"}\n'
    )
    assert [item.key for item in items if isinstance(item, Parsed)] == ["1", "row-2", "2"]
    assert items[3] == RowProblem(4, "the id 2 was used in row 3")


def test_lone_surrogates_do_not_reach_the_store() -> None:
    item = one("a.jsonl", '{"text": "broken \\ud800 escape"}')
    assert item.text.encode() == b"broken ? escape"


def test_deep_json_is_a_bad_row_and_not_a_crash() -> None:
    items = parsed("a.jsonl", "[" * 100_000 + "\n" + '{"text": "fine"}\n')
    assert isinstance(items[0], RowProblem)
    assert isinstance(items[1], Parsed)
