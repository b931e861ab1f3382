"""The suite for graders, over the one that asks a language model: scripted, and behind HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from tadasu.answering.grading.cascade import Cascade
from tadasu.answering.grading.features import open_features
from tadasu.ports import Grader
from tadasu.providers.openai import open_chat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_server import Act, ChatServer, Say
from tadasu.testing.conformance.grader import GraderConformance
from tests.answering.grading.judges import by, grader, lines, row, sent_blocks


def judged(shown: Mapping[str, str]) -> str:
    """Good is what speaks of the warranty."""
    return lines(
        *(row(name, *((0.9 if "warranty" in text or "保証" in text else 0.1,) * 3)) for name, text in shown.items())
    )


class TestLlm(GraderConformance):
    @pytest.fixture
    def grader(self) -> Grader:
        return grader(by(judged))


class TestLlmOneByOne(GraderConformance):
    @pytest.fixture
    def grader(self) -> Grader:
        return grader(by(judged), batch=1, calls=2)


class TestCascadeWithAnAssessor(GraderConformance):
    compares = True

    @pytest.fixture
    def grader(self) -> Grader:
        return Cascade(open_features(), scorer=None, assessor=grader(by(judged)))


@pytest.mark.enable_socket
class TestLlmOverHttp(GraderConformance):
    @pytest.fixture
    async def grader(self) -> AsyncIterator[Grader]:
        def act(body: dict[str, Any]) -> Act:
            return Say(judged(sent_blocks(body)), piece=500)

        with ChatServer([act]) as server:
            chat = open_chat(ChatSettings(model="m", base_url=server.base_url))
            yield grader(chat)
            await chat.close()
