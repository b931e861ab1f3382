"""Every knob, its default and its meaning: one ``tadasu.toml`` plus the environment.

The environment wins over the file, the file over the defaults. A variable is ``TADASU_`` + section + ``__`` + key, as
in ``TADASU_RETRIEVAL__K=20``; a list is written with commas, ``TADASU_READER__GROUPS=board,audit``. Secrets are never
settings: a setting names the environment variable that holds one.
"""

from __future__ import annotations

import enum
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from tadasu.answering.correction.policy import Reaction, ReservePolicy
from tadasu.app.time_zones import zone_of
from tadasu.core.grades import VerdictRule
from tadasu.core.scores import ScoreScale
from tadasu.core.usage import Currency
from tadasu.errors import SettingsInvalid


def _listed(value: object) -> object:
    """A list as one writes it into an environment variable: ``board, audit`` or ``["board", "audit"]``."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError('write it as: board, audit  or as: ["board", "audit"]') from None
    return [name.strip() for name in value.split(",") if name.strip()]


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
"""Several names; in the environment with commas between them, or as JSON."""


def _addressed(value: str) -> str:
    if value and not re.match(r"https?://[^\s/]", value):
        raise ValueError("write it as http://host:port or https://host")
    return value


Address = Annotated[str, AfterValidator(_addressed)]
"""The address of a service, or nothing."""


class Section(BaseModel):
    """A table of ``tadasu.toml``; unknown keys are errors, so that a typing mistake is never silent."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ReaderSection(Section):
    """Who asks when the command line or the Python API is used."""

    tenant: str = Field("default", description="Tenant whose documents are searched.")
    groups: Names = Field((), description="Groups of the asker; documents tagged with others stay hidden.")


class StoreSection(Section):
    """Where passages are kept."""

    engine: str = Field("sqlite", description="Plugin of the group tadasu.stores.")


class EncoderSection(Section):
    """Text to vectors."""

    path: str = Field("", description="Folder with model.onnx and tokenizer.json; empty: the encoder that is shipped.")
    threads: int = Field(2, ge=1, le=64, description="Threads of ONNX Runtime.")


class IngestionSection(Section):
    """From files to passages."""

    max_tokens: int = Field(256, ge=32, le=510, description="Tokens of a passage at the most.")
    max_file_mb: int = Field(100, ge=1, description="Larger files are refused.")
    parse_seconds: int = Field(60, ge=1, description="Parsing of one file is stopped after this many seconds.")


class RetrievalSection(Section):
    """How many candidates are graded."""

    k: int = Field(10, ge=1, le=200, description="Passages retrieved and graded per search.")


class GradingSection(Section):
    """Grades and their thresholds."""

    grader: str = Field("cascade", description="Plugin of the group tadasu.graders: cascade, features, scorer, llm.")
    scorer: str = Field("shipped", description="Plugin of the group tadasu.scorers: the second tier; empty: none.")
    llm: bool = Field(default=False, description="Ask the chat model about passages that are still uncertain.")
    llm_batch: int = Field(5, ge=1, le=20, description="Passages in one call of the chat model.")
    llm_calls: int = Field(10, ge=1, le=100, description="Calls of the chat model at the same time.")
    fall_back: bool = Field(
        default=False,
        description="Where a later tier fails: true keeps the earlier tier's grade, false leaves UNGRADED.",
    )
    tau_high: float | None = Field(None, ge=0, le=1, description="HIGH from here; unset: as calibrated.")
    tau_low: float | None = Field(None, ge=0, le=1, description="LOW below this; unset: as calibrated.")


class ScorerSection(Section):
    """The second tier of grading: a model that scores pairs."""

    path: str = Field("", description="For onnx: folder with model.onnx and tokenizer.json.")
    scale: ScoreScale | None = Field(None, description="What its scores mean: logit or probability. Never guessed.")
    base_url: str = Field("", description="For rerank and http: address of the service.")
    model: str = Field("", description="For rerank: model name as the service knows it.")
    key_variable: str = Field("", description="Environment variable that holds the key; empty: none is sent.")
    timeout_s: float = Field(10.0, gt=0, description="Seconds before a call is given up.")
    threads: int = Field(2, ge=1, le=64, description="Threads of ONNX Runtime.")
    max_tokens: int = Field(512, ge=64, le=8192, description="For onnx: the model's longest input.")
    price: float | None = Field(None, ge=0, description="US dollars per thousand pairs; unset: unpriced.")


class CacheSection(Section):
    """Where scores of graders are remembered."""

    engine: str = Field("sqlite", description="Plugin of the group tadasu.caches: sqlite, memory, redis; empty: off.")
    url_variable: str = Field("TADASU_REDIS_URL", description="For redis: environment variable that holds the address.")
    max_mb: int = Field(256, ge=1, description="Size at the most; what was unused longest goes first.")
    days: float = Field(90.0, gt=0, description="Scores that were not used for so long go.")


