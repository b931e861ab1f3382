"""What the scheduler tells those who count: telemetry, tests, benchmarks."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tadasu.ports import Errand


class Kind(enum.Enum):
    """What happened. For CIRCUIT_… and SLOWED the errand is the one whose end brought it about."""

    QUEUED = "queued"
    """It has to wait."""
    STARTED = "started"
    """An attempt begins; `seconds` is how long it waited."""
    ENDED = "ended"
    """An attempt ended; `seconds` is how long it took, `reason` the error's code (empty: well)."""
    RETRIED = "retried"
    """Another attempt follows in `seconds`."""
    REFUSED = "refused"
    """It got no turn: the circuit is open, the limits are closed for long, or the budget does not allow it."""
    SLOWED = "slowed"
    """The provider limits calls: all are slower now, and closed out for `seconds`."""
    CIRCUIT_OPENED = "circuit_opened"
    CIRCUIT_CLOSED = "circuit_closed"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event; `attempt` counts from 1."""

    kind: Kind
    errand: Errand
    attempt: int = 1
    seconds: float = 0.0
    reason: str = ""


Listener: TypeAlias = Callable[[Happening], None]
"""Is called on whatever thread it happens, must be quick, and must not raise."""


def ignore(happening: Happening) -> None:
    """Listens to nothing."""
    del happening
