from __future__ import annotations

import pytest

from tadasu.answering.ingestion.parsers.html import WEB_SHARE, html_document

HIDDEN = [
    '<p style="display: none">GHOST</p>',
    '<p style="visibility:hidden !important">GHOST</p>',
    '<p style="opacity: 0">GHOST</p>',
    '<p style="opacity:0.0;">GHOST</p>',
    '<p style="font-size:0">GHOST</p>',
    '<p style="font-size: 1px">GHOST</p>',
    '<p style="color:#fff">GHOST</p>',
    '<p style="color: white; background: #ffffff">GHOST</p>',
    '<p style="color:rgb(0,0,0);background-color:black">GHOST</p>',
    '<p style="color:transparent">GHOST</p>',
    '<p style="position:absolute; left:-9999px">GHOST</p>',
    '<p style="text-indent:-5000px">GHOST</p>',
    '<p style="height:0;overflow:hidden">GHOST</p>',
    '<p style="clip:rect(0,0,0,0);position:absolute">GHOST</p>',
    '<p style="transform:scale(0)">GHOST</p>',
    "<p hidden>GHOST</p>",
    '<p aria-hidden="true">GHOST</p>',
    "<style>.n{display:none}</style><p class='m n'>GHOST</p>",
    "<style>/* x */ #g, .q { visibility : hidden }</style><p id='g'>GHOST</p>",
    "<style>q{font-size:0}</style><q>GHOST</q>",
    "<!-- GHOST -->",
    "<noscript>GHOST</noscript>",
    "<template>GHOST</template>",
    '<img alt="GHOST" src="a.png">',
    '<span title="GHOST">x</span>',
    '<script type="application/ld+json">{"description": "GHOST"}</script>',
    '<input type="hidden" value="GHOST">',
]
SHOWN = [
    '<p style="color:#ffffff;background:#003366">PLAIN</p>',
    '<p style="opacity:0.8">PLAIN</p>',
    '<p style="font-size:0.9em">PLAIN</p>',
    '<p style="font-size:10px">PLAIN</p>',
    '<p style="margin-left:-10px">PLAIN</p>',
    '<p style="height:200px;overflow:hidden">PLAIN</p>',
    '<p style="color:#333">PLAIN</p>',
    "<style>.n:hover{display:none}</style><p class='n'>PLAIN</p>",
    "<style>body{visibility:hidden}</style><p>PLAIN</p>",
    "<details><summary>More</summary><p>PLAIN</p></details>",
]


def text(fragment: str, *, as_seen: bool = True) -> str:
    page = f"<html><body><article><h1>Bridge</h1><p>The bridge is 9 m high.</p>{fragment}<p>Bring boots.</p></article></body></html>"
    return html_document(page.encode(), source="a.html", kept_share=WEB_SHARE, as_seen=as_seen).text


@pytest.mark.parametrize("fragment", HIDDEN)
def test_what_a_browser_does_not_show_is_not_read(fragment: str) -> None:
    assert "GHOST" not in text(fragment)
    assert "The bridge is 9 m high." in text(fragment)
    assert "Bring boots." in text(fragment)


@pytest.mark.parametrize("fragment", SHOWN)
def test_what_it_shows_is(fragment: str) -> None:
    assert "PLAIN" in text(fragment)


def test_own_documents_are_read_whole() -> None:
    assert "GHOST" in text('<p style="font-size:0">GHOST</p>', as_seen=False)


def test_characters_that_nobody_sees_go_with_entities_too() -> None:
    assert "warranty 保証" in text("<p>war&#xad;ran&#8203;ty 保&zwnj;証</p>")
