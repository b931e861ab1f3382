"""Text in the encodings of English and Japanese offices; never garbage without a word."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.answering.ingestion.decode import decode
from tadasu.errors import EncodingUnknown

JAPANESE = (
    "製品仕様書：圧力伝送器ＫＰＴ－３４０は、０〜１０ barの範囲で使用できます。サーバーの設定は「管理者」だけが変更できます。"
    "引っ越しの手続きは、総務部へお問い合わせください。"
)
SHORT_JAPANESE = ("保証期間は2年です。", "型番 PT-100", "東京都千代田区", "テスト", "株式会社", "価格：48,000円")
ENGLISH = "The café’s “special” costs €5 – naïve, isn’t it? Größe 10 µm ± 0.5 °C, Ampère."


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"])
def test_japanese_is_read_in_its_usual_encodings(encoding: str) -> None:
    text = JAPANESE.replace("－", "ー").replace("〜", "から")
    decoded = decode(text.encode(encoding), source="a.txt")
    assert (decoded.text, decoded.replaced) == (text, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp", "iso2022_jp"])
@pytest.mark.parametrize("text", SHORT_JAPANESE)
def test_a_few_words_of_japanese_are_enough(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), source="a.txt").text == text


def test_english_is_read_as_utf8_and_as_windows_1252() -> None:
    assert decode(ENGLISH.encode(), source="a.txt").encoding == "utf-8"
    old = decode(ENGLISH.encode("cp1252"), source="a.txt")
    assert (old.text, old.encoding) == (ENGLISH, "cp1252")


@pytest.mark.parametrize(
    "text", ["It is 19.2°E from here.", "from 1857–", "Contrecœur", "the UK’s own", "1.1 × 10", "naïve"]
)
def test_one_letter_beyond_ascii_is_enough_for_windows_1252(text: str) -> None:
    assert decode(text.encode("cp1252"), source="a.txt").text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
@pytest.mark.parametrize("text", [JAPANESE, ENGLISH])
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(mark: bytes, encoding: str, text: str) -> None:
    assert decode(mark + text.encode(encoding), source="a.txt").text == text


@pytest.mark.parametrize("text", ["Plain English without any mark, long enough to tell.\n" * 3, JAPANESE])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), source="a.txt").text == text


def test_a_file_cut_in_the_middle_of_a_character_is_read_and_the_loss_is_counted() -> None:
    data = (JAPANESE * 3).encode()[:-1]
    decoded = decode(data, source="a.txt")
    assert decoded.replaced == 1
    assert decoded.text.startswith(JAPANESE)


@pytest.mark.parametrize(
    "data",
    [
        ("Привет, мир! Это обычный русский текст. " * 5).encode("koi8-r"),
        ("Καλημέρα κόσμε, αυτό είναι ένα κείμενο. " * 5).encode("iso8859-7"),
        JAPANESE.encode("cp932", "replace").decode("latin-1").encode("utf-8"),
        "文字化け".encode() + b"\xff\xfe\xfd" * 40,
        bytes(range(128, 256)) * 10,
        b"\x00\x01\x02\x03" * 50,
        b"\xff\xfe\xfd",
        b"\xef\xbb\xbf\x80",
        ("garbled " + "\ufffd" * 20).encode(),
    ],
)
def test_what_no_one_wrote_is_an_error(data: bytes) -> None:
    with pytest.raises(EncodingUnknown):
        decode(data, source="a.txt")


def test_a_declared_charset_is_believed_only_if_it_fits() -> None:
    data = JAPANESE.replace("－", "ー").replace("〜", "から").encode("euc_jp")
    assert decode(data, source="a", declared="x-euc-jp").encoding == "euc_jp"
    assert decode(data, source="a", declared="utf-8").encoding == "euc_jp"
    assert decode(data, source="a", declared="no-such-charset").encoding == "euc_jp"
    assert decode(JAPANESE.encode(), source="a", declared="Shift_JIS").text == JAPANESE


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Co", "Cn")), min_size=1).filter(
        lambda t: t.count("\ufffd") < 2
    )
)
def test_any_text_in_utf8_comes_back_as_it_was(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode(text.encode(), source="a.txt").text == text
