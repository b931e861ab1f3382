"""A completion model behind the scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from tadasu.core.usage import Stage, estimated_tokens
from tadasu.ports import Completion, CompletionModel, Errand, Ledger
from tadasu.runtime.scheduling.attempts import Attempts, standing
from tadasu.runtime.scheduling.scheduler import CallScheduler


class ScheduledCompletions:
    """ports.CompletionModel. One turn is one request with all its prompts; `provider` is whose limits count."""

    def __init__(self, inner: CompletionModel, scheduler: CallScheduler, *, provider: str) -> None:
        self._inner = inner
        self._scheduler = scheduler
        self._provider = provider

    @property
    def id(self) -> str:
        """The model's own."""
        return self._inner.id

    async def complete(
        self, prompts: Sequence[str], *, max_tokens: int, logprobs: int, ledger: Ledger, stage: Stage
    ) -> Sequence[Completion]:
        """As the model's own; raises what `ports.Scheduler.call` does, too."""
        attempts = Attempts(ledger)

        async def work(attempt: int) -> Sequence[Completion]:
            del attempt
            return await self._inner.complete(
                prompts, max_tokens=max_tokens, logprobs=logprobs, ledger=attempts.next(), stage=stage
            )

        priority, tenant = standing(ledger)
        tokens = estimated_tokens(*prompts) + max_tokens * len(prompts)
        errand = Errand(self._provider, stage, f"a call of {self.id}", tokens=tokens, priority=priority, tenant=tenant)
        return await self._scheduler.call(errand, work, ledger=ledger)

    async def close(self) -> None:
        """Close what is scheduled, where it can be closed."""
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()
