from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

import pytest

from tadasu.core.usage import Call, Charge, Outcome, Pricing, Stage, Tokens, estimated_tokens
from tadasu.errors import BudgetSpent, PriceUnknown
from tadasu.ports import ChatDelta, Ledger, Message
from tadasu.providers.billing import BilledChat
from tadasu.providers.registry import ChatSettings
from tadasu.providers.scripted import ScriptedChat
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld

ASKED = (Message("system", "Answer."), Message("user", "保証期間は何年ですか"))
PRICED = ChatSettings("house-1", price_in=2.0, price_out=8.0)


class Paid:
    """Says three pieces; its line stands in the ledger when it is done, or closed, as the protocol wants."""

    id = "house/house-1"

    def __init__(self) -> None:
        self.calls = 0
        self.held: list[Charge] = []
        self.closed = False

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncIterator[ChatDelta]:
        self.calls += 1
        tokens, outcome = Tokens(), Outcome.CANCELLED
        try:
            for piece in ("It is ", "24 ", "months."):
                yield ChatDelta(piece)
            tokens, outcome = Tokens(50, 10), Outcome.OK
            yield ChatDelta(tokens=tokens, finish="stop")
        finally:
            known = outcome is Outcome.OK
            cost = (50 * 2.0 + 10 * 8.0) / 1e6 if known else None
            pricing = Pricing.PRICED if known else Pricing.UNPRICED
            ledger.record(
                Call(stage, "house", "house-1", tokens=tokens, cost_usd=cost, pricing=pricing, outcome=outcome)
            )

    async def close(self) -> None:
        self.closed = True


async def said(chat: BilledChat, ledger: Ledger, *, max_tokens: int = 100) -> str:
    stream = chat.stream(ASKED, max_tokens=max_tokens, temperature=0.0, ledger=ledger, stage=Stage.GENERATE)
    return "".join([delta.text async for delta in stream])


def budget(**limits: Any) -> tuple[Budget, RunLedger]:
    ledger = RunLedger(FixedWorld())
    return Budget(Limits(**limits), ledger), ledger


async def test_what_fits_goes_through_unchanged_and_its_true_cost_takes_the_place_of_the_estimate() -> None:
    limited, ledger = budget(usd=0.01)
    chat = BilledChat(Paid(), PRICED)
    assert chat.id == "house/house-1"
    assert await said(chat, limited) == "It is 24 months."
    assert limited.used.usd == pytest.approx(180 / 1e6)
    assert limited.held.usd == 0.0
    assert [call.outcome for call in ledger.calls] == [Outcome.OK]
    await chat.close()


async def test_what_does_not_fit_is_never_asked() -> None:
    model = Paid()
    tokens = estimated_tokens(*(message.content for message in ASKED))
    enough = (tokens * 2.0 + 100 * 8.0) / 1e6
    with pytest.raises(BudgetSpent, match="writing the answer"):
        await said(BilledChat(model, PRICED), budget(usd=enough * 0.999)[0])
    with pytest.raises(BudgetSpent, match="budget.tokens"):
        await said(BilledChat(model, PRICED), budget(tokens=tokens + 99)[0])
    with pytest.raises(PriceUnknown):
        await said(BilledChat(model, ChatSettings("no-such-model-9")), budget(usd=9.0, prices_needed=True)[0])
    assert model.calls == 0
    assert await said(BilledChat(model, PRICED), budget(usd=enough * 1.001, tokens=tokens + 100)[0])


async def test_a65_a_reader_that_walks_away_leaves_a_line_and_an_unknown_cost_counts_with_its_estimate() -> None:
    limited, ledger = budget(usd=0.01)
    stream = BilledChat(Paid(), PRICED).stream(
        ASKED, max_tokens=100, temperature=0.0, ledger=limited, stage=Stage.GENERATE
    )
    async with aclosing(cast("Any", stream)):
        async for delta in stream:
            assert delta.text == "It is "
            break
    assert [(call.outcome, call.cost_usd) for call in ledger.calls] == [(Outcome.CANCELLED, None)]
    assert limited.held.usd == 0.0
    assert limited.used.usd > 0.0008  # a hundred tokens of a reply at eight dollars per million, and the prompt


async def test_a_model_that_is_free_needs_no_price_and_a_plain_ledger_no_estimate() -> None:
    free = BilledChat(ScriptedChat(["yes"]), ChatSettings("script"))
    assert await said(free, budget(usd=0.0, prices_needed=True)[0]) == "yes"
    ledger = RunLedger(FixedWorld())
    assert await said(BilledChat(Paid(), PRICED), ledger) == "It is 24 months."
    assert len(ledger.calls) == 1


@pytest.mark.parametrize(
    ("text", "least"), [("The warranty is 24 months.", 6), ("保証期間は二十四か月です。", 13), ("", 0)]
)
def test_estimates_of_tokens_are_upper_ones(text: str, least: int) -> None:
    assert estimated_tokens(text) >= least
    assert estimated_tokens(text, text) == 2 * estimated_tokens(text)
