"""What services that score pairs have in common: settings that are checked at the door, one call, one ledger line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from tadasu.core.ids import digest
from tadasu.core.scores import HOW_TO_DECLARE, ScoreScale
from tadasu.core.usage import Call, Charge, Outcome, Pricing, Stage, Tokens
from tadasu.errors import SettingsInvalid, TadasuError
from tadasu.ports import Allowance, Ledger, Purse, ScorerSettings
from tadasu.providers.http import JsonService
from tadasu.providers.prices import is_local
from tadasu.runtime.budget import spending

T = TypeVar("T")
_KEY_SETTING = "scorer.key_variable"


class ScorerService:
    """A service behind one address. No network is touched before the first call.

    Args:
        settings: as the plugin was opened with.
        provider: the plugin's name, for the ledger.
        path: what follows `settings.base_url`, unless it ends so already.

    Raises:
        SettingsInvalid: the scale is not declared, or the address cannot be one.
    """

    def __init__(self, settings: ScorerSettings, *, provider: str, path: str = "") -> None:
        if settings.scale is None:
            reason = f"is not set, and scores are never guessed; {HOW_TO_DECLARE}, as the service's own manual says"
            raise SettingsInvalid(where="tadasu.toml", key="scorer.scale", reason=reason)
        url = _with_path(settings.base_url.strip(), path)
        self.scale: ScoreScale = settings.scale
        self.settings = settings
        self._provider = provider
        self._http = JsonService(url, key_variable=settings.key_variable, setting=_KEY_SETTING)
        self._local = is_local(url)
        told = settings.model or self._http.name.partition("://")[2]
        # What the scores depend on: another address, window or scale may give others under the same model's name.
        self.id = f"{provider}/{told}@{digest('|'.join((url, self.scale.value, str(settings.max_tokens))))[:8]}"

    @property
    def name(self) -> str:
        """The address, as errors show it."""
        return self._http.name

    async def call(self, body: Mapping[str, object], read: Callable[[object], T], *, pairs: int, ledger: Ledger) -> T:
        """Send `body` and give what `read` makes of the reply; tried once more where the connection was closed.

        Every attempt is written into `ledger`, with `pairs` as its items. Raises what `JsonService.post` and `read`
        raise, and BudgetSpent before a call that the run's limits do not allow.
        """
        charge = Charge(
            f"scoring by {self.name}", self._price(pairs)[1], provider=self._provider, model=self.settings.model
        )
        for attempt in (1, 2):
            if isinstance(ledger, Allowance) and not isinstance(ledger, Purse):
                ledger.check(charge.what, usd=charge.usd or 0.0)
            async with spending(ledger, charge) as held:
                try:
                    return await self._recorded(body, read, pairs, attempt, held)
                except TadasuError as error:
                    if attempt == 2 or not error.details.get("dropped"):
                        raise
        raise AssertionError("the second attempt returns or raises")

    async def _recorded(
        self, body: Mapping[str, object], read: Callable[[object], T], pairs: int, attempt: int, ledger: Ledger
    ) -> T:
        patience = self._patience(ledger)
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        outcome, fault, billable, tokens = Outcome.CANCELLED, "", True, Tokens()
        try:
            reply = await self._http.post(body, timeout_s=patience)
            tokens = _tokens(reply)
            result = read(reply)
            outcome = Outcome.OK
        except TadasuError as error:
            outcome, fault = Outcome.FAILED, f"{error.code}: {error}"
            billable = bool(error.details.get("billable", True))
            raise
        else:
            return result
        finally:
            pricing, cost = self._price(pairs if billable else 0)
            ledger.record(
                Call(
                    stage=Stage.GRADE,
                    provider=self._provider,
                    model=self.settings.model,
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    tokens=tokens,
                    pricing=pricing,
                    cost_usd=cost,
                    outcome=outcome,
                    attempt=attempt,
                    items=pairs,
                    error=fault,
                )
            )

    async def close(self) -> None:
        """Give back connections."""
        await self._http.close()

    def _patience(self, ledger: Ledger) -> float:
        """Seconds for the next call: as set, and not beyond the run's deadline."""
        usual = self.settings.timeout_s
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        return usual if left is None else min(usual, left)

    def _price(self, pairs: int) -> tuple[Pricing, float | None]:
        if self.settings.price is not None:
            return Pricing.PRICED, self.settings.price * pairs / 1000
        return (Pricing.LOCAL, 0.0) if self._local else (Pricing.UNPRICED, None)


def _with_path(address: str, path: str) -> str:
    base, mark, query = address.partition("?")
    if base and not base.rstrip("/").endswith(path):
        base = base.rstrip("/") + path
    return base + mark + query


def _tokens(reply: object) -> Tokens:
    """Tokens as the service counted them, none where it does not say."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return Tokens()
    counted = next((usage[name] for name in ("prompt_tokens", "total_tokens", "input_tokens") if name in usage), 0)
    return Tokens(input=counted) if type(counted) is int and counted >= 0 else Tokens()