class CorrectionSection(Section):
    """What follows a verdict."""

    rule: VerdictRule = Field(VerdictRule.ANY_HIGH, description="any_high (the CRAG paper's) or high_share.")
    quality_threshold: float = Field(0.6, ge=0, le=1, description="Share of HIGH passages that high_share wants.")
    max_searches: int = Field(2, ge=0, le=10, description="Further searches of the own documents.")
    max_web_searches: int = Field(1, ge=0, le=10, description="Searches of the web, counted apart.")
    medium_kept: int = Field(2, ge=0, description="MEDIUM passages that go on.")
    medium_kept_exhausted: int = Field(3, ge=0, description="The same once searches are exhausted.")
    ungraded: Reaction = Field(
        Reaction.CLOSED, description="closed: UNGRADED passages stay out; open: they go on; abstain: no answer."
    )
    grader_failed: Reaction = Field(
        Reaction.CLOSED,
        description="Nothing could be graded. closed: only what is known to be good; open: go on unchecked; abstain.",
    )
    no_documents: Reaction = Field(
        Reaction.CLOSED,
        description="No passage was found. closed, open: the web may answer; abstain: it is not even asked.",
    )
    search_failed: Reaction = Field(
        Reaction.CLOSED,
        description="A search failed. closed: other sources, and only what is good; open: what there is; abstain.",
    )
    budget_spent: Reaction = Field(
        Reaction.CLOSED,
        description="The budget is spent. closed: only what is good; open: what there is, unchecked; abstain.",
    )
    incorrect: ReservePolicy = Field(
        ReservePolicy.ABSTAIN, description="abstain, or use_with_warning: the LOW passages with a warning."
    )
    rewrite: bool = Field(default=True, description="Let the chat model, where there is one, write further queries.")
    rewrite_seconds: float = Field(10.0, gt=0, description="Seconds before that is given up and rules take over.")


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


Ports = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_listed)]
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


class RefinementSection(Section):
    """From passages to evidence."""

    strip_threshold: float = Field(0.2, ge=0, le=1, description="Strips from this probability on are selected.")
    neighbours: int = Field(1, ge=0, le=5, description="Strips kept on each side of a selected one.")
    token_budget: int = Field(1024, ge=64, description="Tokens of evidence at the most.")


class ChatSection(Section):
    """The model that words answers. Without one, answers are quotations."""

    provider: str = Field("", description="Plugin of the group tadasu.chat, such as openai; empty: extractive answers.")
    model: str = Field("", description="Model name as the provider knows it.")
    base_url: str = Field("", description="Any OpenAI-compatible address; empty: the provider's own.")
    key_variable: str = Field("OPENAI_API_KEY", description="Environment variable that holds the key.")
    timeout_s: float = Field(60.0, gt=0, description="Seconds before a call is given up.")
    max_tokens: int = Field(800, ge=16, description="Tokens of an answer at the most.")
    price_in: float | None = Field(None, ge=0, description="US dollars per million input tokens, if not known.")
    price_out: float | None = Field(None, ge=0, description="US dollars per million output tokens, if not known.")


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


class Settings(BaseSettings):
    """All settings of one workspace."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix="TADASU_", env_nested_delimiter="__", case_sensitive=False
    )
    toml_file: ClassVar[Path | None] = None

    reader: ReaderSection = ReaderSection()
    store: StoreSection = StoreSection()
    encoder: EncoderSection = EncoderSection()
    ingestion: IngestionSection = IngestionSection()
    retrieval: RetrievalSection = RetrievalSection()
    grading: GradingSection = GradingSection()
    scorer: ScorerSection = ScorerSection()
    cache: CacheSection = CacheSection()
    correction: CorrectionSection = CorrectionSection()
    web: WebSection = WebSection()
    fetch: FetchSection = FetchSection()
    refinement: RefinementSection = RefinementSection()
    chat: ChatSection = ChatSection()
    budget: BudgetSection = BudgetSection()
    prices: PricesSection = PricesSection()
    limits: LimitsSection = LimitsSection()
    deferred: DeferredSection = DeferredSection()
    telemetry: TelemetrySection = TelemetrySection()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then the file; nothing else."""
        del dotenv_settings, file_secret_settings
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings)
        if cls.toml_file is not None:
            sources += (TomlConfigSettingsSource(settings_cls, toml_file=cls.toml_file),)
        return sources


def load_settings(path: Path | None, **overrides: Any) -> Settings:
    """The settings of the file at `path` (None or absent: none) under the environment, then `overrides` by section.

    Raises SettingsInvalid with the file or variable, the key, and what is wrong.
    """
    file = path if path is not None and path.is_file() else None
    if file is not None:
        _check_syntax(file)
    bound = type("Settings", (Settings,), {"toml_file": file, "__module__": __name__})
    try:
        return bound(**overrides)  # type: ignore[no-any-return]
    except ValidationError as problem:
        first = problem.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
        where = str(file) if file is not None else "settings"
        if _variable(key) is not None:
            where = f"environment variable {_variable(key)}"
        raise SettingsInvalid(where=where, key=key, reason=_plain(first["type"], first["msg"])) from problem
    except SettingsError as problem:  # a whole section in one variable, and not as JSON
        named = re.search(r'field "(\w+)"', str(problem))
        key = named[1] if named else "a section"
        where = f"environment variable {_variable(key) or 'TADASU_…'}"
        reason = f"is a whole table and wants JSON; set one value with TADASU_{key.upper()}__ and its name"
        raise SettingsInvalid(where=where, key=key, reason=reason) from problem


def _check_syntax(file: Path) -> None:
    try:
        tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsInvalid(where=file, key="the file", reason=f"is not valid TOML ({problem})") from problem


def _variable(key: str) -> str | None:
    """The environment variable that sets `key`, where it is set."""
    import os

    wanted = "TADASU_" + key.replace(".", "__").upper()
    return next((name for name in os.environ if name.upper() == wanted), None)


def _plain(kind: str, text: str) -> str:
    return (
        "is not a known setting"
        if kind == "extra_forbidden"
        else f"cannot be used ({text.removeprefix('Value error, ')})"
    )


def origin_of(key: str, file: Path | None) -> str:
    """Where the value of `key` (``section.name``) comes from: ``environment NAME``, the file, or ``default``."""
    variable = _variable(key)
    if variable is not None:
        return f"environment {variable}"
    place: object = tomllib.loads(file.read_text(encoding="utf-8")) if file is not None and file.is_file() else {}
    for name in key.split("."):
        place = place.get(name) if isinstance(place, Mapping) else None
    return "default" if place is None or file is None else file.name
