from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.dates import dates, same_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024年3月5日", "2024-03-05"),
        ("２０２４年３月５日", "2024-03-05"),
        ("二〇二四年三月五日", "2024-03-05"),
        ("令和6年3月5日", "2024-03-05"),
        ("令和元年5月1日", "2019-05-01"),
        ("平成二十三年三月十一日", "2011-03-11"),
        ("昭和64年1月7日", "1989-01-07"),
        ("2011年（平成23年）3月11日", "2011-03-11"),
        ("R6.3.5", "2024-03-05"),
        ("March 5, 2024", "2024-03-05"),
        ("Mar. 5th, 2024", "2024-03-05"),
        ("5 March 2024", "2024-03-05"),
        ("the 5th of March 2024", "2024-03-05"),
        ("2024-03-05", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("2024.03.05", "2024-03-05"),
        ("2024年3月", "2024-03"),
        ("March 2024", "2024-03"),
        ("2024年度", "2024"),
        ("3月5日", "--03-05"),
        ("March 5", "--03-05"),
    ],
)
def test_a_date_is_read_from_each_notation(text: str, iso: str) -> None:
    found = dates(f"on {text}.")
    assert [date.iso for date in found] == [iso]


@pytest.mark.parametrize("text", ["3/5/2024", "may be 5", "13月40日", "1-2-3", "2024", "5か月間", "v2024.1", ""])
def test_what_is_no_clear_date_is_left_alone(text: str) -> None:
    assert dates(text) == []


def test_evidence_must_state_what_the_claim_states() -> None:
    def holds(claim: str, evidence: str) -> bool:
        return same_date(dates(claim)[0], dates(evidence)[0])

    assert holds("令和6年3月5日", "March 5, 2024")
    assert holds("3月5日", "2024-03-05")
    assert holds("2024年", "2024-03-05")
    assert not holds("2024年3月5日", "2024年3月")
    assert not holds("2024年3月6日", "2024-03-05")


@given(st.dates(min_value=dt.date(1900, 1, 1), max_value=dt.date(2099, 12, 31)))
def test_any_date_is_read_back(day: dt.date) -> None:
    for written in (
        day.isoformat(),
        f"{day.year}年{day.month}月{day.day}日",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
        f"{day.year}/{day.month}/{day.day}",
    ):
        assert [date.iso for date in dates(f"({written})")] == [day.isoformat()], written
