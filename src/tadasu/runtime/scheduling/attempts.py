"""Ledgers that number the attempts of one errand: what fails and is tried again stays in the run's ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tadasu.core.usage import Call, Charge, Priority
from tadasu.ports import Allowance, Ledger, Purse, Standing

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Attempts:
    """The attempts of one errand, numbered through: a provider that tries twice by itself counts as two."""

    ledger: Ledger
    _highest: int = 0
    _before: int = 0

    def next(self) -> Ledger:
        """The ledger for the next attempt. It offers whatever the run's own ledger does."""
        self._before = self._highest
        return _numbered(self.ledger, self._number)

    def _number(self, call: Call) -> Call:
        attempt = self._before + call.attempt
        self._highest = max(self._highest, attempt)
        return replace(call, attempt=attempt)


def standing(ledger: Ledger) -> tuple[Priority, str]:
    """How urgent the calls of this run are, and for which tenant; NORMAL for nobody where its ledger does not say."""
    return (ledger.priority, ledger.tenant) if isinstance(ledger, Standing) else (Priority.NORMAL, "")


def _numbered(ledger: Ledger, number: Callable[[Call], Call]) -> Ledger:
    if isinstance(ledger, Purse) and isinstance(ledger, Allowance):
        return _NumberedPurse(ledger, number, ledger, ledger)
    return _NumberedAllowance(ledger, number, ledger) if isinstance(ledger, Allowance) else _Numbered(ledger, number)


class _Numbered:
    """ports.Ledger."""

    def __init__(self, ledger: Ledger, number: Callable[[Call], Call]) -> None:
        self._ledger = ledger
        self._number = number
        self.priority, self.tenant = standing(ledger)

    def record(self, call: Call) -> None:
        self._ledger.record(self._number(call))

    def elapsed_ms(self) -> float:
        return self._ledger.elapsed_ms()


class _NumberedAllowance(_Numbered):
    """ports.Allowance too."""

    def __init__(self, ledger: Ledger, number: Callable[[Call], Call], allowance: Allowance) -> None:
        super().__init__(ledger, number)
        self._allowance = allowance

    @property
    def seconds_left(self) -> float | None:
        return self._allowance.seconds_left

    def check(self, what: str, *, usd: float = 0.0, under_way: int = 0) -> None:
        self._allowance.check(what, usd=usd, under_way=under_way)


class _NumberedPurse(_NumberedAllowance):
    """ports.Purse too."""

    def __init__(self, ledger: Ledger, number: Callable[[Call], Call], allowance: Allowance, purse: Purse) -> None:
        super().__init__(ledger, number, allowance)
        self._purse = purse

    @asynccontextmanager
    async def hold(self, charge: Charge) -> AsyncIterator[Ledger]:
        async with self._purse.hold(charge) as held:
            yield _numbered(held, self._number)
