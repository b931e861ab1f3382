"""The modes of [chat], through whole workspaces and servers over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadasu import Tadasu
from tadasu.app.doctor import diagnose
from tadasu.core.usage import Stage
from tadasu.errors import SettingsInvalid
from tadasu.testing.chat_server import ChatServer, Say
from tadasu.testing.completion_server import CompletionServer, Continued

pytestmark = pytest.mark.enable_socket
ASKED = {
    "en": ("How long is the warranty of the PT-300?", "The warranty of the PT-300 is 36 months"),
    "ja": ("LD-90の保証期間はどのくらいですか？", "LD-90の保証期間は24か月です"),
}


@pytest.mark.parametrize("language", ASKED)
async def test_self_rag_answers_and_nobody_chats_with_it(place: Path, language: str) -> None:
    question, said = ASKED[language]

    def play(prompt: str) -> Continued:
        right = ("36" if language == "en" else "24") in prompt.rpartition("<paragraph>")[2]
        return Continued(["[Relevant]" if right else "[Irrelevant]", said, "[Fully supported]", "[Utility:5]", "</s>"])

    with CompletionServer(play) as server:
        chat = {"provider": "openai", "mode": "self_rag", "model": "selfrag", "base_url": server.base_url}
        async with Tadasu.open(place, chat={**chat, "price_in": 1.0, "price_out": 1.0}) as tadasu:
            run = await tadasu.ask(question)
            findings = await diagnose(lambda: tadasu, network=False)
    assert said in run.answer.text
    assert "[1]" in run.answer.text
    assert "self-rag-1" in run.answer.writer
    calls = [call for call in run.calls if call.provider == "completions"]
    assert [(call.stage, call.cost_usd is not None and call.cost_usd > 0) for call in calls] == [(Stage.GENERATE, True)]
    assert [one.details["mode"] for one in findings if one.check == "mode"] == ["self_rag"]


@pytest.mark.parametrize("language", ASKED)
async def test_reflective_revises_through_the_whole_pipeline(place: Path, language: str) -> None:
    question, said = ASKED[language]
    look = json.dumps({"issues": ["x"], "relevant": "yes", "supported": "partly", "useful": 3})
    with ChatServer([Say("99 [1]."), Say(look), Say(f"{said} [1].")]) as server:
        chat = {"provider": "openai", "mode": "reflective", "model": "m", "base_url": server.base_url}
        async with Tadasu.open(place, chat=chat) as tadasu:
            run = await tadasu.ask(question)
    assert said in run.answer.text
    assert "reflect/en@" in run.answer.writer
    assert [call.stage for call in run.calls if call.model == "m"] == [Stage.GENERATE, Stage.CHECK, Stage.GENERATE]


async def test_self_rag_without_an_address_is_a_setting_to_mend(place: Path) -> None:
    async with Tadasu.open(place, chat={"provider": "openai", "mode": "self_rag", "model": "m"}) as tadasu:
        with pytest.raises(SettingsInvalid, match="base_url"):
            await tadasu.ask(ASKED["en"][0])
