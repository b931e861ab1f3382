"""What a chat model makes of a follow-up, and when the rules take over: every way that its reply may end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tadasu.answering.conversation import RestateByChat, restate_by_rules
from tadasu.errors import ContentRefused, ContextTooLong, ProviderError, ReplyEmpty, ReplyTruncated
from tadasu.prompts.registry import LANGUAGES, load
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.world import FixedWorld
from tadasu.testing.conformance.pairs import Book
from tests.storage.some_runs import everyday_run

FIRST = {"en": "What does the PT-300 measure?", "ja": "PT-300は何を測りますか？"}
FOLLOW_UP = {"en": "How long is its warranty?", "ja": "その保証期間は？"}
BY_MODEL = {"en": "Warranty period of the PT-300", "ja": "PT-300の保証期間はどのくらいですか？"}


async def restated(language: str, said: str | ProviderError, *, finish: str = "stop") -> tuple[str, str]:
    """The query by the model and the query by rules."""
    history = [replace(everyday_run(), question=FIRST[language], query=FIRST[language])]
    prompts = {one: load("standalone", one) for one in LANGUAGES}
    chat = ScriptedChat([said], finish=finish)
    restate = RestateByChat(chat, prompts, FixedWorld())
    by_rules = await restate_by_rules(FOLLOW_UP[language], history, ledger=Book())
    return await restate(FOLLOW_UP[language], history, ledger=Book()), by_rules


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "before", ["", "\n  ", "<think>It asks about the device.\nSo: PT-300.</think>\n\n", "…it does.</think>"]
)
async def test_the_first_line_that_is_said_aloud_is_the_query(language: str, before: str) -> None:
    query, _ = await restated(language, f"{before}{BY_MODEL[language]}\nI hope that this helps.")
    assert query == BY_MODEL[language]


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_query_that_was_cut_off_is_none(language: str) -> None:
    query, by_rules = await restated(language, BY_MODEL[language][:9], finish="length")
    assert query == by_rules
    query, _ = await restated(language, f"{BY_MODEL[language]}\nand a second li", finish="length")
    assert query == BY_MODEL[language]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("I cannot help with that.", "refusal"),
        ("<think>Let me see", "length"),
        ("<think>Let me see, this is", "stop"),
        ("\n \n", "stop"),
        (ContentRefused(provider="p", reason="filter"), "stop"),
        (ContextTooLong(provider="p", model="m", reason="long"), "stop"),
        (ReplyEmpty(provider="p", reason="nothing"), "stop"),
        (ReplyTruncated(provider="p", reason="thought only"), "stop"),
    ],
)
async def test_what_is_no_query_leaves_it_to_the_rules(language: str, said: str | ProviderError, finish: str) -> None:
    query, by_rules = await restated(language, said, finish=finish)
    assert query == by_rules
    assert "PT-300" in query
