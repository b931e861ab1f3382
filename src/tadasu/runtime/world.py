"""The real world behind the ports Clock, Ids and Chance, and a replayable one for tests and replays."""

from __future__ import annotations

import random
import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """Seconds on the monotonic clock."""
        return time.perf_counter()


class SystemIds:
    """Ids that sort by time: kind, milliseconds since 1970 in base 16, 40 random bits."""

    def new(self, kind: str) -> str:
        """A fresh id, such as ``run-01934f2ab3c1-9f86d08188``."""
        return f"{kind}-{time.time_ns() // 1_000_000:012x}-{uuid.uuid4().hex[:10]}"


class SystemChance:
    """The operating system's randomness."""

    def token(self) -> str:
        """Sixteen unguessable hexadecimal digits."""
        return secrets.token_hex(8)

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return secrets.randbits(53) / (1 << 53)


class FixedWorld:
    """Clock, ids and chance in one, the same at every replay: time moves only when told, ids count up.

    >>> world = FixedWorld(seed=1)
    >>> world.new("run"), world.new("run")
    ('run-000001', 'run-000002')
    """

    def __init__(self, *, seed: int = 0, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._seconds = 0.0
        self._count = 0
        self._random = random.Random(seed)  # noqa: S311 - replays need the same numbers again

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self._seconds += seconds

    def now(self) -> datetime:
        """The start plus what has passed."""
        return self._start + timedelta(seconds=self._seconds)

    def elapsed(self) -> float:
        """Seconds that have passed."""
        return self._seconds

    def new(self, kind: str) -> str:
        """The next id."""
        self._count += 1
        return f"{kind}-{self._count:06d}"

    def token(self) -> str:
        """The next word of the seeded sequence."""
        return f"{self._random.getrandbits(64):016x}"

    def uniform(self) -> float:
        """The next number of the seeded sequence."""
        return self._random.random()
