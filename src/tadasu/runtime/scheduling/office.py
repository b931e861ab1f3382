"""What all turns share: the store of limits, the world, the rules, who listens, and what each run has under way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tadasu.ports import Allowance, Chance, Clock, Errand, Ledger, LimitStore, Purse
from tadasu.runtime.scheduling.happenings import Happening, Kind, Listener
from tadasu.runtime.scheduling.rules import Rules

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class UnderWay:
    """Calls that have begun and are in no ledger yet, by ledger: a run's limits count them too."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _usd: dict[int, list[float]] = field(default_factory=dict)

    def add(self, ledger: Ledger, usd: float) -> tuple[int, float]:
        """One more; how many there were before, and their estimated price."""
        with self._lock:
            begun = self._usd.setdefault(id(ledger), [])
            before = len(begun), sum(begun)
            begun.append(usd)
            return before

    def remove(self, ledger: Ledger, usd: float) -> None:
        """One less."""
        with self._lock:
            begun = self._usd[id(ledger)]
            begun.remove(usd)
            if not begun:
                del self._usd[id(ledger)]


@dataclass(frozen=True, slots=True)
class Office:
    """See the module."""

    store: LimitStore
    clock: Clock
    chance: Chance
    rules: Rules
    listen: Listener
    under_way: UnderWay = field(default_factory=UnderWay)

    def tell(self, kind: Kind, errand: Errand, *, attempt: int = 1, seconds: float = 0.0, reason: str = "") -> None:
        """Tell the listener."""
        try:
            self.listen(Happening(kind, errand, attempt, seconds, reason))
        except Exception:  # noqa: BLE001 - a listener that only counts must never cost a call its place
            _log.exception("A listener of the scheduler failed.")

    @contextmanager
    def counted(self, errand: Errand, ledger: Ledger) -> Iterator[None]:
        """Count a call as begun before the run's limits are asked; taken back where the block raises."""
        calls, usd = self.under_way.add(ledger, errand.usd)
        try:
            if isinstance(ledger, Allowance):
                # A purse counts by itself what the calls under way may cost.
                others = 0.0 if isinstance(ledger, Purse) else usd
                ledger.check(errand.what, usd=others + errand.usd, under_way=calls)
            yield
        except BaseException:
            self.under_way.remove(ledger, errand.usd)
            raise
