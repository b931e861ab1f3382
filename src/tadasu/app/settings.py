"""Every knob, its default and its meaning: one ``tadasu.toml`` plus the environment.

The environment wins over the file, the file over the defaults. A variable is ``TADASU_`` + section + ``__`` + key, as
in ``TADASU_RETRIEVAL__K=20``; a list is written with commas, ``TADASU_READER__GROUPS=board,audit``. Secrets are never
settings: a setting names the environment variable that holds one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from tadasu.app.sections.answering import (
    AbstentionSection,
    CacheSection,
    CheckingSection,
    CorrectionSection,
    EncoderSection,
    GenerationSection,
    GradingSection,
    IngestionSection,
    ReaderSection,
    RefinementSection,
    RetrievalSection,
    ScorerSection,
    StoreSection,
)
from tadasu.app.sections.chat import ChatSection
from tadasu.app.sections.outside import FetchSection, LimitsSection, WebSection
from tadasu.app.sections.running import BudgetSection, DeferredSection, PricesSection, TelemetrySection
from tadasu.errors import SettingsInvalid


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
    generation: GenerationSection = GenerationSection()
    abstention: AbstentionSection = AbstentionSection()
    chat: ChatSection = ChatSection()
    checking: CheckingSection = CheckingSection()
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
        if kind in {"extra_forbidden", "unexpected_keyword_argument"}
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
