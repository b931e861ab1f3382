"""What calls cost by the settings, and how amounts are shown; the ledger itself counts US dollars."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeVar

from tadasu.core.usage import Currency, Money

if TYPE_CHECKING:
    from tadasu.app.settings import Settings

T = TypeVar("T")


def money_of(settings: Settings) -> Money:
    """How amounts are shown."""
    return _money(settings, settings.prices.currency)


def model_price(
    settings: Settings, model: str, own: tuple[float | None, float | None] = (None, None)
) -> tuple[float | None, float | None]:
    """US dollars for a million tokens in and out of a chat model: its `own`, else those of the table, else None."""
    listed = matching(settings.prices.models, model) if own == (None, None) else None
    if listed is None:
        return own
    money = _money(settings, listed.currency or settings.prices.currency)
    return listed.input / money.per_usd, listed.output / money.per_usd


def search_price(settings: Settings, provider: str, own: float | None = None) -> float | None:
    """US dollars for a thousand searches of `provider`: its `own` price, else that of the table, else None."""
    return _rate(settings, settings.prices.searches, provider, own)


def pair_price(settings: Settings, model: str, own: float | None = None) -> float | None:
    """US dollars for a thousand pairs scored by `model`: its `own` price, else that of the table, else None."""
    return _rate(settings, settings.prices.pairs, model, own)


def matching(table: Mapping[str, T], name: str) -> T | None:
    """The entry of `table` for `name`, letter case aside: of that very name, else of the longest pattern that fits.

    >>> matching({"gpt-*": 1, "gpt-5-*": 2, "*": 3}, "GPT-5-mini"), matching({"gpt-*": 1}, "claude")
    (2, None)
    """
    wanted = name.lower()
    fitting = [pattern for pattern in table if pattern.lower() == wanted or fnmatchcase(wanted, pattern.lower())]
    if not fitting:
        return None
    return table[max(fitting, key=lambda pattern: (pattern.lower() == wanted, len(pattern), pattern))]


def _rate(settings: Settings, table: Mapping[str, float], name: str, own: float | None) -> float | None:
    if own is not None:
        return own
    listed = matching(table, name)
    return None if listed is None else listed / money_of(settings).per_usd


def _money(settings: Settings, currency: Currency) -> Money:
    rate = settings.prices.jpy_per_usd
    return Money() if currency is Currency.USD or rate is None else Money(currency, rate)
