"""The limits of the settings, for one run and for its day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.app.prices import money_of
from tadasu.app.sections.running import Unpriced
from tadasu.app.time_zones import zone_of
from tadasu.runtime.budget import Limits
from tadasu.runtime.day_budget import DayLimits, DayRules

if TYPE_CHECKING:
    from tadasu.app.settings import Settings
    from tadasu.ports import DayBook


def limits_of(settings: Settings) -> Limits:
    """What one run may use."""
    chosen, money = settings.budget, money_of(settings)
    limited = any(limit is not None for limit in (chosen.money, chosen.day_money, chosen.tenant_day_money))
    return Limits(
        seconds=chosen.seconds,
        calls=chosen.calls,
        tokens=chosen.tokens,
        usd=None if chosen.money is None else chosen.money / money.per_usd,
        prices_needed=limited and settings.prices.unpriced is Unpriced.REFUSE,
        money=money,
    )


def day_rules_of(settings: Settings, book: DayBook) -> DayRules:
    """What all runs of a day, and those of one tenant, may use together."""
    chosen, money = settings.budget, money_of(settings)

    def usd(limit: float | None) -> float | None:
        return None if limit is None else limit / money.per_usd

    return DayRules(
        book=book,
        zone=zone_of(chosen.time_zone),
        money=money,
        overall=DayLimits(
            seconds=chosen.day_seconds,
            calls=chosen.day_calls,
            tokens=chosen.day_tokens,
            usd=usd(chosen.day_money),
        ),
        per_tenant=DayLimits(
            seconds=chosen.tenant_day_seconds,
            calls=chosen.tenant_day_calls,
            tokens=chosen.tenant_day_tokens,
            usd=usd(chosen.tenant_day_money),
        ),
    )
