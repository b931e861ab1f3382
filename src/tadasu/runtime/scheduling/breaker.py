"""A circuit breaker: a provider that keeps failing is left alone for a while, then tried with one call."""

from __future__ import annotations

import enum
from collections import deque

from tadasu.runtime.scheduling.rules import BreakerRules


class Circuit(enum.Enum):
    """CLOSED lets calls through, OPEN none, TRYING one."""

    CLOSED = "closed"
    OPEN = "open"
    TRYING = "trying"


class Health(enum.Enum):
    """What a call says about its provider. UNKNOWN: it was cancelled, or failed for a reason of our own."""

    WELL = "well"
    FAULT = "fault"
    UNKNOWN = "unknown"


class Breaker:
    """The circuit of one provider. Without a lock: its owner guards it. Times are seconds on one clock."""

    def __init__(self, rules: BreakerRules) -> None:
        self._rules = rules
        self._circuit = Circuit.CLOSED
        self._recent: deque[Health] = deque(maxlen=rules.window)
        self._in_a_row = 0
        self._again_at = 0.0
        self._pause_s = rules.pause_s

    @property
    def circuit(self) -> Circuit:
        """The state; OPEN also when its pause is over and nobody has tried yet."""
        return self._circuit

    def closed_for(self, now: float) -> float | None:
        """Seconds until a call may try, 0 where one is trying now; None where the next call may go."""
        match self._circuit:
            case Circuit.CLOSED:
                return None
            case Circuit.TRYING:
                return 0.0
            case Circuit.OPEN:
                return self._again_at - now if now < self._again_at else None

    def begin(self) -> bool:
        """A call starts; whether it is the one that tries. Call it only where `closed_for` gives None."""
        if self._circuit is Circuit.CLOSED:
            return False
        self._circuit = Circuit.TRYING
        return True

    def ended(self, health: Health, now: float, *, trying: bool) -> Circuit | None:
        """A call ended; the state where this changed it, else None. `trying` is what `begin` said."""
        if trying:
            return self._tried(health, now)
        if self._circuit is not Circuit.CLOSED or health is Health.UNKNOWN:
            return None
        self._recent.append(health)
        self._in_a_row = self._in_a_row + 1 if health is Health.FAULT else 0
        rules = self._rules
        faults = self._recent.count(Health.FAULT)
        too_many = len(self._recent) == rules.window and faults >= rules.share * rules.window
        if health is Health.FAULT and (self._in_a_row >= rules.faults or too_many):
            return self._open(now)
        return None

    def _tried(self, health: Health, now: float) -> Circuit:
        match health:
            case Health.WELL:
                self._circuit = Circuit.CLOSED
                self._recent.clear()
                self._in_a_row = 0
                self._pause_s = self._rules.pause_s
            case Health.FAULT:
                self._pause_s = min(self._rules.longest_pause_s, 2.0 * self._pause_s)
                return self._open(now)
            case Health.UNKNOWN:
                # The one that tried was called off: the next call tries at once.
                self._circuit, self._again_at = Circuit.OPEN, now
        return self._circuit

    def _open(self, now: float) -> Circuit:
        self._circuit, self._again_at = Circuit.OPEN, now + self._pause_s
        return self._circuit
