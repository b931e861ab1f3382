"""The suite for checkers: the shipped head, and a chat model that knows the right ones."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from functools import cache

import pytest

from tadasu.answering.generation.llm_checking import LlmChecker
from tadasu.app.assets import models_folder
from tadasu.core.usage import Stage
from tadasu.ports import ChatDelta, CheckerSettings, Ledger, Message, SupportModel
from tadasu.prompts import load
from tadasu.providers.support import open_checker
from tadasu.runtime.ledger import timed
from tadasu.runtime.world import SystemChance
from tadasu.testing.conformance.checker import CLAIMS, CheckerConformance


@cache
def shipped() -> SupportModel:
    return open_checker(CheckerSettings(path=models_folder() / "grader", threads=1))


class TestShipped(CheckerConformance):
    @pytest.fixture
    def checker(self) -> SupportModel:
        return shipped()


class Knows:
    """A chat model that supports the right claims only where their source stands in its prompt."""

    id = "knows/1"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        told = messages[-1].content
        right = any(one.sentence in told and one.source in told for one, _ in CLAIMS.values())
        with timed(ledger, stage, provider="knows"):
            reply = {"reason": "it stands there", "verdict": "supported" if right else "unsupported"}
            yield ChatDelta(json.dumps(reply), finish="stop")


class TestChat(CheckerConformance):
    @pytest.fixture
    def checker(self) -> SupportModel:
        prompts = {language: load("check", language) for language in ("en", "ja")}
        return LlmChecker(Knows(), prompts=prompts, chance=SystemChance())
