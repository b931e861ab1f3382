"""Tables of settings for what a run may take and who hears of it: budgets, prices, background work, telemetry."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from tadasu.app.sections.fields import Address, Section
from tadasu.app.time_zones import zone_of
from tadasu.core.usage import Currency


def _known_zone(name: str) -> str:
    zone_of(name)
    return name


class BudgetSection(Section):
    """Limits of one run and of a day, checked before each call; money in the currency of [prices]."""

    seconds: float | None = Field(60.0, gt=0, description="Wall time of one run.")
    calls: int | None = Field(100, ge=1, description="Calls of models, stores and searches in one run.")
    tokens: int | None = Field(None, ge=0, description="Tokens in and out of one run; unset: no limit.")
    money: float | None = Field(None, ge=0, description="What one run may cost; unset: no limit.")
    day_seconds: float | None = Field(None, gt=0, description="Time of all runs of a day together.")
    day_calls: int | None = Field(None, ge=0, description="Calls of all runs of a day together.")
    day_tokens: int | None = Field(None, ge=0, description="Tokens of all runs of a day together.")
    day_money: float | None = Field(None, ge=0, description="What all runs of a day may cost together.")
    tenant_day_seconds: float | None = Field(None, gt=0, description="Time of one tenant's runs of a day.")
    tenant_day_calls: int | None = Field(None, ge=0, description="Calls of one tenant's runs of a day.")
    tenant_day_tokens: int | None = Field(None, ge=0, description="Tokens of one tenant's runs of a day.")
    tenant_day_money: float | None = Field(None, ge=0, description="What one tenant's runs of a day may cost.")
    time_zone: Annotated[str, AfterValidator(_known_zone)] = Field(
        "UTC", description="Whose days are counted: UTC, a name such as Asia/Tokyo, or an offset such as +09:00."
    )


class Unpriced(enum.Enum):
    """What a limit of money does with a call that has no known price."""

    REFUSE = "refuse"
    SAY = "say"


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a chat model costs for a million tokens; in the currency of [prices] unless it names its own."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    currency: Currency | None = None


Rate: TypeAlias = Annotated[float, Field(ge=0)]


class PricesSection(Section):
    """What calls cost. The patterns of the tables may hold * and ?; an exact name goes first, then the longest one."""

    currency: Currency = Field(Currency.USD, description="What amounts are shown, limited and written in.")
    jpy_per_usd: float | None = Field(None, gt=0, description="Yen for a US dollar; needed where anything is in yen.")
    unpriced: Unpriced = Field(
        Unpriced.REFUSE, description="Calls without a price under a limit of money: refuse them, or say so and go on."
    )
    models: dict[str, ModelPrice] = Field(
        {}, description='Chat models for a million tokens, as in { "name-*" = { input = 0.15, output = 0.6 } }.'
    )
    searches: dict[str, Rate] = Field({}, description="Web searches for a thousand, by provider, as in { brave = 5 }.")
    pairs: dict[str, Rate] = Field({}, description="Scored pairs for a thousand, by model of the scoring service.")

    @model_validator(mode="after")
    def _rate_is_known(self) -> PricesSection:
        named = {self.currency, *(price.currency for price in self.models.values())}
        if Currency.JPY in named and self.jpy_per_usd is None:
            raise ValueError("jpy_per_usd must be set where anything is in yen")
        return self


class DeferredSection(Section):
    """Corrections that go on in the background (tadasu ask --defer, tadasu work)."""

    lease_s: float = Field(
        60.0, ge=3, description="Seconds after which the job of a worker that fell silent is another's."
    )
    attempts: int = Field(6, ge=1, le=50, description="A job that failed so often is given up.")
    retry_s: float = Field(
        30.0, gt=0, description="Seconds before the second attempt; four times as long before each further one."
    )


class LogForm(enum.Enum):
    """How log lines are written to stderr."""

    PLAIN = "plain"
    JSON = "json"


class TelemetrySection(Section):
    """What is told about runs, and to whom."""

    endpoint: Address = Field(
        "", description="Collector of traces, as in http://localhost:4318; empty: as the OTEL_* variables say, or none."
    )
    timeout_s: float = Field(
        2.0, gt=0, le=60, description="Seconds that a command waits for the collector before it ends."
    )
    content: bool = Field(default=False, description="Traces and logs hold questions, queries and answers too.")
    logs: LogForm = Field(LogForm.PLAIN, description="json: a line for every round and run, as JSON, on stderr.")
    prometheus_port: int | None = Field(
        None, ge=1, le=65535, description="Port for /metrics while a command runs; unset: none."
    )
    prometheus_host: str = Field("127.0.0.1", description="Address that this port listens on.")
