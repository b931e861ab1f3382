"""What is peculiar to one chat provider, over real HTTP in its own protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tadasu.core.usage import Outcome, Tokens
from tadasu.errors import (
    ContentRefused,
    ContextTooLong,
    KeyMissing,
    ProviderError,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    ReplyMalformed,
    SettingsInvalid,
)
from tadasu.ports import ChatDelta, Message
from tadasu.providers import anthropic, bedrock, gemini, llamacpp, openai
from tadasu.providers.chat_calls import StreamedChat, Wire
from tadasu.providers.presets import Structured
from tadasu.providers.registry import ChatSettings
from tadasu.testing.chat_dialects import (
    SSE,
    AnthropicDialect,
    BedrockDialect,
    Dialect,
    GeminiDialect,
    LlamaCppDialect,
    OpenAIDialect,
    event,
    frame,
)
from tadasu.testing.chat_server import ChatServer, Fail, Raw, Say, Script
from tadasu.testing.conformance.chat import ASKED, FORM, reply, said
from tadasu.testing.conformance.pairs import Book

pytestmark = pytest.mark.enable_socket
_OPEN = {
    "openai": openai.open_chat,
    "deepseek": openai.open_chat,
    "anthropic": anthropic.open_chat,
    "gemini": gemini.open_chat,
    "bedrock": bedrock.open_chat,
    "llamacpp": llamacpp.open_chat,
}
_DIALECTS: dict[str, type[Dialect]] = {
    "openai": OpenAIDialect,
    "deepseek": OpenAIDialect,
    "anthropic": AnthropicDialect,
    "gemini": GeminiDialect,
    "bedrock": BedrockDialect,
    "llamacpp": LlamaCppDialect,
}
FORMED = (Message("user", "Judge it, as JSON.", form=FORM),)


@asynccontextmanager
async def talking(
    provider: str, *acts: Script, dialect: Dialect | None = None, **settings: Any
) -> AsyncIterator[tuple[StreamedChat, ChatServer]]:
    with ChatServer(acts, dialect=dialect or _DIALECTS[provider]()) as server:
        given = {"model": "test-model", "base_url": server.base_url, "key_variable": "TEST_KEY", "timeout_s": 20.0}
        chat = _OPEN[provider](ChatSettings(provider=provider, **{**given, **settings}))
        try:
            yield chat, server
        finally:
            await chat.close()


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEST_KEY", "k-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


async def test_the_system_stands_apart_and_turns_alternate() -> None:
    messages = (*ASKED[:2], Message("user", "Of the pump."), Message("assistant", " "), Message("user", "なぜ？"))
    turn = "長さは？ {x} %s\n\nOf the pump.\n\nなぜ？"
    async with talking("anthropic", Say("ok")) as (chat, server):
        await reply(chat, Book(), messages)
        sent = server.requests[0]
        assert (sent["system"], sent["messages"]) == ("Be brief. 簡潔に。", [{"role": "user", "content": turn}])
        assert (sent["max_tokens"], sent["temperature"], sent["stream"]) == (64, 0.0, True)
        assert server.headers[0]["x-api-key"] == "k-1"
        assert server.headers[0]["anthropic-version"] == "2023-06-01"
    async with talking("gemini", Say("ok")) as (chat, server):
        await reply(chat, Book(), (*messages, Message("assistant", "それは")))
        sent = server.requests[0]
        assert sent["systemInstruction"] == {"parts": [{"text": "Be brief. 簡潔に。"}]}
        assert [one["role"] for one in sent["contents"]] == ["user", "model"]
        assert sent["contents"][0]["parts"] == [{"text": turn}]
        assert sent["generationConfig"] == {"maxOutputTokens": 64, "temperature": 0.0}
        assert server.headers[0]["x-goog-api-key"] == "k-1"
    async with talking("bedrock", Say("ok")) as (chat, server):
        await reply(chat, Book(), messages)
        sent = server.requests[0]
        assert sent["system"] == [{"text": "Be brief. 簡潔に。"}]
        assert sent["messages"] == [{"role": "user", "content": [{"text": turn}]}]
        assert sent["inferenceConfig"] == {"maxTokens": 64, "temperature": 0.0}
        assert "bedrock" in server.headers[0]["authorization"], "it is signed for the service"


@pytest.mark.parametrize("provider", sorted(_OPEN))
@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a53_braces_and_signs_go_out_as_they_were_written(provider: str, language: str) -> None:
    asked = {
        "en": "What is {x}, {{y}}, %s, $z and {0}?\n\\n <|im_end|>",
        "ja": '{x}と{{y}}、％sと%s、$zと{0}は？「"」',
    }[language]
    async with talking(provider, Say("ok")) as (chat, server):
        await reply(chat, Book(), (Message("system", "{s}"), Message("user", asked)))
        assert asked in _texts(server.requests[0])
        assert "{s}" in _texts(server.requests[0])


def _texts(value: object) -> list[str]:
    """Every text within a request, however deep."""
    if isinstance(value, str):
        return [value]
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in within for text in _texts(one)]


async def test_a_bug_in_a_wire_is_a_failure_and_no_cancellation() -> None:
    class Broken:
        name = "broken"
        missing_key = ""

        async def window(self) -> int | None:
            return None

        async def close(self) -> None:
            """Nothing to give back."""

        async def pieces(
            self, messages: object, *, max_tokens: int, temperature: float
        ) -> AsyncGenerator[ChatDelta, None]:
            yield ChatDelta(text="ok")
            raise ZeroDivisionError("oops")

    book = Book()
    with pytest.raises(ZeroDivisionError):
        await reply(StreamedChat(Broken(), ChatSettings(model="m")), book)
    assert [(call.outcome, call.error) for call in book.calls] == [(Outcome.FAILED, "ZeroDivisionError: oops")]


@pytest.mark.parametrize(
    ("provider", "end", "finish"),
    [
        ("openai", "stop", "stop"),
        ("openai", "eos_token", "stop"),
        ("openai", "length", "length"),
        ("anthropic", "end_turn", "stop"),
        ("anthropic", "stop_sequence", "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "model_context_window_exceeded", "length"),
        ("gemini", "STOP", "stop"),
        ("gemini", "MAX_TOKENS", "length"),
        ("bedrock", "stop_sequence", "stop"),
        ("bedrock", "max_tokens", "length"),
        ("bedrock", "model_context_window_exceeded", "length"),
    ],
)
async def test_every_end_has_one_of_three_names(provider: str, end: str, finish: str) -> None:
    async with talking(provider, Say("Thirty-six months", finish=end)) as (chat, _):
        deltas = await reply(chat, Book())
    assert (said(deltas), deltas[-1].finish) == ("Thirty-six months", finish)


@pytest.mark.parametrize(
    ("provider", "end", "kind"),
    [
        ("anthropic", "refusal", ContentRefused),
        ("gemini", "SAFETY", ContentRefused),
        ("gemini", "RECITATION", ContentRefused),
        ("gemini", "PROHIBITED_CONTENT", ContentRefused),
        ("gemini", "OTHER", ReplyMalformed),
        ("gemini", "MALFORMED_FUNCTION_CALL", ReplyMalformed),
        ("bedrock", "guardrail_intervened", ContentRefused),
        ("bedrock", "content_filtered", ContentRefused),
        ("bedrock", "malformed_model_output", ReplyMalformed),
        ("openai", "content_filter", ContentRefused),
        ("deepseek", "insufficient_system_resource", ProviderUnreachable),
    ],
)
async def test_other_ends_are_no_answers(provider: str, end: str, kind: type[ProviderError]) -> None:
    async with talking(provider, Say("Thirty-six mon", finish=end)) as (chat, _):
        with pytest.raises(kind):
            await reply(chat, Book())


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
async def test_a_window_that_is_full_before_a_word_is_too_long(provider: str) -> None:
    async with talking(provider, Say("", finish="model_context_window_exceeded")) as (chat, _):
        with pytest.raises(ContextTooLong, match="window was full"):
            await reply(chat, Book())


@pytest.mark.parametrize(
    ("provider", "act"),
    [
        ("openai", Fail(400, "This model's maximum context length is 8192 tokens. However, you requested 9000.")),
        ("openai", Fail(400, "…", code="context_length_exceeded")),
        ("openai", Fail(500, "Context size has been exceeded.")),
        ("anthropic", Fail(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
        ("anthropic", Fail(413, "Request exceeds the maximum size")),
        ("bedrock", Fail(400, "The model returned the following errors: prompt is too long: 9 tokens > 8 maximum")),
    ],
)
async def test_each_service_has_its_own_words_for_too_long(provider: str, act: Fail) -> None:
    async with talking(provider, act) as (chat, _):
        with pytest.raises(ContextTooLong, match="test-model"):
            await reply(chat, Book())


@pytest.mark.parametrize(
    ("provider", "act", "kind", "wait"),
    [
        ("anthropic", Fail(529, "Overloaded", headers={"retry-after": "3"}), ProviderUnreachable, 3.0),
        ("anthropic", Fail(429, "slow", headers={"retry-after": "2"}), ProviderLimited, 2.0),
        ("bedrock", Fail(429, "Too many tokens, please wait before trying again."), ProviderLimited, None),
        ("bedrock", Fail(400, "Your quota", code="ServiceQuotaExceededException"), ProviderRefused, None),
        ("bedrock", Fail(424, "try again"), ProviderUnreachable, None),
        ("deepseek", Fail(402, "Insufficient Balance"), ProviderRefused, None),
        ("openai", Fail(429, "You exceeded your quota", code="insufficient_quota"), ProviderRefused, None),
        ("openai", Fail(400, "flagged by our policy", code="content_policy_violation"), ContentRefused, None),
    ],
)
async def test_limits_quotas_and_overloads_are_told_apart(
    provider: str, act: Fail, kind: type[ProviderError], wait: float | None
) -> None:
    async with talking(provider, act) as (chat, _):
        with pytest.raises(kind) as caught:
            await reply(chat, Book())
    assert type(caught.value) is kind
    assert caught.value.details.get("retry_after_s") == wait


async def test_gemini_tells_the_wait_in_the_body() -> None:
    class Waiting(GeminiDialect):
        def failure(self, fail: Fail) -> Any:
            body, headers = super().failure(fail)
            info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"}
            return {"error": {**body["error"], "details": [{"@type": "other"}, info]}}, headers  # type: ignore[dict-item]

    async with talking("gemini", Fail(429, "quota"), dialect=Waiting()) as (chat, _):
        with pytest.raises(ProviderLimited) as caught:
            await reply(chat, Book())
    assert caught.value.details["retry_after_s"] == 37.5


def _candidate(*parts: dict[str, object], finish: str = "") -> dict[str, object]:
    found: dict[str, object] = {"content": {"parts": list(parts), "role": "model"}}
    return {"candidates": [found | ({"finishReason": finish} if finish else {})]}


async def test_gemini_keeps_its_thoughts_and_they_are_paid_for() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 40, "totalTokenCount": 51}
    last = _candidate({"text": "36."}, finish="STOP") | {"usageMetadata": usage}
    body = b"".join(map(event, (_candidate({"text": "Let me see", "thought": True}), last))).decode()
    async with talking("gemini", Raw(body)) as (chat, _):
        deltas = await reply(chat, Book())
    assert said(deltas) == "36."
    assert deltas[-1].tokens == Tokens(9, 42)


async def test_gemini_blocks_a_question_by_name() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    async with talking("gemini", Raw(event(blocked).decode())) as (chat, _):
        with pytest.raises(ContentRefused, match="PROHIBITED_CONTENT"):
            await reply(chat, Book())


@pytest.mark.parametrize("pretty", [None, 2])
async def test_gemini_may_answer_with_a_list_instead_of_a_stream(pretty: int | None) -> None:
    listed = [_candidate({"text": "36 "}), _candidate({"text": "months"}, finish="STOP")]
    async with talking("gemini", Raw(json.dumps(listed, indent=pretty), "application/json")) as (chat, _):
        assert said(await reply(chat, Book())) == "36 months"


async def test_gemini_takes_a_schema_in_its_own_dialect() -> None:
    async with talking("gemini", Say("{}")) as (chat, server):
        await reply(chat, Book(), FORMED)
    config = server.requests[0]["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseSchema"] == {
        "type": "OBJECT",
        "properties": {"relevant": {"type": "BOOLEAN"}, "reason": {"type": "STRING"}},
        "required": ["relevant", "reason"],
    }


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ('data: {"type": "message_start", "message": []}\n\ndata: {"type": "message_delta", "delta": 3}\n\n', ProviderUnreachable, "broke off"),
        ("data: [1, 2]\n\n", ReplyMalformed, "no JSON object"),
        ("data: {half\n\n", ReplyMalformed, "no JSON"),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', ProviderUnreachable, "Overloaded"),
        ("", ProviderUnreachable, "broke off"),
        (': nothing yet\n\nevent: ping\ndata: {"type": "ping"}\n\n', ProviderUnreachable, "broke off"),
    ],
)  # fmt: skip
async def test_a_status_of_200_promises_nothing(body: str, kind: type[ProviderError], words: str) -> None:
    async with talking("anthropic", Raw(body)) as (chat, _):
        with pytest.raises(kind, match=words):
            await reply(chat, Book())


async def test_an_event_may_be_cut_and_ended_anywhere() -> None:
    data = AnthropicDialect()
    say = Say("保証は 36 か月。", piece=3)
    events = [*data.opening(say, {}), *(data.piece(one, say, {}) for one in say.pieces), *data.closing(say, {})]
    body = b"".join(events).decode()
    for ended in ("\n", "\r\n", "\r"):
        async with talking("anthropic", Raw(body.replace("\n", ended))) as (chat, _):
            assert said(await reply(chat, Book())) == "保証は 36 か月。"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "bedrock"])
async def test_models_that_take_no_temperature_are_not_given_one_again(provider: str) -> None:
    refusal = Fail(400, "`temperature` is deprecated for this model.")
    async with talking(provider, refusal, Say("ok")) as (chat, server):
        assert said(await reply(chat, Book())) == "ok"
        await reply(chat, Book())
    assert ["temperature" in json.dumps(one) for one in server.requests] == [True, False, False]


def _plain(body: dict[str, Any], *unknown: str) -> Fail | Say:
    """A service that knows none of `unknown`."""
    named = next((word for word in unknown if word in json.dumps(body)), None)
    return Say('{"relevant": true, "reason": ""}') if named is None else Fail(400, f"unknown option: {named}")


async def test_a_service_is_told_the_form_in_the_best_way_that_it_takes() -> None:
    async with talking("openai", lambda body: _plain(body, "json_schema", "tools", "json_object")) as (chat, server):
        await reply(chat, Book(), FORMED)
        await reply(chat, Book(), FORMED)
    ways = [
        (one.get("response_format") or {}).get("type") or ("tool" if "tools" in one else "words")
        for one in server.requests
    ]
    assert ways == ["json_schema", "tool", "json_object", "words", "words"], "and what it refused is not tried again"
    async with talking("deepseek", Say("{}")) as (chat, server):
        await reply(chat, Book(), FORMED)
    assert "tools" in server.requests[0], "DeepSeek is known to take no schema"
    async with talking("openai", Say("{}"), structured=Structured.NONE) as (chat, server):
        await reply(chat, Book(), FORMED)
    assert not {"tools", "response_format"} & server.requests[0].keys()


async def test_bedrock_models_without_tools_are_told_in_words() -> None:
    refusal = Fail(400, "This model doesn't support tool use.")
    async with talking("bedrock", refusal, Say("{}")) as (chat, server):
        assert said(await reply(chat, Book(), FORMED)) == "{}"
        await reply(chat, Book(), FORMED)
    assert ["toolConfig" in one for one in server.requests] == [True, False, False]


async def test_bedrock_frames_that_are_damaged_are_named() -> None:
    class Damaged(BedrockDialect):
        def piece(self, text: str, say: Say, body: Any) -> bytes:
            whole = super().piece(text, say, body)
            return whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]

    async with talking("bedrock", Say("one two"), dialect=Damaged()) as (chat, _):
        with pytest.raises(ReplyMalformed):
            await reply(chat, Book())


async def test_bedrock_needs_a_region_and_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    async with talking("bedrock", Say("ok")) as (chat, server):
        with pytest.raises(SettingsInvalid, match=r"chat\.region"):
            await reply(chat, Book())
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(KeyMissing, match="AWS_ACCESS_KEY_ID"):
            await reply(chat, Book())
        assert server.requests == []
        assert chat.missing_key == "AWS_ACCESS_KEY_ID"
        monkeypatch.setenv("AWS_PROFILE", "work")
        assert chat.missing_key == ""


async def test_bedrock_takes_a_key_of_its_own_without_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "b-1")
    async with talking("bedrock", Say("ok")) as (chat, server):
        assert chat.missing_key == ""
        # boto3 takes the key, and sends it over TLS only, which the server on loopback does not speak.
        with pytest.raises(ProviderRefused, match="Bearer authorization requires an HTTPS endpoint"):
            await reply(chat, Book())
        assert server.requests == []


def test_the_framing_of_aws_is_as_their_own_reader_reads_it() -> None:
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    sent = frame("contentBlockDelta", {"delta": {"text": "保証"}}) + frame("messageStop", {"stopReason": "end_turn"})
    for at in range(0, len(sent), 7):
        buffer.add_data(sent[at : at + 7])
    found = list(buffer)
    assert [one.headers[":event-type"] for one in found] == ["contentBlockDelta", "messageStop"]
    assert json.loads(found[0].payload) == {"delta": {"text": "保証"}}


async def test_llamacpp_tells_its_window_and_what_does_not_fit_is_not_sent() -> None:
    long = Message("user", "保証期間は何年ですか。" * 80)
    async with talking("llamacpp", Say("ok"), dialect=LlamaCppDialect(window=512)) as (chat, server):
        book = Book()
        assert await chat.window() == 512
        with pytest.raises(ContextTooLong, match="not sent"):
            await reply(chat, book, (long,))
        assert server.requests == []
        assert (book.calls[0].tokens, book.calls[0].cost_usd) == (Tokens(), 0.0)
        assert said(await reply(chat, Book())) == "ok"
        assert server.requests[0]["max_tokens"] == 64


async def test_llamacpp_counts_in_its_timings() -> None:
    async with talking("llamacpp", Say("ok", usage=(101, 7))) as (chat, _):
        assert (await reply(chat, Book()))[-1].tokens == Tokens(101, 7)


async def test_llamacpp_needs_no_key_and_its_address_may_lack_its_path() -> None:
    with ChatServer([Say("ok")], dialect=LlamaCppDialect()) as server:
        bare = server.base_url.removesuffix("/v1")
        chat = llamacpp.open_chat(ChatSettings(provider="llamacpp", model="m", base_url=bare, key_variable=""))
        assert said(await reply(chat, Book())) == "ok"
        assert chat.missing_key == ""
        await chat.close()


async def test_a_window_that_the_settings_or_the_list_tell_is_held_to() -> None:
    long = (Message("user", "word " * 100_000),)
    for more in ({"context_window": 1000}, {"model": "gpt-4"}):
        async with talking("openai", Say("ok"), **more) as (chat, server):
            settings = ChatSettings(**{"model": "m", "base_url": "", **more})  # type: ignore[arg-type]
            away = StreamedChat(_wire(chat), settings)
            with pytest.raises(ContextTooLong):
                await reply(away, Book(), long)
            assert server.requests == []


def _wire(chat: StreamedChat) -> Wire:
    return chat._wire


async def test_a_reply_in_one_piece_is_read_too() -> None:
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "36 months"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    async with talking("openai", Raw(json.dumps(whole), "application/json; charset=utf-8")) as (chat, _):
        deltas = await reply(chat, Book())
    assert (said(deltas), deltas[-1].finish, deltas[-1].tokens) == ("36 months", "length", Tokens(5, 2))


async def test_an_error_with_a_status_of_200_is_an_error() -> None:
    for error, kind in (
        ({"message": "Rate limit reached", "type": "rate_limit_exceeded"}, ProviderLimited),
        ({"message": "model is loading", "type": "unavailable_error"}, ProviderUnreachable),
        ("no such model", ProviderUnreachable),
    ):
        async with talking("openai", Raw(json.dumps({"error": error}), "application/json")) as (chat, _):
            with pytest.raises(kind):
                await reply(chat, Book())


@pytest.mark.parametrize("key", ["k–1", "k\n1"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
async def test_a_key_that_was_copied_badly_is_named_and_not_shown(
    provider: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    async with talking(provider, Say("ok")) as (chat, server):
        with pytest.raises(SettingsInvalid, match="TEST_KEY") as caught:
            await reply(chat, Book())
        assert key not in str(caught.value)
        assert server.requests == []


async def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY")
    opened: Sequence[StreamedChat] = [
        _OPEN[provider](ChatSettings(provider=provider, model="m", key_variable="TEST_KEY"))
        for provider in ("openai", "deepseek", "anthropic", "gemini")
    ]
    for chat in opened:
        assert chat.missing_key == "TEST_KEY"
        book = Book()
        with pytest.raises(KeyMissing, match="TEST_KEY"):
            await reply(chat, book)
        assert book.calls[0].tokens == Tokens()
        await chat.close()


def test_the_double_speaks_event_streams() -> None:
    assert OpenAIDialect().content_type == SSE
