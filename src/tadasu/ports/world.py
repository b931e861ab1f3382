"""The world: time, identifiers, chance."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


class Clock(Protocol):
    """Time, so that a run can be replayed."""

    def now(self) -> datetime:
        """The current time, with time zone."""
        ...

    def elapsed(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


class Ids(Protocol):
    """New identifiers."""

    def new(self, kind: str) -> str:
        """A fresh id such as ``run-…``; never the same twice."""
        ...


class Chance(Protocol):
    """Randomness (jitter, delimiters, sampling)."""

    def token(self) -> str:
        """An unguessable word of letters and digits."""
        ...

    def uniform(self) -> float:
        """A number in [0, 1)."""
        ...
