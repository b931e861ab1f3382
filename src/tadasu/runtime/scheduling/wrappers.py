"""Chat models, scorers and web searches behind the scheduler: they make one attempt a call and know nothing of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from tadasu.core.retrieved import WebPage
from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Stage, estimated_tokens
from tadasu.errors import ProviderLimited, ProviderUnreachable
from tadasu.ports import ChatDelta, ChatModel, Claim, Errand, Ledger, Message, PairScorer, SupportModel, WebSearch
from tadasu.runtime.scheduling.attempts import Attempts, standing
from tadasu.runtime.scheduling.rules import RetryRules
from tadasu.runtime.scheduling.scheduler import CallScheduler

if TYPE_CHECKING:
    from tadasu.core.vectors import PassageText


class _Scheduled:
    """What the wrappers have in common. `provider` is the name whose limits count."""

    def __init__(self, inner: object, scheduler: CallScheduler, *, provider: str) -> None:
        self._closing = getattr(inner, "close", None)
        self._scheduler = scheduler
        self._provider = provider

    async def close(self) -> None:
        """Close what is scheduled, where it can be closed."""
        if self._closing is not None:
            await self._closing()

    def _errand(self, stage: Stage, what: str, ledger: Ledger, *, tokens: int = 0) -> Errand:
        priority, tenant = standing(ledger)
        return Errand(self._provider, stage, what, tokens=tokens, priority=priority, tenant=tenant)


class ScheduledChat(_Scheduled):
    """ports.ChatModel. A call is tried again only while nothing of its reply has been passed on.

    The turn lasts as long as the reply is read; a reader that walks away ends it. Tokens per minute count the messages
    by an upper estimate and as many tokens of a reply as may come.
    """

    def __init__(self, inner: ChatModel, scheduler: CallScheduler, *, provider: str) -> None:
        super().__init__(inner, scheduler, provider=provider)
        self._inner = inner

    @property
    def id(self) -> str:
        """The model's own."""
        return self._inner.id

    async def window(self) -> int | None:
        """The model's own; None where it does not say."""
        ask = getattr(self._inner, "window", None)
        found: int | None = await ask() if ask is not None else None
        return found

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, temperature: float, ledger: Ledger, stage: Stage
    ) -> AsyncGenerator[ChatDelta, None]:
        """As the model's own; raises what `ports.Scheduler.turn` does, too."""
        tokens = estimated_tokens(*(message.content for message in messages)) + max_tokens
        errand = self._errand(stage, f"a call of {self.id}", ledger, tokens=tokens)
        scheduler, attempts = self._scheduler, Attempts(ledger)
        since, attempt, begun = scheduler.now(), 1, False
        while True:
            try:
                turn = scheduler.attempt(errand, attempt, ledger=ledger, since=since)
                async with turn:
                    reply = self._inner.stream(
                        messages, max_tokens=max_tokens, temperature=temperature, ledger=attempts.next(), stage=stage
                    )
                    async with aclosing(cast("Any", reply)):
                        async for delta in reply:
                            if not begun:
                                begun = True
                                turn.answers()
                            yield delta
            except (ProviderUnreachable, ProviderLimited) as error:
                if begun:
                    raise
                await scheduler.recover(errand, error, attempt=attempt, ledger=ledger)
                attempt += 1
            else:
                return


class ScheduledScorer(_Scheduled):
    """ports.PairScorer. One turn is one call of `score`, however many requests the scorer makes for it in turn."""

    def __init__(self, inner: PairScorer, scheduler: CallScheduler, *, provider: str) -> None:
        super().__init__(inner, scheduler, provider=provider)
        self._inner = inner

    @property
    def id(self) -> str:
        """The scorer's own."""
        return self._inner.id

    @property
    def scale(self) -> ScoreScale:
        """The scorer's own."""
        return self._inner.scale

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        """As the scorer's own; raises what `ports.Scheduler.call` does, too."""
        attempts = Attempts(ledger)

        async def work(_: int) -> Sequence[PairScore]:
            return await self._inner.score(question, passages, ledger=attempts.next())

        tokens = estimated_tokens(*(passage.text for passage in passages)) + len(passages) * estimated_tokens(question)
        errand = self._errand(Stage.GRADE, f"scoring by {self._provider}", ledger, tokens=tokens)
        return await self._scheduler.call(errand, work, ledger=ledger)


class ScheduledChecker(_Scheduled):
    """ports.SupportModel. One turn is one call of `support`, with all its claims."""

    def __init__(self, inner: SupportModel, scheduler: CallScheduler, *, provider: str) -> None:
        super().__init__(inner, scheduler, provider=provider)
        self._inner = inner

    @property
    def id(self) -> str:
        """The checker's own."""
        return self._inner.id

    async def support(self, claims: Sequence[Claim], *, ledger: Ledger) -> Sequence[float]:
        """As the checker's own; raises what `ports.Scheduler.call` does, too."""
        attempts = Attempts(ledger)

        async def work(_: int) -> Sequence[float]:
            return await self._inner.support(claims, ledger=attempts.next())

        tokens = estimated_tokens(*(text for one in claims for text in (one.question, one.sentence, one.source)))
        errand = self._errand(Stage.CHECK, f"checking by {self._provider}", ledger, tokens=tokens)
        return await self._scheduler.call(errand, work, ledger=ledger)


class ScheduledWebSearch(_Scheduled):
    """ports.WebSearch. `retry`: how patient it is; where another provider stands behind this one, less is better."""

    def __init__(
        self, inner: WebSearch, scheduler: CallScheduler, *, provider: str = "", retry: RetryRules | None = None
    ) -> None:
        super().__init__(inner, scheduler, provider=provider or inner.id)
        self._inner = inner
        self._retry = retry

    @property
    def id(self) -> str:
        """The provider's own."""
        return self._inner.id

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """As the provider's own; raises what `ports.Scheduler.call` does, too."""
        attempts = Attempts(ledger)

        async def work(_: int) -> Sequence[WebPage]:
            return await self._inner.search(query, limit=limit, language=language, ledger=attempts.next())

        errand = self._errand(Stage.SEARCH, f"a search by {self._inner.id}", ledger)
        return await self._scheduler.call(errand, work, ledger=ledger, retry=self._retry)
