"""Addresses, texts, dates and errors as services write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tadasu.errors import ProviderAnswerInvalid, ProviderLimited
from tadasu.providers.websearch.reading import (
    address_key,
    iso_day,
    page,
    plain,
    rows_at,
    said_error,
    speaks_of_limits,
    unique,
    usable_address,
)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("A <b>bold</b> word", "A bold word"),
        ("保証<em>期間</em>は<br>3年", "保証期間は 3年"),
        ("x &lt; 5 &amp;&amp; y > 3", "x < 5 && y > 3"),
        ("5 < 6 and 7 > 2", "5 < 6 and 7 > 2"),
        ("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;", "bold"),
        ("<scr<b>ipt>alert(1)</scr</b>ipt>", "alert(1)"),
        ("<!-- hidden -->shown<!DOCTYPE x>", "shown"),
        ("tab\there\n\nand　there", "tab here and there"),
        ("\x1b[31mred\x00\u200b\u202e", "[31mred"),
        ("&nbsp;&#12371;&#x3093;", "こん"),
        (["one", "<i>two</i>", 3, None], "one … two"),
        ("", ""),
        (None, ""),
        (7, ""),
        ({"text": "x"}, ""),
    ],
)
def test_a_text_loses_tags_entities_and_what_cannot_be_seen(given: object, text: str) -> None:
    assert plain(given, most=100) == text


def test_a_long_text_is_cut_and_says_so() -> None:
    assert plain("あ" * 50, most=10) == "あ" * 9 + "…"


@pytest.mark.parametrize("text", ["<" * 200_000, "<a " * 100_000, "&lt;" * 100_000, "<!--" * 100_000, "&" * 200_000])
def test_a_hostile_text_is_read_without_going_over_it_again_and_again(text: str) -> None:
    # Quadratic work on it would take minutes, and nobody would miss that.
    assert len(plain(text, most=200_000)) <= 200_000


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_plain_text_is_one_line_and_stays_as_it_is(text: str) -> None:
    once = plain(text, most=300)
    assert once == " ".join(once.split())
    assert once == "" or once.isprintable()


@pytest.mark.parametrize(
    ("address", "usable"),
    [
        ("https://a.example/x", True),
        (" http://a.example ", True),
        ("HTTPS://A.EXAMPLE/", True),
        ("https://日本語.example/保証?型番=1", True),
        ("http://[2001:db8::1]:8080/x", True),
        ("ftp://a.example/x", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//a.example/x", False),
        ("/x", False),
        ("https://", False),
        ("https:///x", False),
        ("https://user:word@a.example/", False),
        ("https://a.example:port/", False),
        ("https://[::1/", False),
        ("https://a.example/x y", False),
        ("https://a.example/x\ny", False),
        ("https://a.example/" + "x" * 5000, False),
        (None, False),
        (["https://a.example/"], False),
    ],
)
def test_only_what_can_be_shown_and_fetched_is_an_address(address: object, usable: bool) -> None:
    assert (usable_address(address) is not None) is usable


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a.example/x", "https://A.EXAMPLE:443/x/#part", True),
        ("https://a.example", "https://a.example/", True),
        ("https://a.example/?b=1&a=2", "https://a.example/?a=2&b=1&utm_campaign=x&gclid=y", True),
        ("https://ja.example/保証", "https://ja.example/%E4%BF%9D%E8%A8%BC", True),
        ("https://日本.example/", "https://xn--wgv71a.example/", True),
        ("https://a.example/x?id=1", "https://a.example/x?id=2", False),
        ("https://a.example/x", "https://a.example/X", False),
        ("https://a.example:8443/x", "https://a.example/x", False),
        ("https://a.example/#!/one", "https://a.example/#!/two", False),
        ("https://a.example/x?q=", "https://a.example/x", False),
        ("https://a.example/x", "https://b.example/x", False),
    ],
)
def test_one_page_has_one_key(one: str, other: str, same: bool) -> None:
    assert (address_key(one) == address_key(other)) is same


@pytest.mark.parametrize(
    ("given", "day"),
    [
        ("2025-03-01T08:00:00Z", "2025-03-01"),
        ("2025-03-01T08:00:00.0000000+09:00", "2025-03-01"),
        ("2025-03-01", "2025-03-01"),
        ("Tue, 11 Mar 2025 07:00:00 GMT", "2025-03-11"),
        ("Mar 3, 2025", "2025-03-03"),
        ("3 March 2025", "2025-03-03"),
        ("2025年3月3日", "2025-03-03"),
        ("令和7年3月3日", "2025-03-03"),
        ("2025/03/03 12:00", "2025-03-03"),
        ("3 days ago", ""),
        ("2 時間前", ""),
        ("March 2025", ""),
        ("3月3日", ""),
        ("2025-02-30", ""),
        ("2025-13-01", ""),
        ("soon", ""),
        ("", ""),
        (1740787200, ""),
        (None, ""),
        ({"year": 2025}, ""),
    ],
)
def test_a_date_is_a_day_where_it_leaves_no_doubt(given: object, day: str) -> None:
    assert iso_day(given) == day


@pytest.mark.parametrize(
    ("given", "language"),
    [("en", "en"), ("JA-jp", "ja"), ("jp", "ja"), ("zh_Hant", "zh"), ("", "und"), ("日本語", "und"), (3, "und")],
)
def test_the_language_of_a_page_is_a_tag_or_unknown(given: object, language: str) -> None:
    made = page({"u": "https://a.example/"}, url="u", title="t", snippet="s", language=given)
    assert made is not None
    assert made.language == language


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"error": "no"}, "no"),
        ({"error": {"code": 403, "message": "<b>no</b>"}}, "no"),
        ({"detail": {"error": "Unauthorized: missing key"}}, "Unauthorized: missing key"),
        ({"errors": [{"code": "a", "message": "one"}, {"message": "two"}]}, "one; two"),
        ({"error": {"code": 7}}, "7"),
        ({"detail": [{"loc": ["q"], "msg": "field required"}]}, "field required"),
        ({"message": "x" * 500}, "x" * 200),
        ({"error": None}, ""),
        ({"error": False, "message": ""}, ""),
        ({"results": []}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_what_a_reply_says_of_its_error_is_found_in_any_form(reply: object, said: str) -> None:
    assert said_error(reply) == said


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("Rate limit exceeded", True),
        ("You have exceeded your monthly search limit", True),
        ("Your account has run out of searches.", True),
        ("Too Many Requests", True),
        ("This request exceeds your plan's set usage limit.", True),
        ("利用回数の上限に達しました", True),
        ("Invalid API key", False),
        ("The query is too long", False),
        ("", False),
    ],
)
def test_an_error_about_limits_is_told_by_its_words(said: str, limits: bool) -> None:
    assert speaks_of_limits(said) is limits


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["web", "results", "error", "type", "url", "title", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(JSON)
def test_a35_whatever_comes_is_rows_or_an_error_by_name(reply: object) -> None:
    try:
        rows = rows_at(reply, "web", "results", known_by=("type",), provider="p")
        made = [page(row, url="url", title="title", snippet=("title", "x"), dated=row.get("x")) for row in rows]
        pages = unique(made, limit=3, rows=len(rows), provider="p")
    except (ProviderAnswerInvalid, ProviderLimited) as error:
        assert error.details["reason"]  # noqa: PT017 - most replies raise nothing
    else:
        assert len(pages) <= 3
        assert (pages == []) is (rows == [])
