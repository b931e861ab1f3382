"""A41: pages that stand before a page are recognised, and pages about such things are not."""

from __future__ import annotations

import pytest

from tadasu.text.page_text import page_text
from tadasu.text.walls import wall_in, wall_in_text
from tests.providers.fetching import last_wall_pages, later_wall_pages, unseen_wall_pages, wall_pages
from tests.providers.fetching.pages import Sample

WALLS = (*wall_pages.WALLS, *later_wall_pages.WALLS, *last_wall_pages.WALLS)
LOOK_ALIKES = (*wall_pages.LOOK_ALIKES, *later_wall_pages.LOOK_ALIKES, *last_wall_pages.LOOK_ALIKES)


@pytest.mark.parametrize("sample", WALLS, ids=lambda sample: f"{sample.name}: {sample.reason}")
def test_a41_a_wall_is_called_by_its_name(sample: Sample) -> None:
    assert wall_in(sample.page) == sample.reason


@pytest.mark.parametrize("sample", LOOK_ALIKES, ids=lambda sample: sample.name)
def test_a41_a_page_about_walls_is_none(sample: Sample) -> None:
    assert wall_in(sample.page) == ""


def test_a41_pages_written_before_the_patterns_are_told_apart_nearly_as_well() -> None:
    walls, others = unseen_wall_pages.WALLS, unseen_wall_pages.LOOK_ALIKES
    missed = [sample.name for sample in walls if not wall_in(sample.page)]
    misnamed = [sample.name for sample in walls if wall_in(sample.page) not in {"", sample.reason}]
    wrongly = [sample.name for sample in others if wall_in(sample.page)]
    assert (missed, misnamed) == ([], [])
    # A short article on the status code 404 says of pages what such pages say of themselves.
    assert wrongly == ["ok-404-article-en"]


@pytest.mark.parametrize(
    ("text", "wall"),
    [
        ("Please enable cookies to continue.", "cookie_wall"),
        ("ブラウザのCookieを有効にしてください。", "cookie_wall"),
        ("You must be logged in to view this topic.", "login_wall"),
        ("この話題を見るには会員登録が必要です。", "login_wall"),
        ("The harbour is eleven metres deep.", ""),
        ("港の水深は11メートルです。", ""),
        ("", "empty"),
    ],
)
def test_a_snippet_taken_from_a_wall_is_recognised(text: str, wall: str) -> None:
    assert wall_in_text("Harbour", text) == wall


@pytest.mark.parametrize(
    "page",
    [
        "<script" * 200_000,
        "<div>" * 100_000,
        "<" * 400_000,
        "a" * 400_000,
        "we " * 2900,
        "残り" + "1" * 8000,
        "“" * 8000,
        "you your browser " * 500,
        "<title>" * 50_000,
        "&lt;" * 100_000,
        "<noscript>" * 50_000,
    ],
    ids=range(11),
)
def test_a_page_made_to_keep_us_busy_is_read_in_passing(page: str) -> None:
    assert isinstance(wall_in(page), str)


def test_what_a_reader_does_not_see_is_no_text() -> None:
    seen = page_text(
        "before<html><title>A &amp; B</title><style>p{}</style><p>One <b>two</b></p><script>if (a < b) {}</script>"
        "<noscript><p>Three</p></noscript><nav>Menu</nav><input type=password>1 < 2"
    )
    assert (seen.title, seen.lines, seen.without_scripts) == ("A & B", ["before", "One two", "1 < 2"], ["Three"])
    assert (seen.scripts, seen.password) == (1, True)
