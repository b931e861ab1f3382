"""The suite for chat models, over real HTTP in each provider's own protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tadasu.ports import ChatModel
from tadasu.providers import anthropic, bedrock, gemini, llamacpp, openai
from tadasu.providers.chat_calls import StreamedChat
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_acts import Act, Fail, Fault
from tadasu.testing.chat_dialects import (
    AnthropicDialect,
    BedrockDialect,
    Dialect,
    GeminiDialect,
    LlamaCppDialect,
    OpenAIDialect,
)
from tadasu.testing.chat_server import ChatServer
from tadasu.testing.conformance.chat import ChatConformance, Serve, Served

pytestmark = pytest.mark.enable_socket
KEY = "k-very-secret"


class Loopback(ChatConformance):
    """The suite with servers on loopback."""

    dialect: ClassVar[Dialect]
    provider: ClassVar[str]

    def opened(self, settings: ChatSettings) -> ChatModel:
        raise NotImplementedError

    @pytest.fixture
    def serve(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
        monkeypatch.setenv("TEST_KEY", KEY)
        servers: list[ChatServer] = []

        def served(*acts: Act, timeout_s: float = 20.0) -> Served:
            server = ChatServer(acts, key="" if acts and isinstance(acts[0], Fail) else KEY, dialect=self.dialect)
            address = server.base_url
            if acts:
                servers.append(server.__enter__())
            else:
                server._http.server_close()
            settings = ChatSettings(
                provider=self.provider,
                model="test-model",
                base_url=address,
                key_variable="TEST_KEY",
                timeout_s=timeout_s,
                price_in=2.0,
                price_out=8.0,
                region="us-east-1",
                project="p",
            )
            return Served(self.opened(settings), server)

        yield served
        for server in servers:
            server.__exit__(None, None, None)


class TestOpenAI(Loopback):
    dialect = OpenAIDialect()
    provider = "openai"
    limited = Fault("Rate limit reached", "rate_limit_exceeded")

    def opened(self, settings: ChatSettings) -> StreamedChat:
        return openai.open_chat(settings)


class TestLlamaCpp(Loopback):
    dialect = LlamaCppDialect()
    provider = "llamacpp"
    refuses = False
    too_long = Fail(
        400, "the request exceeds the available context size, try increasing it", code="exceed_context_size_error"
    )

    def opened(self, settings: ChatSettings) -> StreamedChat:
        return llamacpp.open_chat(settings)


class TestAnthropic(Loopback):
    dialect = AnthropicDialect()
    provider = "anthropic"
    limited = Fault("Too many of them", "rate_limit_error")
    too_long = Fail(400, "prompt is too long: 345320 tokens > 199999 maximum")

    def opened(self, settings: ChatSettings) -> StreamedChat:
        return anthropic.open_chat(settings)


class TestGemini(Loopback):
    dialect = GeminiDialect()
    provider = "gemini"
    limited = Fault("Resource has been exhausted", "RESOURCE_EXHAUSTED")
    too_long = Fail(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")

    def opened(self, settings: ChatSettings) -> StreamedChat:
        return gemini.open_chat(settings)


class _Token:
    missing = ""

    async def token(self) -> str:
        return KEY


class TestVertex(Loopback):
    dialect = GeminiDialect(vertex=True)
    provider = "vertex"
    too_long = TestGemini.too_long

    def opened(self, settings: ChatSettings) -> StreamedChat:
        wire = gemini.GeminiWire(settings, address=gemini.vertex_address(settings), tokens=_Token())
        return StreamedChat(wire, settings)


class TestBedrock(Loopback):
    dialect = BedrockDialect()
    provider = "bedrock"
    limited = Fault("Too many requests, please wait", "throttlingException")
    too_long = Fail(400, "Input is too long for requested model.")
    # Before its first byte, a call stands in a thread of boto3's that cannot be reached; its connection ends with it.
    hangs_up_while_waiting = False

    @pytest.fixture(autouse=True)
    def account(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    def opened(self, settings: ChatSettings) -> StreamedChat:
        return bedrock.open_chat(settings)
