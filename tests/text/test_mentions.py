from __future__ import annotations

import pytest

from tadasu.text.mentions import names_cell


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("Is 1 May 2026 a holiday?", "2026-05-01"),
        ("2026年5月1日は休みですか", "2026-05-01"),
        ("Which weight may a Parcel M have?", "parcel m"),
        ("神戸倉庫の床面積は？", "神戸倉庫"),
    ],
)
def test_a_cell_is_named_by_its_words_or_its_date_in_any_notation(question: str, cell: str) -> None:
    assert names_cell(question, cell)


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("Is 1 May 2026 a holiday?", "2026-05-02"),
        ("What does Parcel M cost?", "Parcel S"),
        ("札幌倉庫の床面積は？", "川崎倉庫"),
        ("What costs 450 euros?", "450"),
        ("What is new?", ""),
    ],
)
def test_other_cells_and_bare_figures_name_nothing(question: str, cell: str) -> None:
    assert not names_cell(question, cell)
