"""Dates in English and Japanese."""

from __future__ import annotations

import pytest

from tadasu.answering.ingestion.parsers.dates import iso_date, labelled_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-04-01", "2026-04-01"), ("2026/4/1", "2026-04-01"), ("2026.04.01", "2026-04-01"),
        ("2026-04-01T10:00:00+09:00", "2026-04-01"), ("2026年4月1日", "2026-04-01"), ("２０２６年４月１日", "2026-04-01"),
        ("令和8年4月1日", "2026-04-01"), ("令和元年5月1日", "2019-05-01"), ("平成31年4月30日", "2019-04-30"),
        ("1 April 2026", "2026-04-01"), ("April 1st, 2026", "2026-04-01"), ("Wed, 01 Apr 2026 10:00:00 GMT", "2026-04-01"),
        ("D:20260401120000+09'00'", "2026-04-01"), ("20260401", "2026-04-01"),
        ("03/04/2026", ""), ("2026-13-01", ""), ("2026年2月30日", ""), ("PT-2026-1", ""), ("", ""), ("1234567890", ""),
    ],
)  # fmt: skip
def test_a_date_is_read_only_where_it_is_certain(text: str, date: str) -> None:
    assert iso_date(text) == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Title\nLast updated: 5 March 2026\n", "2026-03-05"),
        ("題名\n更新日：2026年3月5日\n", "2026-03-05"),
        ("**Date:** 2026-03-05", "2026-03-05"),
        ("It happened on 2020-01-01.\n", ""),
        ("x" * 2000 + "\nDate: 2026-03-05", ""),
    ],
)
def test_a_labelled_date_near_the_top_is_the_document_s(text: str, date: str) -> None:
    assert labelled_date(text) == date
