"""How the scheduler behaves, as values: retries, circuit breakers, ageing, and whose limits are which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tadasu.core.limits import Ration
from tadasu.errors import ProviderError, ProviderLimited, ProviderUnreachable


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Attempts at the most (the first counts), and waits between them in seconds.

    Without a wait that the provider asked for, the n-th wait is drawn from [0, ``min(cap_s, base_s * 2**(n-1))``): full
    jitter (Brooker, "Exponential backoff and jitter", 2015). A wait longer than `longest_wait_s` is not waited for.
    """

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 20.0
    longest_wait_s: float = 60.0

    def backoff_s(self, attempt: int, chance: float) -> float:
        """The wait after attempt `attempt` (from 1) has failed; `chance` is drawn from [0, 1).

        >>> RetryRules(base_s=1.0, cap_s=5.0).backoff_s(3, 0.5), RetryRules(base_s=1.0, cap_s=5.0).backoff_s(9, 0.5)
        (2.0, 2.5)
        """
        return chance * min(self.cap_s, self.base_s * 2.0 ** min(attempt - 1, 30))


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When a circuit opens: after `faults` in a row, or a share of `share` among the last `window` calls.

    It is closed to all for `pause_s`, then one call tries; each try that fails doubles the pause up to
    `longest_pause_s`.
    """

    faults: int = 5
    share: float = 0.5
    window: int = 20
    pause_s: float = 5.0
    longest_pause_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Rules:
    """All that holds for every provider; `ageing_s` per step of priority, in seconds."""

    retry: RetryRules = RetryRules()
    breaker: BreakerRules = BreakerRules()
    ageing_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Rations:
    """The limits by a provider's name, and those of providers without a name here."""

    usual: Ration = field(default_factory=Ration)
    named: Mapping[str, Ration] = field(default_factory=dict)

    def of(self, provider: str) -> Ration:
        """The limits of `provider`."""
        return self.named.get(provider, self.usual)


def worth_another_attempt(error: BaseException) -> bool:
    """Whether the provider may do better next time: it was out of reach, or it limits calls. An open circuit is not."""
    return isinstance(error, ProviderUnreachable | ProviderLimited) and not error.details.get("circuit_open")


def asked_wait_s(error: BaseException | None) -> float | None:
    """Seconds that the provider asked to wait; None where it did not."""
    wait = error.details.get("retry_after_s") if isinstance(error, ProviderError) else None
    return float(wait) if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0 else None
