from __future__ import annotations

import time

import pytest

from tadasu.text.language import detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("圧力伝送器の校正方法を教えてください。", "ja"),
        ("Bluetoothの接続", "ja"),
        ("ｻｰﾊﾞｰ", "ja"),
        ("京都", "ja"),
        ("校正証明書", "ja"),
        ("How do I calibrate it?", "en"),
        ("The word です is a copula in Japanese and is used everywhere.", "en"),
        ("PT-3051S", "en"),
        ("ＡＢＣ", "en"),
        ("你好，我们是中国人。", "und"),
        ("安装说明书", "und"),
        ("2024-03-05", "und"),
        ("", "und"),
        ("Привет, мир", "und"),
        ("한국어 문장입니다", "und"),
        ("สวัสดีครับ", "und"),
        ("नमस्ते", "und"),
    ],
)
def test_scripts_name_the_language(text: str, language: str) -> None:
    assert detect(text) == language


def test_long_ideographic_text_without_kana_is_not_called_japanese() -> None:
    assert detect("本系統由三部分組成。" * 10) == "und"


def test_a_long_text_costs_no_more_than_a_page() -> None:
    text = "圧力伝送器の校正は年に一度行います。" * 200_000
    began = time.perf_counter()
    assert detect(text) == "ja"
    assert time.perf_counter() - began < 0.1
