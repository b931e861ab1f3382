"""`tadasu trace` says which web pages were not used, and why, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.cli.dropped_pages import WORDS
from tadasu.core.retrieved import DroppedPage
from tadasu.providers.fetching.refusals import Why
from tests.cli.conftest import Call
from tests.cli.samples import ScriptedTadasu, abstained, round_of

DROPPED = (
    DroppedPage("https://a.example/", "cookie_wall"),
    DroppedPage("https://b.example/", "timeout", "not there within 10 s; the snippet of the search is used instead"),
    DroppedPage("https://c.example/\x1b[31m\nx", "a_word_of_a_plugin"),
)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (
            "en",
            ["3 web pages left out", "https://a.example/: it asks for cookies", "its server was too slow (not there"],
        ),
        ("ja", ["使わなかったウェブページ: 3 件", "https://a.example/: 本文の代わりに Cookie を求めています"]),
    ],
)
def test_trace_names_pages_that_were_left_out(
    call: Call, scripted: ScriptedTadasu, language: str, told: list[str]
) -> None:
    scripted.runs.save(replace(abstained(), id="run-7", rounds=(replace(round_of(), dropped=DROPPED),)))
    shown = call("trace", "run-7", "--lang", language).out
    for words in told:
        assert words in shown
    assert "a_word_of_a_plugin" in shown
    assert "\x1b[31m" not in shown


def test_every_reason_has_its_words() -> None:
    assert {why.value for why in Why} <= WORDS.keys()
