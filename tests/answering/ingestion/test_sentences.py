"""What errors of ingestion are filled with exists in Japanese."""

from __future__ import annotations

import re

from tadasu.text.messages import catalogue
from tests.answering.ingestion.sentences import sentences


def test_every_fixed_reason_and_way_out_exists_in_japanese() -> None:
    japanese = catalogue("ja")
    found = {text for text in sentences() if re.search(r"[a-z] [a-z]", text)}
    assert len(found) > 40
    assert sorted(text for text in found if japanese.gettext(text) == text) == []
