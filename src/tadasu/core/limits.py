"""What a provider takes, and the answer to one who asks for a place there."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

SLACK = 1.05
"""Windows are so much longer than they need be: calls that leave a second apart may arrive a little closer together."""


@dataclass(frozen=True, slots=True)
class Ration:
    """Limits of one provider: calls in flight, starts per second, tokens per minute. None: no limit."""

    in_flight: int = 10
    per_second: float | None = 50.0
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise ValueError(f"at least one call is in flight, not {self.in_flight}")
        if self.per_second is not None and not self.per_second > 0.0:
            raise ValueError(f"starts per second are more than 0, not {self.per_second}")
        if self.tokens_per_minute is not None and self.tokens_per_minute < 1:
            raise ValueError(f"tokens per minute are at least 1, not {self.tokens_per_minute}")

    @property
    def window(self) -> tuple[int, float] | None:
        """Starts, and the seconds in which no more than so many may be; None without a limit.

        >>> Ration(per_second=50.0).window, Ration(per_second=0.5).window
        ((50, 1.05), (1, 2.1))
        """
        if self.per_second is None:
            return None
        starts = max(1, math.ceil(self.per_second))
        return starts, SLACK * starts / self.per_second

    def paced(self, pace: float) -> Ration:
        """The ration at a slower pace, a share in (0, 1]; never less than one call at a time."""
        if pace >= 1.0:
            return self
        return replace(
            self,
            in_flight=max(1, math.ceil(self.in_flight * pace)),
            per_second=None if self.per_second is None else self.per_second * pace,
        )


@dataclass(frozen=True, slots=True)
class Admission:
    """A place (its `ticket` gives it back), or none and how long to wait before asking again.

    `closed` says that the provider itself asked for that wait.
    """

    ticket: str = ""
    wait_s: float = 0.0
    closed: bool = False
