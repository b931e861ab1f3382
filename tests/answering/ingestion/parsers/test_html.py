"""Pages: main text, headings, lists, tables with merged cells, dates, encodings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tadasu.answering.ingestion.parsers.html import WEB_SHARE, html_document
from tadasu.core.documents import BlockKind
from tadasu.errors import DocumentEmpty

PAGE = """<!DOCTYPE html><html lang="{lang}"><head>{meta}<title>{title} | Site</title>
<meta name="date" content="2026-02-02"></head><body>
<nav><a href="/">Home</a> <a href="/x">Products</a></nav>
<main><h1>{title}</h1><p>{first}</p><h2>{second}</h2>
<table><tr><th rowspan="2">Model</th><th colspan="2">Price</th></tr><tr><th>Japan</th><th>Europe</th></tr>
<tr><td>PT-100</td><td>48,000</td><td>310</td></tr><tr><td>PT-200</td><td colspan="2">on request</td></tr></table>
<ul><li>One<ul><li>Inner</li></ul></li><li>Two</li></ul><ol><li>First</li><li>Then</li></ol>
<dl><dt>Term</dt><dd>Meaning</dd></dl><pre>a = 1
b = 2</pre><p hidden>Never shown</p></main>
<aside>Advertisement for something</aside><footer>Copyright</footer><script>var x = "code";</script></body></html>"""
ENGLISH = {
    "lang": "en",
    "title": "LDM-120 data sheet",
    "first": "It measures distances outdoors, up to 120 m.",
    "second": "Prices",
}
JAPANESE = {
    "lang": "ja",
    "title": "LDM-60 製品仕様書",
    "first": "小型の\nレーザー距離計です。片手で持てる大きさで、手袋をしたまま操作できる四つの大きなボタンを備えています。内装工事と設備工事の現場でお使いください。",
    "second": "価格",
}


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE])
def test_a_page_gives_its_main_text_in_order(words: dict[str, str]) -> None:
    item = html_document(PAGE.format(meta="", **words).encode(), source="a.html")
    texts = [(block.kind, block.level, block.span.of(item.text)) for block in item.blocks]
    assert texts == [
        (BlockKind.HEADING, 1, words["title"]),
        (BlockKind.PARAGRAPH, 0, words["first"].replace("\n", "")),
        (BlockKind.HEADING, 2, words["second"]),
        (BlockKind.TABLE, 0, "Model: PT-100 | Price Japan: 48,000 | Price Europe: 310\nModel: PT-200 | Price Japan: on request | Price Europe: on request"),
        (BlockKind.LIST, 0, "- One\n  - Inner\n- Two\n1. First\n2. Then\n- Term: Meaning"),
        (BlockKind.CODE, 0, "a = 1\nb = 2"),
    ]  # fmt: skip
    assert (item.title, item.date, item.language) == (words["title"], "2026-02-02", words["lang"])


@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "euc-jp"])
@pytest.mark.parametrize("said", ["header", "meta", "nowhere"])
def test_a39_a_japanese_page_is_read_wherever_its_charset_is_said(encoding: str, said: str) -> None:
    meta = f'<meta charset="{encoding}">' if said == "meta" else ""
    data = PAGE.format(meta=meta, **JAPANESE).encode(encoding)
    item = html_document(data, source="https://example.com/a", charset=encoding if said == "header" else "")
    assert "レーザー距離計です" in item.text
    assert item.title == "LDM-60 製品仕様書"


@pytest.mark.parametrize(
    ("head", "body", "date"),
    [
        ('<meta property="article:published_time" content="2025-03-04T10:00:00Z">', "", "2025-03-04"),
        (
            '<script type="application/ld+json">{"@type": "Article", "dateModified": "2025-05-06"}</script>',
            "",
            "2025-05-06",
        ),
        ("", '<time datetime="2025-07-08">yesterday</time>', "2025-07-08"),
        ("", "<p>最終更新日：2025年9月10日</p>", "2025-09-10"),
        ("", "<p>In 2020-01-01 something happened.</p>", ""),
    ],
)
def test_the_date_of_a_page(head: str, body: str, date: str) -> None:
    page = f"<html><head>{head}</head><body><p>Some words of text.</p>{body}</body></html>"
    assert html_document(page.encode(), source="a").date == date


@pytest.mark.parametrize(
    "page",
    ["<p>Just a line", "<b>bold</b> words", "<table><tr><td>a<td>b</table>", "plain words", "<div>" * 1000 + "deep"],
)
def test_odd_pages_give_what_they_say(page: str) -> None:
    assert html_document(page.encode(), source="a.html").text


@pytest.mark.parametrize("page", ["<html></html>", "<!-- only a comment -->", "<script>x()</script>", " "])
def test_a_page_without_words_is_empty(page: str) -> None:
    with pytest.raises(DocumentEmpty):
        html_document(page.encode(), source="a.html")


def test_an_xml_declaration_with_another_encoding_does_no_harm() -> None:
    data = '<?xml version="1.0" encoding="Shift_JIS"?><html><body><p>温度計です。</p></body></html>'.encode("cp932")
    assert html_document(data, source="a.xhtml").text == "温度計です。"


def test_comments_of_a_web_page_are_left_out_and_of_a_file_kept() -> None:
    words = "Old units were measured with great care in this country, and every town kept its own. " * 6
    page = (
        (
            f"<html><body><div>Old measures All posts RSS</div><article><h1>Units</h1><p>{words}</p><p>{words}</p></article>"
            "<div class='comments'><h3>2 comments</h3><p>fan: Thanks, useful.</p></div></body></html>"
        )
        .replace("<article>", "<div class='post'>")
        .replace("</article>", "</div>")
    )
    assert "Thanks" in html_document(page.encode(), source="a.html", kept_share=1.0).text
    assert "Thanks" not in html_document(page.encode(), source="a.html", kept_share=WEB_SHARE).text


def test_the_web_reader_loads_trafilatura_only_for_a_page() -> None:
    program = (
        "import sys, tadasu.answering.outside\n"
        "from tadasu.answering.ingestion.parsers.html import html_document\n"
        "before = 'trafilatura' in sys.modules\n"
        "html_document(b'<p>Repairs take ten days.</p>', source='a.html')\n"
        "print(before, 'trafilatura' in sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["False", "True"]


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("The harbour is eleven metres deep.", "It was dredged in 1987."),
        ("港の深さは11メートルです。", "1987年に浚渫されました。"),
    ],
)
def test_a_page_that_omits_the_tags_of_its_head_and_body_is_read_whole(text: str, more: str) -> None:
    page = f"<!doctype html><meta charset=utf-8><title>T</title><main><p>{text}</p></main><p>{more}"
    found = html_document(page.encode(), source="x")
    assert (found.title, found.text) == ("T", f"{text}\n\n{more}")
