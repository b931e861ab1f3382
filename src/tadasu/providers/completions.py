"""Raw completions with log probabilities, from any server with OpenAI's older ``/v1/completions``: vLLM, llama.cpp.

All prompts go in one request. Two shapes of log probabilities are read: parallel lists (OpenAI's own, vLLM:
``{"tokens", "token_logprobs", "top_logprobs": [{token: logprob}]}``) and a list of places (llama.cpp:
``{"content": [{"token", "logprob", "top_logprobs": [{"token", "logprob"}]}]}``). Special tokens are asked for as text:
vLLM by ``skip_special_tokens``, while llama.cpp has to be started with ``--special``.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence

from tadasu.core.usage import Call, Charge, Outcome, Stage, Tokens, estimated_tokens
from tadasu.errors import ContentRefused, ProviderRefused, ReplyMalformed, TadasuError
from tadasu.ports import Allowance, Completion, Ledger, WrittenToken
from tadasu.providers.chat_faults import fault_of
from tadasu.providers.http import JsonService
from tadasu.providers.prices import price_of
from tadasu.providers.registry import ChatSettings
from tadasu.runtime.budget import spending

_KEY_SETTING = "chat.key_variable"
_PATH = "/completions"
_MOST_BYTES = 64 * 2**20
"""Twenty likeliest tokens at each of some thousand places take megabytes."""


class OpenAICompletions:
    """ports.CompletionModel. One attempt a call: retries belong to the scheduler. No network before the first call.

    Raises SettingsInvalid where `settings.base_url` cannot be an address.
    """

    def __init__(self, settings: ChatSettings) -> None:
        base = settings.base_url.strip().rstrip("/")
        url = base if not base or base.endswith(_PATH) else base + _PATH
        self._settings = settings
        self._service = JsonService(
            url, key_variable=settings.key_variable, setting=_KEY_SETTING, most_bytes=_MOST_BYTES
        )

    @property
    def id(self) -> str:
        """``completions/`` and the model's name."""
        return f"completions/{self._settings.model}"

    @property
    def missing_key(self) -> str:
        """The environment variable that has to hold a key and does not; empty where nothing is missing."""
        return self._service.missing_key

    async def complete(
        self, prompts: Sequence[str], *, max_tokens: int, logprobs: int, ledger: Ledger, stage: Stage
    ) -> Sequence[Completion]:
        """See `ports.CompletionModel`. Tokens that the service does not count are estimated and marked so.

        Raises:
            BudgetSpent, PriceUnknown: before the call, where the run's limits do not allow it.
            KeyMissing, ProviderUnreachable, ProviderLimited, ProviderRefused, ProviderAnswerInvalid: as
                `JsonService.post` does.
            ContextTooLong: a prompt and its reply do not fit the model's window.
            ContentRefused: a filter stopped a completion.
            ReplyMalformed: there is not one completion for each prompt.
        """
        if not prompts:
            return []
        most = Tokens(estimated_tokens(*prompts), max_tokens * len(prompts))
        # The first look into the price list loads it, which takes most of a second.
        usd = (await asyncio.to_thread(price_of, most, self._settings)).usd
        charge = Charge(
            "writing the answer", usd, most.input + most.output, provider="completions", model=self._settings.model
        )
        async with spending(ledger, charge) as held:
            return await self._recorded(prompts, max_tokens, logprobs, held, stage)

    async def _recorded(
        self, prompts: Sequence[str], max_tokens: int, logprobs: int, ledger: Ledger, stage: Stage
    ) -> list[Completion]:
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        # A call that is broken off may have been served: it counts with what was sent.
        outcome, fault, tokens = Outcome.CANCELLED, "", Tokens(estimated_tokens(*prompts), 0, estimated=True)
        try:
            reply = await self._post(prompts, max_tokens, logprobs, ledger)
            tokens = _usage(reply) or tokens
            found = read_completions(reply, len(prompts), provider=self._service.name)
            if tokens.estimated:
                tokens = Tokens(tokens.input, estimated_tokens(*(one.text for one in found)), estimated=True)
            outcome = Outcome.OK
        except TadasuError as error:
            outcome, fault = Outcome.FAILED, f"{error.code}: {error}"
            if error.details.get("billable", True) is False:
                tokens = Tokens()
            raise
        else:
            return found
        finally:
            price = price_of(tokens, self._settings)
            ledger.record(
                Call(
                    stage=stage,
                    provider="completions",
                    model=self._settings.model,
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    tokens=tokens,
                    pricing=price.pricing,
                    cost_usd=price.usd,
                    outcome=outcome,
                    items=len(prompts),
                    error=fault,
                )
            )

    async def _post(self, prompts: Sequence[str], max_tokens: int, logprobs: int, ledger: Ledger) -> object:
        patience = self._settings.timeout_s
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        body: dict[str, object] = {
            "model": self._settings.model,
            "prompt": list(prompts),
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "logprobs": logprobs,
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
        }
        try:
            return await self._service.post(body, timeout_s=patience if left is None else min(patience, left))
        except ProviderRefused as error:
            status = error.details.get("status")
            if not isinstance(status, int):
                raise
            said = str(error.details.get("reason", "")).removeprefix(f"HTTP {status}: ")
            raise fault_of(self._service.name, self._settings.model, message=said, status=status) from error

    async def close(self) -> None:
        """Give back connections."""
        await self._service.close()


