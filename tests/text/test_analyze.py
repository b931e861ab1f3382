from __future__ import annotations

import importlib.metadata
import sqlite3
import statistics
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadasu.text import japanese
from tadasu.text.analyze import analyzer_id, content_terms, tokens

_ANY = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="東京都引越しサーバーのはａＢ1.,-'\"/ \n。PT3051Sé#+ｶﾞไทยक्", max_size=60),
)


@pytest.fixture
def without_sudachi(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine where SudachiPy was never installed."""
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    japanese._load.cache_clear()
    monkeypatch.setattr(japanese, "_local", threading.local())
    yield
    japanese._load.cache_clear()


def finds(question: str, document: str) -> bool:
    return set(tokens(question)) <= set(tokens(document))


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("引越し", "引っ越しの費用"),
        ("引っ越し", "引越しの費用"),
        ("サーバ", "サーバーを再起動する"),
        ("サーバー", "ｻｰﾊﾞを再起動する"),
        ("生産", "⽣産を始める"),
        ("コンピュータ", "コンピューターの設定"),
        ("見積り", "見積もりを送る"),
        ("食べた", "食べられなかった"),
        ("Bluetooth接続", "bluetoothで接続する"),
        ("bluetooth", "Bluetooth接続の方法"),
        ("ＰＴ－３０５１", "The PT-3051 transmitter"),
        ("PT-3051", "型番はPT-3051Sです"),
        ("pt3051s", "PT-3051S"),
        ("ISO17025", "ISO17025の認定"),
        ("ISO 17025", "ISO/IEC 17025:2017に準拠"),
        ("３．５ＭＰａ", "最大3.5MPaまで"),
        ("3.5 MPa", "最大3.5MPaまで"),
        ("v2.4", "Release v2.4.1"),
        ("2.4.1", "Release v2.4.1"),
        ("1,234", "1234個"),
        ("１億２，３００万円", "123,000,000円"),
        ("calibrating transmitters", "How to calibrate a transmitter"),
        ("the café", "a cafe"),
        ("don't", "do not... don't"),
        ("user's manual", "Users manual"),
        ("C++", "written in C++"),
        ("4-20 mA", "出力は4〜20 mA"),
        ("3.5 μm", "粒径は3.5μmです"),
        ("ケラチン", "硬いβケラチンで覆われる"),
        ("β", "硬いβケラチンで覆われる"),
    ],
)
def test_a_question_finds_what_it_means(question: str, document: str) -> None:
    assert finds(question, document)


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("京都", "東京都の人口"),
        ("35", "3.5MPa"),
        ("C++", "C#"),
        ("3.5", "35"),
        ("PT-3052", "PT-3051S"),
        ("v2.4.1", "v2.4.2"),
    ],
)
def test_a_question_does_not_hit_what_only_looks_alike(question: str, document: str) -> None:
    assert not finds(question, document)


def test_particles_marks_and_stop_words_are_left_out() -> None:
    assert tokens("圧力の校正は、年に一回です。") == ["圧力", "校正", "年", "1", "回"]
    assert tokens("What is the range of the sensor?") == ["rang", "sensor"]


def test_codes_come_whole_and_in_parts() -> None:
    assert tokens("PT-3051S") == ["pt3051s", "pt3051", "pt", "3051"]
    assert tokens("ＰＴ－３０５１Ｓの圧力") == ["pt3051s", "pt3051", "pt", "3051", "圧力"]
    assert tokens("3.5MPa") == ["3d5mpa", "3d5", "mpa"]


@pytest.mark.parametrize("text", ["the", "What is this?", "ですか", "は", "これは", "I am"])
def test_a_text_with_words_is_never_empty(text: str) -> None:
    assert tokens(text)


@pytest.mark.parametrize("text", ["", " ", "？！", "---", "、。", "😀"])
def test_a_text_without_words_gives_nothing(text: str) -> None:
    assert tokens(text) == []


@given(_ANY)
def test_terms_are_what_full_text_search_keeps(text: str) -> None:
    found = tokens(text)
    assert all(term and term.isalnum() for term in found)
    if found:
        with sqlite3.connect(":memory:") as database:
            database.execute("create virtual table t using fts5(terms, tokenize = 'unicode61 remove_diacritics 0')")
            database.execute("insert into t values (?)", (" ".join(found),))
            for term in set(found[:6]):
                assert database.execute("select count(*) from t where t match ?", (f'"{term}"',)).fetchone()[0] == 1
        database.close()


@given(_ANY, st.sampled_from(["ja", "en", "und", None]))
def test_the_language_that_a_caller_believes_changes_nothing(text: str, language: str | None) -> None:
    assert tokens(text, language=language) == tokens(text)


@given(_ANY)
def test_a_text_finds_itself_however_it_is_spelled(text: str) -> None:
    text = text.replace("-", "")  # a wide hyphen after katakana is a long vowel
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert tokens(wide) == tokens(text)


def test_questions_are_compared_by_what_they_are_about() -> None:
    assert content_terms("圧力伝送器の校正は誰がいつ行いますか？") == ["圧力", "伝送", "器", "校正", "行う"]
    assert content_terms("Who calibrates the transmitter, and when?") == ["calibr", "transmitt"]
    assert content_terms("なに？") == tokens("なに？")


def test_a_text_beyond_the_limit_of_sudachi_is_read_in_pieces() -> None:
    text = "圧力伝送器を設置する。" * 6000
    assert tokens(text) == tokens("圧力伝送器を設置する。") * 6000
    assert len(tokens("漢" * 50_000)) > 100


def test_threads_do_not_share_a_tokenizer() -> None:
    text = "引越しの際はサーバを停止し、装置の電源を切ってください。" * 20
    wanted = tokens(text)
    results: list[list[str]] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                results.append(tokens(text))
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(results) == 120
    assert all(result == wanted for result in results)


def test_the_analyser_names_itself_and_its_dictionary() -> None:
    name = analyzer_id()
    assert importlib.metadata.version("sudachidict-core") in name
    assert name.startswith("sudachi-")


@pytest.mark.usefixtures("without_sudachi")
def test_without_sudachi_japanese_is_bigrams() -> None:
    assert analyzer_id().startswith("bigram")
    assert tokens("東京都の人口") == ["東京", "京都", "都の", "の人", "人口"]
    assert finds("京都", "東京都"), "the price of bigrams: said in the module"
    assert finds("ｻｰﾊﾞ", "サーバーの設定")
    assert tokens("PT-3051Sの圧力3.5MPa") == ["pt3051s", "pt3051", "pt", "3051", "の圧", "圧力", "3d5mpa", "3d5", "mpa"]
    assert tokens("は") == ["は"]


def test_ingestion_and_questions_are_fast() -> None:
    passage = "圧力伝送器PT-3051Sは、配管内の圧力を4〜20mAの信号に変換します。校正は年に一回行ってください。" * 4
    tokens(passage)
    began = time.perf_counter()
    for at in range(50):
        tokens(f"{at}{passage}")
    assert (time.perf_counter() - began) / 50 < 1 / 150
    times = []
    for _ in range(200):
        began = time.perf_counter()
        tokens("圧力伝送器の校正はいつ行いますか？")
        times.append(time.perf_counter() - began)
    assert statistics.median(times) < 0.001
