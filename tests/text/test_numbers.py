from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.numbers import Number, numbers, same_quantity

_ANY = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="0123456789１２.,-〜~:/ 年月日万億兆千百十一二三円%kMPaメートル$¥（）vt½²", max_size=40),
)


def read(text: str) -> list[tuple[str, str]]:
    return [
        (format(n.value, "f").rstrip("0").rstrip(".") if "." in format(n.value, "f") else format(n.value, "f"), n.unit)
        for n in numbers(text)
    ]


def only(text: str) -> Number:
    found = numbers(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1億2,300万円", [("123000000", "円")]),
        ("１億２，３００万円", [("123000000", "円")]),
        ("123,000,000円", [("123000000", "円")]),
        ("¥123,000,000", [("123000000", "円")]),
        ("1.5兆円", [("1500000000000", "円")]),
        ("3千万円", [("30000000", "円")]),
        ("百五十個", [("150", "個")]),
        ("二十三人", [("23", "人")]),
        ("二千二十四円", [("2024", "円")]),
        ("１０％", [("10", "%")]),
        ("10パーセント", [("10", "%")]),
        ("10 percent", [("10", "%")]),
        ("1 234 567", [("1234567", "")]),
        ("1\u00a0234", [("1234", "")]),
        ("3.5MPa", [("3.5", "MPa")]),
        ("３．５ メガパスカル", [("3.5", "MPa")]),
        ("-5 °C", [("-5", "°C")]),
        ("−５℃", [("-5", "°C")]),
        ("気温は-8.9°C", [("-8.9", "°C")]),
        ("21時-22時", [("21", "時"), ("22", "時")]),
        ("10 - 20 kg", [("10", "kg"), ("20", "kg")]),
        ("▲12.5%", [("-12.5", "%")]),
        ("マイナス20度", [("-20", "度")]),
        ("±0.1%", [("0.1", "%")]),
        ("$5M", [("5000000", "USD")]),
        ("3.2 million people", [("3200000", "人")]),
        ("12 thousand", [("12000", "")]),
        ("10k", [("10000", "")]),
        ("1.5e-3 A", [("0.0015", "A")]),
        ("2½ inches", [("2.5", "in")]),
        ("4-20 mA", [("4", "mA"), ("20", "mA")]),
        ("10〜30V", [("10", "V"), ("30", "V")]),
        ("2〜3億円", [("200000000", "円"), ("300000000", "円")]),
        ("2 to 3 million dollars", [("2000000", "USD"), ("3000000", "USD")]),
        ("**42** units", [("42", "")]),
        ("21st century", [("21", "")]),
        ("第3回", [("3", "回")]),
        ("10:30", [("10", "時"), ("30", "min")]),
        ("10時30分", [("10", "時"), ("30", "min")]),
        ("午後10時30分", [("22", "時"), ("30", "min")]),
        ("10:30 p.m.", [("22", "時"), ("30", "min")]),
        ("5 pm", [("17", "時")]),
        ("12 a.m.", [("0", "時")]),
        ("午前9時", [("9", "時")]),
        ("5 years old", [("5", "歳")]),
        ("three months", [("3", "か月")]),
        ("three hundred and two", [("302", "")]),
        ("twenty-one days", [("21", "日")]),
        ("2024年3月5日", [("2024", "年"), ("3", "月"), ("5", "日")]),
        ("令和6年", [("2024", "年")]),
        ("1997", [("1997", "")]),
        ("FY2024", [("2024", "")]),
        ("100m²", [("100", "m2")]),
        ("60 km/h", [("60", "km/h")]),
    ],
)
def test_quantities_are_read_as_values(text: str, wanted: list[tuple[str, str]]) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "PT-3051S",
        "v2.4.1",
        "10.0.0.1",
        "03-1234-5678",
        "5G",
        "H2O",
        "十分に",
        "統一戦線",
        "二階堂さん",
        "一部の三重県",
        "五十嵐さん",
        "千葉と四国",
        "数十人",
        "一方",
        "no number",
        "",
    ],
)
def test_codes_names_and_idioms_are_not_quantities(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("1億2,300万円", "¥123,000,000"),
        ("１２％", "12 percent"),
        ("3割", "30%"),
        ("3.5 MPa", "3500 kPa"),
        ("1 km", "1,000メートル"),
        ("二十三人", "23 people"),
        ("23名", "23"),
        ("**1,234**", "１２３４"),
        ("1.50", "1.5"),
        ("5 million yen", "500万円"),
        ("90 min", "1.5時間"),
        ("25度", "25°C"),
        ("2 hours", "2時間"),
        ("5 p.m.", "17時"),
        ("午後5時", "5 PM"),
        ("10 times", "10倍"),
        ("a 5-year-old", "5歳"),
    ],
)
def test_a68_the_same_quantity_is_known_in_another_spelling(answer: str, source: str) -> None:
    assert same_quantity(only(answer), only(source))
    assert same_quantity(only(source), only(answer))


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("1億2,400万円", "1億2,300万円"),
        ("1億円", "1万円"),
        ("**1,235**", "1,234"),
        ("１３％", "12%"),
        ("3.5MPa", "35MPa"),
        ("3.5MPa", "3.5kPa"),
        ("-5℃", "5℃"),
        ("10 USD", "10 EUR"),
        ("5 kg", "5 m"),
    ],
)
def test_a68_one_digit_or_one_unit_makes_another_quantity(answer: str, source: str) -> None:
    assert not same_quantity(only(answer), only(source))


@given(_ANY)
def test_offsets_point_at_what_was_written(text: str) -> None:
    last = 0
    for number in numbers(text):
        assert text[number.start : number.end] == number.raw
        assert number.start >= last
        last = number.start


@given(st.integers(0, 10**15))
def test_any_whole_number_is_read_back_from_each_notation(value: int) -> None:
    grouped = f"{value:,}"
    wide = grouped.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789,"})
    rest, large = value, ""
    for unit, name in ((10**12, "兆"), (10**8, "億"), (10**4, "万")):
        if rest >= unit:
            large += f"{rest // unit}{name}"
            rest %= unit
    large += str(rest) if rest or not large else ""
    for written in (grouped, wide, large):
        assert only(f"合計{written}円です").value == Decimal(value), written


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("The fee is EUR 1,200.", 1200, "EUR"),
        ("USD 20 each", 20, "USD"),
        ("GBP 7.50", 7.5, "GBP"),
        ("料金は JPY 6,000です。", 6000, "円"),
        ("Amount EUR 18.4 million", 18_400_000, "EUR"),
    ],
)
def test_a_currency_code_before_an_amount_is_its_unit(text: str, value: float, unit: str) -> None:
    assert [(float(n.value), n.unit) for n in numbers(text)] == [(value, unit)]


@pytest.mark.parametrize("text", ["PEUR 3", "Price EUR: 59", "料金（EUR）は59"])
def test_letters_that_are_no_code_before_an_amount_are_no_unit(text: str) -> None:
    assert [n.unit for n in numbers(text)] == [""]
