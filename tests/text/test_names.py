from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.names import proper_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The PT-3051S is made by Aoba Instruments in Kyoto.", ["PT-3051S", "Aoba Instruments", "Kyoto"]),
        ("Barack Obama was born in Honolulu. He led the U.S.", ["Barack Obama", "Honolulu", "U.S."]),
        ("NASA and the WHO met at the University of Tokyo.", ["NASA", "WHO", "University of Tokyo"]),
        ("Release v2.4.1 follows ISO 9001:2015.", ["v2.4.1", "ISO 9001:2015"]),
        ("Contact Aoba. Restart the device.", ["Aoba"]),
        ('Press the "zero trim" key.', ["zero trim"]),
        ("iPhone and McDonald", ["iPhone", "McDonald"]),
        ("青葉計器株式会社の本社は京都市にある。", ["青葉計器株式会社", "京都市"]),
        ("東京大学の田中教授がカリフォルニアで話した。", ["東京大学", "田中", "カリフォルニア"]),
        ("ｽﾃｨｰﾌﾞ・ｼﾞｮﾌﾞｽﾞと「校正証明書」", ["スティーブ・ジョブズ", "校正証明書"]),
        ("型番はＰＴ－３０５１Ｓです", ["PT-3051S"]),
        ("ハリウッドのスピルバーグ監督", ["ハリウッド", "スピルバーグ"]),
        ("型式Beyoncéと通称Jeroenなど", ["Beyoncé", "Jeroen"]),
        ("電話は03-1234-5678です。", ["03-1234-5678"]),
    ],
)
def test_names_codes_and_quotations_are_found(text: str, names: list[str]) -> None:
    assert proper_names(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Calibrate it once a year. Use a clean cloth.",
        "Sensors are good.",
        "校正は年に一回です。",
        "センサーのデータをシステムに送る。",
        "直線と火山",
        "データセンターのメリットとトラブル",
        "新工場",
        "",
        "42",
    ],
)
def test_ordinary_words_are_not_names(text: str) -> None:
    assert proper_names(text) == []


def test_a_word_at_the_start_of_a_sentence_counts_when_it_stands_within_another() -> None:
    assert proper_names("Tadasu answers. It is said that Tadasu abstains.") == ["Tadasu"]


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    found = proper_names(text)
    assert all(found)
    assert len(found) == len(set(found))
