from __future__ import annotations

import sys

import pytest

from tadasu.core.usage import Pricing, Tokens
from tadasu.providers.prices import is_local, price_of
from tadasu.providers.registry import ChatSettings


def test_a_listed_model_is_priced_offline() -> None:
    price = price_of(Tokens(1_000_000, 0), ChatSettings(model="gpt-4o-mini"))
    assert price.pricing is Pricing.PRICED
    assert price.usd is not None
    assert 0 < price.usd < 10


def test_settings_go_before_the_list_and_before_local() -> None:
    settings = ChatSettings(model="gpt-4o-mini", base_url="http://127.0.0.1:1/v1", price_in=1.0, price_out=3.0)
    assert price_of(Tokens(1_000_000, 1_000_000), settings).usd == pytest.approx(4.0)


@pytest.mark.parametrize(("model", "base_url"), [("no-such-model-9", ""), ("gpt-4o-mini", "https://llm.example/v1")])
def test_an_unknown_model_or_place_is_unpriced_never_zero(model: str, base_url: str) -> None:
    price = price_of(Tokens(10, 10), ChatSettings(model=model, base_url=base_url))
    assert price.pricing is Pricing.UNPRICED
    assert price.usd is None


def test_without_the_price_list_everything_is_unpriced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price_of(Tokens(1, 1), ChatSettings(model="gpt-4o-mini")).pricing is Pricing.UNPRICED


@pytest.mark.parametrize(
    "url", ["http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:1/v1", "http://127.9.9.9/"]
)
def test_loopback_is_local(url: str) -> None:
    assert is_local(url)


@pytest.mark.parametrize("url", ["", "https://127.0.0.1.example.com/", "http://10.0.0.5/v1", "https://api.example.com"])
def test_other_places_are_not_local(url: str) -> None:
    assert not is_local(url)


def test_half_a_price_is_refused() -> None:
    with pytest.raises(ValueError, match="together"):
        ChatSettings(model="m", price_in=1.0)
