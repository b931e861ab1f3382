"""Rows that explain themselves."""

from __future__ import annotations

import pytest

from tadasu.answering.ingestion.parsers.tables import Header, table_lines

P, A, U = Header.PRESENT, Header.ABSENT, Header.UNSAID


@pytest.mark.parametrize(
    ("rows", "header", "lines"),
    [
        (
            [["Model", "Range", "Price"], ["PT-100", "0–10 bar", "¥48,000"], ["PT-200", "", "¥52,000"]],
            U,
            ["Model: PT-100 | Range: 0–10 bar | Price: ¥48,000", "Model: PT-200 | Price: ¥52,000"],
        ),
        ([["型番", "測定範囲"], ["PT-100", "0〜10 bar"], ["PT-200", "0〜40 bar"]], U, ["型番: PT-100 | 測定範囲: 0〜10 bar", "型番: PT-200 | 測定範囲: 0〜40 bar"]),
        ([["Property", "Value"], ["Range", "10 bar"]], U, ["Range: 10 bar"]),
        ([["項目", "仕様値"], ["測定範囲", "10 bar"]], P, ["測定範囲: 10 bar"]),
        ([["Material", "Steel"], ["Colour", "Grey"], ["Weight", "3 kg"]], U, ["Material: Steel", "Colour: Grey", "Weight: 3 kg"]),
        ([["Weight", "3 kg"], ["Length", "2 m"]], U, ["Weight: 3 kg", "Length: 2 m"]),
        ([["Distance", "MLD-60", "MLD-120"], ["2 m", "1.5 mm", "1.0 mm"], ["9 m", "2 mm", "1.3 mm"]], U,
         ["Distance: 2 m | MLD-60: 1.5 mm | MLD-120: 1.0 mm", "Distance: 9 m | MLD-60: 2 mm | MLD-120: 1.3 mm"]),
        ([["Year", "2024", "2025"], ["Sales", "10", "12"], ["Cost", "7", "8"]], U, ["Year: Sales | 2024: 10 | 2025: 12", "Year: Cost | 2024: 7 | 2025: 8"]),
        ([["1", "2", "3"], ["4", "5", "6"]], U, ["1 | 2 | 3", "4 | 5 | 6"]),
        ([["a", "b", "c"], ["d", "e", "f"]], A, ["a | b | c", "d | e | f"]),
        ([["", "Price", "Price"], ["Model", "Japan", "Europe"], ["PT-100", "48,000", "310"]], U,
         ["Model: PT-100 | Price Japan: 48,000 | Price Europe: 310"]),
        ([["Prices 2026", "", ""], ["Model", "Range", "Price"], ["PT", "1 bar", "2"]], U, ["Prices 2026", "Model: PT | Range: 1 bar | Price: 2"]),
        ([["Model", "Range", "Price"], ["Pressure", "Pressure", "Pressure"], ["PT", "1 bar", "2"]], U, ["Pressure", "Model: PT | Range: 1 bar | Price: 2"]),
        ([["alone"], ["below"]], U, ["alone", "below"]),
        ([["a\n b", " c "], ["", ""]], A, ["a b: c"]),
        ([], U, []),
        ([["", ""]], U, []),
    ],
)  # fmt: skip
def test_every_row_carries_the_names_of_its_columns(rows: list[list[str]], header: Header, lines: list[str]) -> None:
    assert table_lines(rows, header=header) == lines
