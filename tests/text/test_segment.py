from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text.cutting import splits_character
from tadasu.text.segment import segment

_HARD = [json.loads(line) for line in (Path(__file__).parent / "hard_sentences.jsonl").read_text("utf-8").splitlines()]
_PIECES = st.sampled_from(
    [
        *'。！？!?．.、,「」『』（）()"“”\n\t |-#`*・①a B1 カあ漢',
        "```\n",
        "\n\n",
        "- ",
        "# ",
        "| a | b |\n",
        "Mr. ",
        "3.14",
        "U.S. ",
        "…",
        "。」",
        "॥",
        "؟",
        "\U0001f44d\U0001f3fd",
        "\u200d",
        "\u0301",
        "が\u3099",
        "\r\n",
        "ไทย",
        "क्ष",
        "https://a.b/c?d ",
    ]
)
_TEXT = st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=80).map("".join))


def units(text: str, **options: int | str) -> list[str]:
    return [text[start:end] for start, end in segment(text, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_hard_sentences_split_where_a_reader_splits_them(language: str) -> None:
    right = missed = wrong = 0
    mistakes = []
    cases = [case["units"] for case in _HARD if case["language"] == language]
    assert len(cases) >= 60
    for wanted in cases:
        text = "".join(wanted)
        borders = {sum(map(len, wanted[:at])) for at in range(1, len(wanted))}
        found = {end for _, end in segment(text)[:-1]}
        right += len(borders & found)
        missed += len(borders - found)
        wrong += len(found - borders)
        if borders != found:
            mistakes.append(units(text))
    assert 2 * right / (2 * right + missed + wrong) >= 0.98, mistakes


@given(_TEXT, st.integers(1, 120))
def test_units_are_the_text_and_none_is_too_long(text: str, limit: int) -> None:
    spans = segment(text, max_length=limit)
    assert "".join(text[start:end] for start, end in spans) == text
    at = 0
    for start, end in spans:
        assert start == at
        assert 0 < end - start <= limit
        at = end


@given(_TEXT)
def test_white_space_belongs_to_the_unit_before_it(text: str) -> None:
    for start, _ in segment(text, max_length=10_000)[1:]:
        assert not text[start].isspace()


@given(
    st.text(
        alphabet="e\u0301か\u3099\U0001f468\u200d\U0001f469\U0001f44d\U0001f3fd\U0001f1ef\U0001f1f5กำक्षि한",
        min_size=1,
        max_size=60,
    )
)
def test_no_character_is_cut_where_there_is_another_way(text: str) -> None:
    for start, _ in segment(text, max_length=30)[1:]:
        if splits_character(text, start):
            # every place in reach goes through a character
            assert all(splits_character(text, at) for at in range(max(1, start - 25), start + 1))


@given(_TEXT)
def test_the_language_that_a_caller_believes_hides_no_border(text: str) -> None:
    assert segment(text, language="en") == segment(text, language="ja") == segment(text)


def test_a45_japanese_splits_at_its_marks() -> None:
    assert units("田中の猫はかわいいですね。日本語上手。") == ["田中の猫はかわいいですね。", "日本語上手。"]
    assert units("本当？すごい！はい。") == ["本当？", "すごい！", "はい。"]


@pytest.mark.parametrize(
    "text",
    [
        "我们的系统由三个部分组成" * 900,
        "圧力伝送器は配管に直接取り付けて使用する機器である" * 420,
        "ระบบนี้ใช้สำหรับวัดความดันในท่อ" * 330,
        "यहप्रणालीदाबमापनेकेलिएहैक्षत्रिय" * 330,
        "ប្រព័ន្ធនេះប្រើសម្រាប់វាស់សម្ពាធ" * 330,
    ],
    ids=["zh", "ja", "th", "hi", "km"],
)
def test_a46_ten_thousand_characters_without_spaces_stay_within_bounds(text: str) -> None:
    text = text[:10_000]
    spans = segment(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert max(end - start for start, end in spans) <= 400
    assert len(spans) <= 80
    assert not any(splits_character(text, start) for start, _ in spans[1:])


def test_a46_other_scripts_split_at_their_own_marks() -> None:
    assert units("यह एक है। वह दो है।") == ["यह एक है। ", "वह दो है।"]
    assert units("هل هذا جيد؟ نعم.") == ["هل هذا جيد؟ ", "نعم."]
    assert units("他说：“你好。”然后走了。再见！") == ["他说：“你好。”", "然后走了。", "再见！"]
    assert units("это дом. Он большой.") == ["это дом. ", "Он большой."]
    assert units("Καλημέρα. Πώς είσαι;") == ["Καλημέρα. ", "Πώς είσαι;"]


def test_a48_full_stops_stay_and_abbreviations_do_not_glue() -> None:
    text = "Mr. J. K. Rowling met Dr. No in the U.S. in 1997. They talked."
    assert units(text) == ["Mr. J. K. Rowling met Dr. No in the U.S. in 1997. ", "They talked."]
    assert units("Only three words") == ["Only three words"]
    assert units("短い文") == ["短い文"]


@pytest.mark.parametrize("language", ["en", "de", "", "zh", "ja", None])
def test_a49_a_wrong_language_still_finds_every_sentence(language: str | None) -> None:
    text = "測定範囲は広い。精度も高い！本当ですか？はい。"
    assert len(segment(text, language=language)) == 4
    text = "The range is wide. The accuracy is high! Really? Yes."
    assert len(segment(text, language=language)) == 4


def test_a_quotation_that_holds_a_whole_passage_is_split() -> None:
    sentence = "装置の電源を切ってから、ケーブルを外してください。"
    text = f"「{sentence * 12}」"
    assert len(segment(text)) >= 10
    assert len(segment("「" + sentence * 3)) == 3, "a quotation that never closes holds nothing together"


def test_text_in_two_languages_splits_by_the_script_at_hand() -> None:
    text = "本製品はIP67です。See sec. 4.2 for details. 詳細はU.S.版を参照。OK?"
    assert units(text) == ["本製品はIP67です。", "See sec. 4.2 for details. ", "詳細はU.S.版を参照。", "OK?"]


def test_structure_makes_units_in_english() -> None:
    text = "# Title\n\nSome text. More text.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1. \nY = 2\n```\n"
    assert units(text) == [
        "# Title\n\n", "Some text. ", "More text.\n\n", "- one\n", "- two\n\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n\n",
        "```\nx = 1. \nY = 2\n```\n",
    ]  # fmt: skip


def test_structure_makes_units_in_japanese() -> None:
    text = "# 概要\n\n説明。続き。\n\n・一つ目\n・二つ目\n\n| 型番 | 範囲 |\n|---|---|\n| A-1 | 0〜5 |\n\n（1）準備\n（2）開始\n"
    assert units(text) == [
        "# 概要\n\n", "説明。", "続き。\n\n", "・一つ目\n", "・二つ目\n\n", "| 型番 | 範囲 |\n|---|---|\n", "| A-1 | 0〜5 |\n\n",
        "（1）準備\n", "（2）開始\n",
    ]  # fmt: skip


def test_long_code_is_cut_at_its_lines() -> None:
    text = "```\n" + "".join(f"line_{at} = compute(value, {at})\n" for at in range(60)) + "```\n"
    spans = segment(text, max_length=200)
    assert len(spans) > 5
    assert all(text[end - 1] == "\n" for _, end in spans)


def test_long_prose_is_cut_at_its_clauses() -> None:
    text = "圧力が上昇し、" * 40 + "停止する。"
    assert all(text[start:end].endswith(("、", "。")) for start, end in segment(text, max_length=100))
    text = "the pressure rises, " * 30 + "and it stops."
    assert all(text[start:end].endswith((", ", ".")) for start, end in segment(text, max_length=100))


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError):
        segment("text", max_length=0)


# Kinds that the hard paragraphs taught; sentences are separated by ¦ here.
_KINDS = [
    ("a picture after the mark belongs to the sentence before", "It is out! 🎉 ¦Thanks to all."),
    ("a picture after the mark belongs to the sentence before", "公開しました！🎉¦ご意見をお待ちしています。"),
    ("a picture in the place of the mark", "届きました😊¦ありがとうございます♪"),
    ("a picture within a sentence", "雨☔でも開催します。"),
    ("a footnote's mark belongs to the sentence before", "The figure is disputed.¹ ¦Some give 400."),
    ("a footnote's mark belongs to the sentence before", "諸説がある。※1¦もっとも古い記録は1602年である。"),
    ("what begins in lower case and is no ordinary word", "It needs Linux. ¦npm must be installed. ¦data.csv is read."),
    ("a decimal without its zero", "The limit is .5 mm. ¦.3 mm is better."),
    ("a remark in brackets with a mark of its own", "The valve (is it new?) failed twice. ¦It was replaced."),
    ("a quotation in the other language", "The sign said 「立入禁止。」 in red. ¦Nobody could read it."),
    ("a company's abbreviation before a clause", "It is owed to Quill Inc. ¦Rent is due on the first."),
    ("a company's abbreviation before its verb", "Quill Inc. sold the house."),
    ("the parties of a case", "In Doe v. Harbour Board the court fined the city."),
    ("a numeral that looks like one", "He wrote to King Philip V. ¦The duke married."),
    ("a heading's label and number", "Table 2. Results by group"),
    ("an article's label and number", "第3条. 会員は、会費を納めるものとする。"),
    ("a span of hours", "Open 9 a.m. – 5 p.m. on all days."),
    ("a Japanese line that was wrapped within a word", "理事会は四月に開か\nれ、会長を選\nんだ。¦任期は二年である。"),
    ("a Japanese line that was wrapped after a particle", "本会は\n地域の防災を\n支える団体である。"),
    ("polite lines without marks", "先日はご来社いただき誠にありがとうございました\n¦資料をお送りします。"),
    ("lines of a terminal", "Run:\n\n    ¦$ make check\n    $ make report\n"),
]


@pytest.mark.parametrize(("kind", "text"), _KINDS)
def test_kinds_of_borders(kind: str, text: str) -> None:
    plain = text.replace("¦", "")
    assert [plain[start:end] for start, end in segment(plain)] == text.split("¦"), kind
