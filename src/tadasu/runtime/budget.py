"""Limits of one run, checked before the spend (DESIGN §3.4)."""

from __future__ import annotations

from dataclasses import dataclass

from tadasu.core.usage import Call, total
from tadasu.errors import BudgetSpent
from tadasu.runtime.ledger import RunLedger


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use: seconds, calls of outside services, US dollars. None means no limit."""

    seconds: float | None = 60.0
    calls: int | None = 100
    usd: float | None = None


class Budget:
    """Says no before a call that would go over. It can be handed on as the run's ledger, which writes into that."""

    def __init__(self, limits: Limits, ledger: RunLedger) -> None:
        self._limits = limits
        self._ledger = ledger

    def record(self, call: Call) -> None:
        """Add one call to the run's ledger."""
        self._ledger.record(call)

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began."""
        return self._ledger.elapsed_ms()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, not below 0; None without one."""
        if self._limits.seconds is None:
            return None
        return max(0.0, self._limits.seconds - self._ledger.elapsed_ms() / 1000.0)

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        """Raise BudgetSpent where `what`, at an estimated cost of `usd`, does not fit any more.

        `under_way` is how many calls have begun and are not in the ledger yet.
        """
        left = self.seconds_left
        if left is not None and left <= 0.0:
            raise BudgetSpent(what=f"{self._limits.seconds:g} s had passed before {what}")
        calls = self._ledger.calls
        if self._limits.calls is not None and len(calls) + under_way >= self._limits.calls:
            raise BudgetSpent(what=f"{self._limits.calls} calls were made before {what}")
        if self._limits.usd is not None and total(calls).usd + usd > self._limits.usd:
            raise BudgetSpent(what=f"${self._limits.usd:g} would be passed by {what}")
