"""What a chat call costs, from the settings or from the price list that is installed; never guessed, never fetched."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tadasu.core.usage import Pricing, Tokens
from tadasu.providers.presets import preset_of
from tadasu.providers.registry import ChatSettings

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation


@dataclass(frozen=True, slots=True)
class Price:
    """Where a cost comes from and what it is; `usd` is None exactly where there is no price."""

    pricing: Pricing
    usd: float | None


UNPRICED = Price(Pricing.UNPRICED, None)


def price_of(tokens: Tokens | None, settings: ChatSettings) -> Price:
    """The price of one call: by the settings, else nothing for a local server, else by the list, else unpriced.

    `tokens` is None where the server did not say what the call took: only a local call then has a price.
    The first look into the list loads it, which takes most of a second.
    """
    if settings.price_in is not None and settings.price_out is not None:
        if tokens is None:
            return UNPRICED
        return Price(Pricing.PRICED, (tokens.input * settings.price_in + tokens.output * settings.price_out) / 1e6)
    if is_local(settings.base_url):
        return Price(Pricing.LOCAL, 0.0)
    listed = None if tokens is None else _listed(tokens, settings)
    return UNPRICED if listed is None else Price(Pricing.PRICED, listed)


def is_local(base_url: str) -> bool:
    """Whether `base_url` names this machine.

    >>> is_local("http://127.0.0.1:8080/v1"), is_local("http://localhost.example.com/v1"), is_local("")
    (True, False, False)
    """
    host = (urlsplit(base_url).hostname or "") if base_url else ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def window_of(settings: ChatSettings) -> int | None:
    """Tokens of one call of the model with its reply: by the settings, else by the list, else unknown.

    The first look into the list loads it; see `price_of`.
    """
    if settings.context_window is not None:
        return settings.context_window
    found = None if is_local(settings.base_url) else _found(Tokens(), settings)
    return None if found is None else found.model.context_window


def _listed(tokens: Tokens, settings: ChatSettings) -> float | None:
    found = _found(tokens, settings)
    return None if found is None else float(found.total_price)


def _found(tokens: Tokens, settings: ChatSettings) -> PriceCalculation | None:
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - heavy, and optional
    except ImportError:
        return None
    usage = Usage(input_tokens=tokens.input, output_tokens=tokens.output)
    preset = preset_of(settings.provider)
    try:
        if settings.base_url and settings.base_url != preset.base_url:
            return calc_price(usage, settings.model, provider_api_url=settings.base_url)
        return calc_price(usage, settings.model, provider_id=preset.price_list) if preset.price_list else None
    except (LookupError, ValueError):
        return None
