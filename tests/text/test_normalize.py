from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadasu.text.normalize import fold, fold_with_offsets

_TRICKY = st.text(
    alphabet="かカﾊｶサーﾞ゙゛゜ﾞﾟ−‐—ｰ \t\n\u200b\u202e\u0301\u1161\u11a8\u1100가ㅏ=\u0338¨½ﬁ㍿⽣⻑葛\U000e0100😀👍🏽\r",
    max_size=24,
)
_ANY = st.one_of(_TRICKY, st.text(max_size=40))


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("ﾊﾟｿｺﾝ", "パソコン"),
        ("か゛", "が"),
        ("か\u3099", "が"),
        ("ＰＴ－３０５１", "PT-3051"),
        ("⽣産", "生産"),
        ("⻑い⺠族", "長い民族"),
        ("神⼾", "神戸"),
        ("⿊⽥", "黒田"),
        ("サ−バ−の設定", "サーバーの設定"),
        ("10〜20", "10~20"),
        ("10～20", "10~20"),
        ("１\u3000２", "1 2"),
        ("a\u00a0\n\n b", "a b"),
        ("ze\u200bro\u202e", "zero"),
        ("ﬁle", "file"),
        ("“x” ‘y’", "\"x\" 'y'"),
        ("2½", "2 1/2"),
        ("㈱青葉", "(株)青葉"),
        ("髙橋", "高橋"),
        ("葛\U000e0100城", "葛城"),
        ("1−2", "1-2"),
        ("plain text", "plain text"),
        ("", ""),
    ],
)
def test_spellings_of_the_same_text_fold_alike(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_case_is_kept() -> None:
    assert fold("MPa と Ａｂ") == "MPa と Ab"


def test_a_hyphen_between_words_stays_a_hyphen() -> None:
    assert fold("カタログ－2024") == "カタログ-2024"
    assert fold("A‐B") == "A-B"


@given(_ANY)
@example("\u200b a")
@example("ー゛ﾞ゜ᄀㅠ−")
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(_ANY)
def test_both_ways_of_folding_agree(text: str) -> None:
    assert fold_with_offsets(text).text == fold(text)


@given(_ANY)
def test_offsets_partition_the_source(text: str) -> None:
    folded = fold_with_offsets(text)
    assert folded.to_source(0, len(folded.text)) == (0, len(text))
    last = 0
    for at in range(len(folded.text)):
        start, end = folded.to_source(at, at + 1)
        assert 0 <= start < end <= len(text)
        assert start >= last
        last = start
        whole_start, whole_end = folded.to_source(0, at + 1)
        assert whole_start == 0
        assert whole_end >= end


@given(_ANY, st.data())
def test_a_span_maps_to_source_that_holds_it(text: str, data: st.DataObject) -> None:
    text = text.translate(dict.fromkeys(map(ord, "−‐‑–－")))  # read as a long vowel by what stands before
    folded = fold_with_offsets(text)
    start = data.draw(st.integers(0, len(folded.text)))
    end = data.draw(st.integers(start, len(folded.text)))
    low, high = folded.to_source(start, end)
    assert low <= high
    if start < end:
        assert folded.text[start:end].strip() in fold(text[low:high])
        back = folded.from_source(low, high)
        assert back[0] <= start
        assert back[1] >= end


def test_spans_outside_the_text_are_refused() -> None:
    with pytest.raises(ValueError):
        fold_with_offsets("abc").to_source(2, 9)


def test_ligatures_and_voiced_marks_map_to_what_was_written() -> None:
    text = "㍿ｻｰﾊﾞの⽣産"
    folded = fold_with_offsets(text)
    assert folded.text == "株式会社サーバの生産"
    at = folded.text.index("バ")
    assert text[slice(*folded.to_source(at, at + 1))] == "ﾊﾞ"
    assert text[slice(*folded.to_source(0, 4))] == "㍿"
    at = folded.text.index("生")
    assert text[slice(*folded.to_source(at, at + 2))] == "⽣産"


def test_no_character_melts_into_one_of_another_cluster() -> None:
    letters = ["a", "か", "ハ", "\u1100", "가", "=", "e", "क"]
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.is_normalized("NFKD", character) and not unicodedata.combining(character):
            continue
        for letter in letters[:: 1 if code < 0x3200 else 4]:
            text = letter + character
            assert fold_with_offsets(text).text == fold(text), hex(code)
