"""Tables of settings for what is asked outside: the web, its pages, and the limits of every provider."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from tadasu.app.sections.fields import Names, Section, listed


class WebProviderSection(Section):
    """One web search provider, in a table of its name, such as [web.tavily]."""

    key_variable: str = Field("", description="Environment variable with the key; empty: the provider's usual one.")
    base_url: str = Field("", description="Address of the service; empty: the provider's own.")
    engine: str = Field("", description="google: id (cx) of your engine; serpapi, searxng: which engine is asked.")
    timeout_s: float = Field(10.0, gt=0, description="Seconds before a search is given up.")
    price: float | None = Field(None, ge=0, description="US dollars per thousand searches; unset: as [prices] says.")


def _table(value: object) -> object:
    if isinstance(value, (Mapping, WebProviderSection)):
        return value
    raise PydanticCustomError("extra_forbidden", "neither a setting nor the table of a provider")


class WebSection(Section):
    """Search outside. Off until a provider is named; each may have a table of its own, such as [web.tavily]."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[WebProviderSection, BeforeValidator(_table)]]

    provider: str = Field("", description="Plugin of the group tadasu.websearch; empty: the web is off.")
    fall_back: Names = Field((), description="Providers that are asked in turn where that one fails or finds nothing.")
    folder: str = Field("", description="For the provider folder: a directory of saved pages that plays the web.")
    results: int = Field(5, ge=1, le=50, description="Pages per search.")

    @property
    def tables(self) -> Mapping[str, WebProviderSection]:
        """The tables of single providers, by name."""
        return self.__pydantic_extra__ or {}


Ports = Annotated[tuple[int, ...], NoDecode, BeforeValidator(listed)]
"""Several port numbers; in the environment with commas between them."""


class FetchSection(Section):
    """Pages that a web search found. They are hostile until shown otherwise."""

    enabled: bool = Field(default=True, description="Fetch the pages; false: the search's snippets are all there is.")
    calls: int = Field(5, ge=1, le=100, description="Pages fetched at the same time.")
    timeout_s: float = Field(10.0, gt=0, description="Seconds for one page, redirects included.")
    first_byte_s: float = Field(5.0, gt=0, description="Seconds until a server has said something.")
    max_mb: float = Field(5.0, gt=0, le=100, description="Size of a page at the most, before and after unpacking.")
    redirects: int = Field(5, ge=0, le=20, description="Redirects that are followed, each checked as a new address.")
    ports: Ports = Field((80, 443), description="Ports that may be asked.")
    private_hosts: Names = Field(
        (), description="Hosts of your own network that may be fetched: name, or name:port. All others are refused."
    )
    allow: Names = Field((), description="Domains; where there are any, only pages in or below them are fetched.")
    deny: Names = Field((), description="Domains whose pages are never used.")
    per_domain: int = Field(2, ge=1, le=50, description="Pages of one domain in one search.")
    robots: bool = Field(default=True, description="Honour robots.txt.")
    use_snippets: bool = Field(
        default=True, description="Use the search's snippet where a page cannot be had; never that of a wall."
    )
    pdf: bool = Field(default=True, description="Read PDF files too.")
    parse_seconds: float = Field(10.0, gt=0, description="Parsing of one page is stopped after this many seconds.")
    passages_per_page: int = Field(20, ge=1, le=500, description="Passages of one page that are encoded and ranked.")
    proxy: str = Field(
        "", description="Address of an HTTP proxy; it resolves names itself, and must guard your network."
    )
    cache_days: float = Field(7.0, ge=0, description="Pages are kept for so long; 0: not at all.")
    cache_mb: float = Field(64.0, gt=0, description="Size of the page cache at the most.")

    @field_validator("ports")
    @classmethod
    def _real_ports(cls, ports: tuple[int, ...]) -> tuple[int, ...]:
        if not ports or not all(0 < port < 65536 for port in ports):
            raise ValueError("write ports as numbers from 1 to 65535")
        return ports

    @field_validator("private_hosts", "allow", "deny")
    @classmethod
    def _hosts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if "/" in name or "@" in name or not name.strip() or " " in name.strip():
                raise ValueError(f"{name!r} is no host; write it as example.com, without https:// and path")
        return names

    @field_validator("proxy")
    @classmethod
    def _http_proxy(cls, proxy: str) -> str:
        if proxy and not re.fullmatch(r"https?://[^\s/@]+/?", proxy):
            raise ValueError("write it as http://host:port")
        return proxy


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Limits of one provider; what is left out is as for all."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    in_flight: Annotated[int, Field(ge=1)] | None = None
    per_second: Annotated[float, Field(ge=0)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=0)] | None = None


class LimitsEngine(enum.Enum):
    """Who counts what is under way."""

    MEMORY = "memory"
    REDIS = "redis"


class LimitsSection(Section):
    """How outside services are called: how many calls at once, how fast, and what happens when they fail."""

    in_flight: int = Field(10, ge=1, description="Calls of one provider at the same time.")
    per_second: float = Field(50.0, ge=0, description="Calls of one provider that start in a second; 0: no limit.")
    tokens_per_minute: int = Field(0, ge=0, description="Tokens of one provider in a minute, estimated; 0: no limit.")
    providers: dict[str, ProviderLimits] = Field(
        {}, description="Other limits by provider, as in { openai = { in_flight = 4, tokens_per_minute = 90000 } }."
    )
    attempts: int = Field(5, ge=1, le=20, description="Times that a call is made at the most, the first one included.")
    backoff_s: float = Field(0.5, gt=0, description="Longest wait before the second attempt; it doubles each time.")
    longest_backoff_s: float = Field(20.0, gt=0, description="Where the doubling ends.")
    longest_wait_s: float = Field(60.0, ge=0, description="A provider that asks for a longer wait is not waited for.")
    ageing_s: float = Field(15.0, gt=0, description="After so long, once for each step of priority, a call is overdue.")
    breaker_faults: int = Field(5, ge=1, description="Faults in a row after which a provider is left alone.")
    breaker_share: float = Field(0.5, gt=0, le=1, description="The same for a share of the last 20 calls.")
    breaker_pause_s: float = Field(5.0, gt=0, description="How long, at first; each try that fails doubles it.")
    breaker_longest_pause_s: float = Field(60.0, gt=0, description="Where that doubling ends.")
    engine: LimitsEngine = Field(
        LimitsEngine.MEMORY, description="memory: limits hold for this process; redis: for all that share a server."
    )
    url_variable: str = Field("TADASU_REDIS_URL", description="For redis: environment variable that holds the address.")
