"""What `tadasu doctor` says of prices: what may cost something, and whether limits of money can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.app.budgets import limits_of
from tadasu.app.estimates import paid_parts
from tadasu.app.findings import Finding, ok, warning

if TYPE_CHECKING:
    from tadasu.app.settings import Settings


def price_finding(settings: Settings) -> Finding:
    """Whether every part that may cost something has a price."""
    parts = paid_parts(settings)
    if not parts:
        return ok("prices", "No part of the settings costs anything.")
    unpriced = ", ".join(name for name, cost in parts.items() if cost is None)
    if not unpriced:
        return ok("prices", "Everything that costs something has a price: {names}.", names=", ".join(parts))
    advice = "Give its price in tadasu.toml under [prices]."
    if limits_of(settings).prices_needed:
        text = "No price is known of {names}, and a limit of money is set: its calls are refused."
        return warning("prices", text, advice, names=unpriced)
    return warning("prices", "No price is known of {names}: its calls are said to be unpriced.", advice, names=unpriced)
