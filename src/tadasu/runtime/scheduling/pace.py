"""How fast a provider lets us go: slower at once when it says "too many", faster again bit by bit."""

from __future__ import annotations

_STEP = 0.01
_SLOWEST = 0.01
_FORGOTTEN_S = 60.0
_ONE_EVENT_S = 1.0


class Pace:
    """A share of the limits, additive increase and multiplicative decrease (Chiu and Jain, 1989). Guarded by its owner.

    Refusals within a second are one event: fifty calls that were sent together and refused together halve the pace
    once. After a minute without a refusal it is forgotten.
    """

    def __init__(self) -> None:
        self._share = 1.0
        self._slowed_at = float("-inf")
        self._in_a_row = 0

    def share(self, now: float) -> float:
        """The pace at `now`, in [0.01, 1]."""
        if self._share < 1.0 and now - self._slowed_at > _FORGOTTEN_S:
            self._share = 1.0
        return self._share

    @property
    def events(self) -> int:
        """Refusals in a row, those within a second counted as one."""
        return self._in_a_row

    def slower(self, now: float) -> bool:
        """The provider refused a call; whether that is news."""
        if now - self._slowed_at < _ONE_EVENT_S:
            return False
        self._share = max(_SLOWEST, self.share(now) / 2.0)
        self._slowed_at = now
        self._in_a_row += 1
        return True

    def faster(self) -> None:
        """The provider served a call."""
        self._share = min(1.0, self._share + _STEP)
        self._in_a_row = 0
