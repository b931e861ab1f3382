from __future__ import annotations

import re

from tadasu.text.messages import catalogue
from tests.cli.messages_in_code import messages

_PLACE = re.compile(r"\{\w+\}")


def test_every_sentence_of_the_command_line_exists_in_japanese() -> None:
    japanese = catalogue("ja")
    found = {text for text in messages() if re.search(r"[A-Za-z]", _PLACE.sub("", text))}
    assert len(found) > 300
    missing = sorted(text for text in found if japanese.gettext(text) == text)
    assert missing == []


def test_the_scan_sees_calls_of_every_kind() -> None:
    found = messages()
    assert "{source} is cited as {markers}." in found  # through a call
    assert "dropped: below the threshold" in found  # through a table
    assert "Sudachi is not installed: Japanese keywords are pairs of letters ({analyser})." in found  # a finding
    assert "Install Python 3.11 or later." in found  # an advice
    assert "There is no run {run} here." in found  # an error
    assert "the verdict is CORRECT" in found  # a reason in a run
    assert "Passages retrieved and graded per search." in found  # a setting
    assert "Show the version and stop." in found  # help
