"""The settings of [generation], through whole workspaces and a chat model over real HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu import Tadasu
from tadasu.core.answers import Support
from tadasu.core.events import Event, Shown, TextRevised
from tadasu.core.runs import Run
from tadasu.testing.chat_server import ChatServer, Say

pytestmark = pytest.mark.enable_socket
ASKED = {
    "en": (
        "How long is the warranty of the PT-300?",
        "The warranty of the PT-300 is 36 months [1]. It was made by Edison in 1999 [1].",
        "The warranty of the PT-300 is 36 months [1].",
        "Edison",
    ),
    "ja": (
        "LD-90の保証期間はどのくらいですか？",
        "LD-90の保証期間は24か月です[1]。1999年にエジソンが製造しました[1]。",
        "LD-90の保証期間は24か月です[1]。",
        "エジソン",
    ),
}


async def asked(place: Path, language: str, **generation: str) -> tuple[Run, list[Event], int]:
    """The run, what was heard of it, and how many calls the model got."""
    question, said, again, _ = ASKED[language]
    heard: list[Event] = []
    with ChatServer([Say(said, piece=4), Say(again, piece=4)]) as server:
        chat = {"provider": "openai", "model": "m", "base_url": server.base_url, "price_in": 1.0, "price_out": 2.0}
        async with Tadasu.open(place, chat=chat, generation=generation) as tadasu:
            run = await tadasu.ask(question, listen=heard.append)
        return run, heard, len(server.requests)


@pytest.mark.parametrize("language", ASKED)
async def test_a74_every_setting_of_generation_changes_what_is_shown(place: Path, language: str) -> None:
    invented = ASKED[language][3]
    removed, heard, calls = await asked(place, language)
    assert (invented in removed.answer.text, calls) == (False, 1)
    assert not any(isinstance(event, TextRevised) for event in heard)

    flagged, _, calls = await asked(place, language, unsupported="flag")
    assert (invented in flagged.answer.text, calls) == (True, 1)
    assert [one.support for one in flagged.answer.sentences] == [Support.SUPPORTED, Support.UNSUPPORTED]

    rewritten, _, calls = await asked(place, language, unsupported="rewrite")
    assert (invented in rewritten.answer.text, calls) == (False, 2)
    assert rewritten.answer.removed[0].instead

    at_once, heard, calls = await asked(place, language, release="at_once")
    assert (at_once.answer, calls) == (removed.answer, 1)
    assert any(isinstance(event, TextRevised) for event in heard)
    screen = Shown()
    seen_early = False
    for event in heard:
        screen(event)
        seen_early = seen_early or invented in screen.unchecked
        assert invented not in screen.checked
    assert seen_early
    assert screen.text == at_once.answer.text

    hashes = {run.settings for run in (removed, flagged, rewritten, at_once)}
    assert len(hashes) == 4
