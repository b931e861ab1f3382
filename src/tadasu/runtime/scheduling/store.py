"""Counts of what is under way, within one process: the default LimitStore."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from itertools import count

from tadasu.core.limits import Admission, Ration
from tadasu.ports import Clock

MINUTE_S = 60.0
MANY = 1000
"""Beyond so many providers, those that are not called any more are forgotten."""


@dataclass(slots=True)
class _Counts:
    """What happened at one provider: tickets out, latest starts, tokens by time, and until when nobody goes."""

    out: set[str] = field(default_factory=set)
    starts: deque[float] = field(default_factory=deque)
    tokens: deque[tuple[float, int]] = field(default_factory=deque)
    spent: int = 0
    closed_until: float = 0.0

    def matters(self, now: float) -> bool:
        """Whether anything that is counted here may still keep a call waiting."""
        started = self.starts[-1] if self.starts else -MINUTE_S
        return bool(self.out or self.spent) or started > now - MINUTE_S or self.closed_until > now


class LocalLimits:
    """LimitStore in memory, exact: within any second (minute) no more starts (tokens) than the ration says.

    Its coroutines never wait for anything, and its lock is held for microseconds: any thread and event loop may ask.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._providers: dict[str, _Counts] = {}
        self._numbers = count(1)

    async def admit(self, provider: str, ration: Ration, *, tokens: int = 0, riding: bool = False) -> Admission:
        """See `ports.LimitStore`. `wait_s` is infinite where a place in flight is missing: somebody gives it back."""
        with self._lock:
            now = self._clock.elapsed()
            counts = self._counts(provider, now)
            if now < counts.closed_until:
                return Admission(wait_s=counts.closed_until - now, closed=True)
            if not riding and len(counts.out) >= ration.in_flight:
                return Admission(wait_s=float("inf"))
            asked = min(tokens, ration.tokens_per_minute) if ration.tokens_per_minute is not None else tokens
            wait = max(_starts_wait(counts, ration, now), _tokens_wait(counts, ration, asked, now))
            if wait > 0.0:
                return Admission(wait_s=wait)
            ticket = f"{'ride' if riding else 'place'}-{next(self._numbers)}"
            if ration.per_second is not None:
                counts.starts.append(now)
            if ration.tokens_per_minute is not None and asked:
                counts.tokens.append((now, asked))
                counts.spent += asked
            if not riding:
                counts.out.add(ticket)
            return Admission(ticket=ticket)

    async def give_back(self, provider: str, ticket: str) -> None:
        """The call of `ticket` has ended; unknown tickets are ignored."""
        with self._lock:
            if provider in self._providers:
                self._providers[provider].out.discard(ticket)

    async def close_for(self, provider: str, seconds: float) -> None:
        """Admit nobody at `provider` for `seconds`; what was asked for longer stays."""
        with self._lock:
            now = self._clock.elapsed()
            counts = self._counts(provider, now)
            counts.closed_until = max(counts.closed_until, now + seconds)

    def _counts(self, provider: str, now: float) -> _Counts:
        counts = self._providers.get(provider)
        if counts is None:
            if len(self._providers) >= MANY:
                self._providers = {name: one for name, one in self._providers.items() if one.matters(now)}
            counts = self._providers[provider] = _Counts()
        return counts


def _starts_wait(counts: _Counts, ration: Ration, now: float) -> float:
    """Seconds until another start fits into the window; 0 where it does."""
    window = ration.window
    if window is None:
        return 0.0
    most, seconds = window
    while counts.starts and counts.starts[0] + seconds <= now:
        counts.starts.popleft()
    if len(counts.starts) < most:
        return 0.0
    # At a pace that was lowered meanwhile, more starts lie in the window than now fit.
    return max(0.0, counts.starts[len(counts.starts) - most] + seconds - now)


def _tokens_wait(counts: _Counts, ration: Ration, asked: int, now: float) -> float:
    limit = ration.tokens_per_minute
    if limit is None:
        return 0.0
    while counts.tokens and counts.tokens[0][0] + MINUTE_S <= now:
        counts.spent -= counts.tokens.popleft()[1]
    excess = counts.spent + asked - limit
    for at, tokens in counts.tokens:
        if excess <= 0:
            break
        excess -= tokens
        if excess <= 0:
            return at + MINUTE_S - now
    return 0.0
