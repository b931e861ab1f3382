"""What a chat call costs, from the settings or from the price list that is installed; never guessed, never fetched."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tadasu.core.usage import Pricing, Tokens
from tadasu.providers.registry import ChatSettings


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


def _listed(tokens: Tokens, settings: ChatSettings) -> float | None:
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - heavy, and optional
    except ImportError:
        return None
    usage = Usage(input_tokens=tokens.input, output_tokens=tokens.output)
    try:
        if settings.base_url:
            return float(calc_price(usage, settings.model, provider_api_url=settings.base_url).total_price)
        return float(calc_price(usage, settings.model, provider_id="openai").total_price)
    except (LookupError, ValueError):
        return None
