from __future__ import annotations

import io
import re

import pytest
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from tadasu.core.answers import Reason
from tadasu.text.messages import ABSTENTIONS, DOMAIN, LANGUAGES, LOCALES, abstention, translate


def source(language: str) -> dict[str, str]:
    path = LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    catalogue = read_po(io.BytesIO(path.read_bytes()), locale=language)
    return {str(message.id): str(message.string) for message in catalogue if message.id}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_the_written_one(language: str) -> None:
    compiled = read_mo(io.BytesIO((LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.mo").read_bytes()))
    assert {str(message.id): str(message.string) for message in compiled if message.id} == source(language)


def test_both_languages_have_every_message_and_its_places() -> None:
    english, japanese = source("en"), source("ja")
    assert english.keys() == japanese.keys()
    for message, translation in japanese.items():
        assert translation, message
        assert english[message] == message
        assert sorted(re.findall(r"\{\w+\}", translation)) == sorted(re.findall(r"\{\w+\}", message))


def test_every_reason_to_abstain_is_said_in_both_languages() -> None:
    assert {reason.value for reason in Reason} == ABSTENTIONS.keys()
    for reason in set(Reason) - {Reason.NO_QUESTION}:
        assert abstention(reason.value, "en").lower().startswith("not known")
        assert "不明" in abstention(reason.value, "ja")
    assert "not a question" in abstention("no_question", "en")
    assert "質問ではない" in abstention("no_question", "ja")
    assert len({abstention(reason.value, "ja") for reason in Reason}) == len(Reason)


def test_what_fills_a_place_is_never_a_template() -> None:
    assert translate("as of {date}", "en", date="{date} {0} {{x}} %s") == "as of {date} {0} {{x}} %s"
    assert translate("as of {date}", "ja", date="{x}") == "{x} 時点"
    assert translate("as of {date}", "ja") == "{date} 時点"


def test_an_unknown_language_or_message_is_english() -> None:
    assert translate("Sources", "fr") == "Sources"
    assert translate("Sources", "ja-JP") == "出典"
    assert translate("Sources", "ja_JP.UTF-8") == "出典"
    assert translate("Never written {x}", "ja", x=1) == "Never written 1"
    assert translate("", "ja") == ""