def open_completions(settings: ChatSettings) -> OpenAICompletions:
    """A completion model for `settings`; raises SettingsInvalid where the address cannot be one."""
    return OpenAICompletions(settings)


def read_completions(reply: object, wanted: int, *, provider: str) -> list[Completion]:
    """The completions of a reply, by their index; some servers answer a list of prompts with a list of replies.

    Raises:
        ReplyMalformed: there are not `wanted` of them, each once.
        ContentRefused: a filter stopped one.
    """
    bodies = reply if isinstance(reply, list) else [reply]
    rows: list[Mapping[str, object]] = []
    for body in bodies:
        choices = body.get("choices") if isinstance(body, dict) else None
        rows += [row for row in choices if isinstance(row, dict)] if isinstance(choices, list) else []
    alone = isinstance(reply, list)  # then every index is 0, and their order counts
    by_index = {number if alone else row.get("index", number): row for number, row in enumerate(rows)}
    if len(rows) != wanted or set(by_index) != set(range(wanted)):
        reason = f"it holds {len(rows)} completions for {wanted} prompts, or not one for each"
        raise ReplyMalformed(provider=provider, reason=reason)
    return [_completion(by_index[number], provider) for number in range(wanted)]


def _completion(row: Mapping[str, object], provider: str) -> Completion:
    text = row.get("text")
    if not isinstance(text, str):
        raise ReplyMalformed(provider=provider, reason="a completion holds no text")
    finish = row.get("finish_reason")
    if finish == "content_filter":
        raise ContentRefused(provider=provider, reason="a content filter stopped the reply")
    return Completion(text, _tokens(row.get("logprobs")), "length" if finish == "length" else "stop")


def _tokens(told: object) -> tuple[WrittenToken, ...]:
    """The tokens with their log probabilities, in either shape; none where they are not told, or not in full."""
    if not isinstance(told, dict):
        return ()
    places = told.get("content")
    if isinstance(places, list):
        return tuple(_place(place) for place in places if isinstance(place, dict))
    names, values, tops = told.get("tokens"), told.get("token_logprobs"), told.get("top_logprobs")
    if not isinstance(names, list) or not isinstance(values, list) or len(names) != len(values):
        return ()
    if not isinstance(tops, list) or len(tops) != len(names):
        tops = [None] * len(names)
    return tuple(
        WrittenToken(str(name), _logprob(value), _top(top))
        for name, value, top in zip(names, values, tops, strict=True)
    )


def _place(place: Mapping[str, object]) -> WrittenToken:
    listed = place.get("top_logprobs")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    top = _top({str(row.get("token", "")): row.get("logprob") for row in rows})
    return WrittenToken(str(place.get("token", "")), _logprob(place.get("logprob")), top)


def _top(told: object) -> dict[str, float]:
    if not isinstance(told, dict):
        return {}
    read = {str(name): _logprob(value) for name, value in told.items()}
    return {name: value for name, value in read.items() if value is not None}


def _logprob(value: object) -> float | None:
    """A finite log probability, not above 0; None for anything else, such as the null that stands for -inf."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return min(float(value), 0.0)


def _usage(reply: object) -> Tokens | None:
    """What the service counted, over all its replies; None where it did not."""
    read: list[Tokens] = []
    for body in reply if isinstance(reply, list) else [reply]:
        usage = body.get("usage") if isinstance(body, dict) else None
        if not isinstance(usage, dict):
            return None
        counts = [usage.get("prompt_tokens"), usage.get("completion_tokens", 0)]
        if not all(type(count) is int and count >= 0 for count in counts):
            return None
        read.append(Tokens(*counts))
    return Tokens(sum(one.input for one in read), sum(one.output for one in read)) if read else None
