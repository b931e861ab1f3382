"""A39: Japanese pages in every usual encoding, declared rightly, wrongly or not at all: the right text or none."""

from __future__ import annotations

import pytest

from tadasu.answering.ingestion.parsers.html import html_document
from tadasu.providers.fetching.charset import decode_page
from tadasu.providers.fetching.refusals import Refused, Why
from tests.providers.fetching.fetching import fetch, reasons, settings
from tests.providers.fetching.server import HostileServer, reply

TEXTS = {
    "news": "港湾局は火曜日、第二岸壁の補修工事を6月から始めると発表した。費用は約3億円で、工期は14か月の見込み。",
    "katakana": "フェリーターミナルのエスカレーターは、メンテナンスのため月曜日まで停止しています。",
    "hiragana": "このみずうみでは、なつになるとたくさんのひとがおよいでいます。",
    "law": "第三条　組合員は、総会の議決を経て、出資一口の金額を変更することができる。ただし、次の各号に掲げる場合を除く。",
    "table": "料金：大人１，２００円／小人６００円〔税込〕　営業時間：９時〜１７時（月曜定休）　電話：０３‐１２３４‐５６７８です。",
}
ENCODINGS = {
    "utf-8": "utf-8",
    "cp932": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "iso2022_jp": "ISO-2022-JP",
    "gb18030": "GBK",
    "utf-16-le": "UTF-16",
}
WRONG = (
    "utf-8",
    "shift_jis",
    "euc-jp",
    "gbk",
    "iso-2022-jp",
    "iso-8859-1",
    "windows-1251",
    "big5",
    "euc-kr",
    "klingon",
)


def page(text: str, meta: str = "") -> str:
    declared = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    return f"<!DOCTYPE html><html><head>{declared}<title>x</title></head><body><main><p>{text}</p></main></body></html>"


def encoded(text: str, encoding: str) -> bytes:
    """As much of `text` as the encoding has: a wave dash is not everywhere."""
    return text.encode(encoding, "ignore")


def text_or_refusal(data: bytes, header: str = "") -> str | Why:
    try:
        return decode_page(data, header=header).text
    except Refused as refused:
        return refused.why


@pytest.mark.parametrize("how", ["header", "meta", "nowhere", "both", *(f"header says {name}" for name in WRONG)])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a39_a_page_is_read_as_it_was_written_or_refused(text: str, encoding: str, how: str) -> None:
    label = ENCODINGS[encoding]
    data = encoded(page(text, label if how in {"meta", "both"} else ""), encoding)
    written = data.decode(encoding)
    header = label if how in {"header", "both"} else ""
    if how.startswith("header says "):
        header = how.removeprefix("header says ")
    read = text_or_refusal(data, header)
    refusal_allowed = how not in {"header", "meta", "both"}
    assert read == written or (read is Why.CHARSET and refusal_allowed)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a39_a_meta_that_lies_is_not_believed(encoding: str, wrong: str) -> None:
    data = encoded(page(TEXTS["news"], wrong), encoding)
    assert text_or_refusal(data) in {data.decode(encoding), Why.CHARSET}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_byte_order_mark_beats_what_is_declared(encoding: str) -> None:
    text = page(TEXTS["law"], "shift_jis")
    assert decode_page("\ufeff".encode(encoding) + text.encode(encoding), header="euc-jp").text == text


@pytest.mark.parametrize(
    ("text", "encoding", "label"),
    [
        ("The café in the rue Saint-Honoré – “très chic” – costs €12.", "cp1252", "iso-8859-1"),
        ("The café in the rue Saint-Honoré – “très chic” – costs €12.", "cp1252", ""),
        ("Straße nach Köln: 30 km, täglich geöffnet außer montags.", "iso8859-15", "iso-8859-15"),
        ("北京大学创办于一八九八年，初名京师大学堂，是中国近代第一所国立大学。", "gb18030", "gb2312"),
        ("北京大学创办于一八九八年，初名京师大学堂，是中国近代第一所国立大学。", "gb18030", ""),
        ("臺灣的氣候因為北回歸線經過而有熱帶與亞熱帶之分，這是一個重要的問題。", "big5", "big5"),
        ("이 도서관은 평일 아침 아홉 시부터 저녁 여섯 시까지 열려 있습니다.", "cp949", "euc-kr"),
        ("Порт открыт по будням с девяти до семнадцати часов, вход свободный.", "cp1251", "windows-1251"),
        ("Plain text in English, and nothing else.", "ascii", ""),
    ],
)
def test_other_languages_are_read_too(text: str, encoding: str, label: str) -> None:
    assert decode_page(page(text).encode(encoding), header=label).text == page(text)


@pytest.mark.parametrize(
    "text",
    [
        TEXTS["news"].encode().decode("cp932", "replace"),
        TEXTS["news"].encode().decode("cp1252", "replace"),
        TEXTS["news"].encode("cp932").decode("utf-8", "replace"),
        "\ufffd" * 40 + "text",
        "\ue000\ue001" * 50,
        "abc\x00\x01\x02" * 50,
    ],
    ids=["as Shift_JIS", "as Windows-1252", "replaced", "replacement characters", "private use", "controls"],
)
def test_a39_garbage_that_was_made_before_is_no_page(text: str) -> None:
    with pytest.raises(Refused) as refused:
        decode_page(page(text).encode())
    assert refused.value.why is Why.CHARSET


@pytest.mark.enable_socket
@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a39_what_reaches_the_parser_is_the_text_whatever_the_page_says_of_itself(encoding: str) -> None:
    text = TEXTS["news"]
    sent = {
        "/header": reply(page(text).encode(encoding), kind=f"text/html; charset={ENCODINGS[encoding]}"),
        "/meta": reply(page(text, ENCODINGS[encoding]).encode(encoding), kind="text/html"),
        "/nowhere": reply(page(text).encode(encoding), kind="text/html"),
        "/wrong": reply(page(text, "iso-8859-1").encode(encoding), kind='text/html; charset="big5"'),
    }
    async with HostileServer(sent) as server:
        found, _ = await fetch([server.url(path) for path in sent], settings(server))
    assert set(reasons(found)) <= {"charset"}
    assert len(found.pages) >= 3
    for one in found.pages:
        assert one.body is not None
        assert html_document(one.body, source=one.url).text == text
