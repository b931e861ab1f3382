from __future__ import annotations

import math

import pytest

from tadasu.core.usage import Outcome, Pricing, Stage, Tokens
from tadasu.errors import (
    ContentRefused,
    ContextTooLong,
    KeyMissing,
    ProviderAnswerInvalid,
    ProviderLimited,
    ProviderRefused,
    ProviderUnreachable,
    ReplyMalformed,
    RunBudgetSpent,
    TadasuError,
)
from tadasu.ports import Completion
from tadasu.providers.completions import OpenAICompletions, open_completions, read_completions
from tadasu.providers.registry import ChatSettings
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock
from tadasu.testing.completion_server import CompletionServer, Continued, Refusal, Shape
from tests.answering.writing import Book

pytestmark = pytest.mark.enable_socket


def model(server: CompletionServer, **more: float) -> OpenAICompletions:
    return open_completions(ChatSettings("selfrag", base_url=server.base_url, key_variable="", **more))  # type: ignore[arg-type]


def play(prompt: str) -> Continued:
    return Continued([{"[Relevant]": 0.8, "[Irrelevant]": 0.1, "x": 0.05}, f"after {prompt} 回答", "</s>"])


async def completed(server: CompletionServer, book: Book, **more: float) -> list[Completion]:
    made = model(server, **more)
    try:
        return list(await made.complete(["a", "資料"], max_tokens=50, logprobs=2, ledger=book, stage=Stage.GENERATE))
    finally:
        await made.close()


@pytest.mark.parametrize("shape", [Shape.VLLM, Shape.LLAMACPP, Shape.LLAMACPP_LIST])
async def test_prompts_go_in_one_request_and_come_back_in_order_with_their_likelihoods(shape: Shape) -> None:
    book = Book()
    with CompletionServer(play, shape=shape) as server:
        found = await completed(server, book)
    assert [one.text for one in found] == ["[Relevant]after a 回答</s>", "[Relevant]after 資料 回答</s>"]
    first = found[1].tokens[0]
    assert first.text == "[Relevant]"
    assert math.exp(first.logprob or 0.0) == pytest.approx(0.8)
    assert first.likeliest == pytest.approx({"[Relevant]": math.log(0.8), "[Irrelevant]": math.log(0.1)})
    assert len(server.requests) == 1
    body = server.requests[0]
    assert (body["logprobs"], body["max_tokens"], body["temperature"]) == (2, 50, 0.0)
    assert body["skip_special_tokens"] is False
    call = book.calls[0]
    assert (call.stage, call.items, call.tokens, call.outcome) == (Stage.GENERATE, 2, Tokens(2, 6), Outcome.OK)
    assert (call.pricing, call.cost_usd) == (Pricing.LOCAL, 0.0)


async def test_a_server_that_tells_no_likelihoods_and_no_counts_is_estimated() -> None:
    book = Book()
    with CompletionServer(play, shape=Shape.SILENT) as server:
        found = await completed(server, book, price_in=1.0, price_out=2.0)
    assert [one.tokens for one in found] == [(), ()]
    call = book.calls[0]
    assert call.tokens.estimated
    assert call.tokens.output > 0
    assert call.cost_usd == pytest.approx((call.tokens.input + 2 * call.tokens.output) / 1e6)


@pytest.mark.parametrize(
    ("refusal", "error", "free"),
    [
        (Refusal(429, headers={"retry-after": "3"}), ProviderLimited, True),
        (Refusal(503), ProviderUnreachable, True),
        (Refusal(401), ProviderRefused, True),
        (Refusal(400, '{"error": {"message": "maximum context length is 4096 tokens"}}'), ContextTooLong, True),
        (Refusal(307, headers={"location": "http://127.0.0.1:9/"}), ProviderRefused, True),
        (Refusal(200, "<html>"), ProviderAnswerInvalid, False),
        (Refusal(200, '{"choices": [{"index": 0, "text": "one"}]}'), ReplyMalformed, False),
        (Refusal(200, '{"choices": [{"index": 0, "text": "a"}, {"index": 0, "text": "b"}]}'), ReplyMalformed, False),
        (
            Refusal(200, '{"choices": [{"text": "a", "finish_reason": "content_filter"}, {"text": "b"}]}'),
            ContentRefused,
            False,
        ),
    ],
)
async def test_every_failure_has_a_name_and_a_line(refusal: Refusal, error: type[TadasuError], free: bool) -> None:
    book = Book()
    with CompletionServer(lambda prompt: refusal) as server, pytest.raises(error) as caught:
        await completed(server, book)
    assert type(caught.value) is error
    call = book.calls[0]
    assert call.outcome is Outcome.FAILED
    assert call.error.startswith(error.code)
    assert (call.tokens == Tokens()) is free


async def test_nobody_there_is_unreachable() -> None:
    with CompletionServer(play) as server:
        address = server.base_url
    made = open_completions(ChatSettings("m", base_url=address, key_variable=""))
    with pytest.raises(ProviderUnreachable):
        await made.complete(["a"], max_tokens=5, logprobs=1, ledger=Book(), stage=Stage.GENERATE)
    await made.close()


async def test_the_budget_is_asked_before_the_call() -> None:
    ledger = RunLedger(SystemClock())
    budget = Budget(Limits(tokens=40), ledger)
    with CompletionServer(play) as server:
        made = model(server)
        with pytest.raises(RunBudgetSpent):
            await made.complete(["a", "b"], max_tokens=50, logprobs=1, ledger=budget, stage=Stage.GENERATE)
        assert server.requests == []
        assert (await made.complete(["a"], max_tokens=5, logprobs=1, ledger=budget, stage=Stage.GENERATE))[0].text
        await made.close()


async def test_the_key_is_sent_and_a_missing_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "s3cret")
    with CompletionServer(play) as server:
        made = open_completions(ChatSettings("m", base_url=server.base_url, key_variable="OUR_KEY"))
        await made.complete(["a"], max_tokens=5, logprobs=1, ledger=Book(), stage=Stage.GENERATE)
        await made.close()
        assert server.keys == ["Bearer s3cret"]
    monkeypatch.delenv("OUR_KEY")
    afar = open_completions(ChatSettings("m", base_url="https://models.example/v1", key_variable="OUR_KEY"))
    assert afar.missing_key == "OUR_KEY"
    with pytest.raises(KeyMissing):
        await afar.complete(["a"], max_tokens=5, logprobs=1, ledger=Book(), stage=Stage.GENERATE)
    await afar.close()


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {"tokens": ["a"], "token_logprobs": []},
        {"content": ["x"]},
    ],
)
def test_likelihoods_in_no_known_shape_are_none(logprobs: object) -> None:
    found = read_completions({"choices": [{"text": "a", "logprobs": logprobs}]}, 1, provider="x")
    assert found[0].tokens == ()


def test_a_likelihood_that_is_no_number_is_unknown() -> None:
    told = {"tokens": ["a", "b"], "token_logprobs": [None, 0.1], "top_logprobs": [{"a": float("-inf"), "c": -1}, None]}
    found = read_completions({"choices": [{"text": "ab", "logprobs": told}]}, 1, provider="x")[0].tokens
    assert [(one.logprob, dict(one.likeliest)) for one in found] == [(None, {"c": -1.0}), (0.0, {})]
