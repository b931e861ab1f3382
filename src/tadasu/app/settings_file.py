"""The commented ``tadasu.toml`` that `tadasu init` writes, made from the settings so that it never goes stale."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tadasu.app.sections.outside import WebProviderSection
from tadasu.app.settings import Settings

HEAD = (
    "Settings of this Tadasu workspace.",
    "A value behind a # is the default. Environment variables win over this file: TADASU_ + section + __ + key, as in"
    " TADASU_RETRIEVAL__K=20.",
    "Secrets never stand here: a setting names the environment variable that holds one.",
)


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """One setting as a reader meets it: ``key`` is ``section.name``, `default` its TOML text, empty where unset."""

    section: str
    name: str
    description: str
    default: str
    kind: str

    @property
    def key(self) -> str:
        """``section.name``."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"TADASU_{self.key}".replace(".", "__").upper()


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """One table of ``tadasu.toml``: its name, what it is about, its entries."""

    name: str
    description: str
    entries: tuple[SettingEntry, ...]


@lru_cache(maxsize=1)
def settings_tables() -> tuple[SettingsTable, ...]:
    """Every table of the settings in the order of their declaration."""
    return tuple(_table(name, field) for name, field in Settings.model_fields.items())


def provider_table(name: str) -> SettingsTable:
    """The table of the web search provider `name`, which stands in ``tadasu.toml`` only where somebody wrote it."""
    return _section(f"web.{name}", WebProviderSection)


def settings_text(chosen: Mapping[str, object] | None = None, *, say: Callable[[str], str] = str) -> str:
    """The text of a ``tadasu.toml``: every setting with its meaning, defaults commented out, `chosen` values written.

    `chosen` maps ``section.name`` to a value; a key that is no setting is a ValueError. `say` puts the explanations
    into another language.
    """
    chosen = dict(chosen or {})
    unknown = chosen.keys() - {entry.key for table in settings_tables() for entry in table.entries}
    if unknown:
        raise ValueError(f"no such settings: {sorted(unknown)}")
    parts = ["".join(f"# {say(line)}\n" for line in HEAD)]
    for table in settings_tables():
        lines = [f"# {say(table.description)}", f"[{table.name}]"]
        for entry in table.entries:
            lines.append(f"# {say(entry.description)}")
            if entry.key in chosen:
                lines.append(f"{entry.name} = {toml_value(chosen[entry.key])}")
            else:
                lines.append(f"# {entry.name} = {entry.default}".rstrip())
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def toml_value(value: object) -> str:
    """`value` as TOML: text, numbers, truth, enums by value, sequences, tables; empty for None, which TOML cannot say.

    >>> toml_value("a\\"b"), toml_value(True), toml_value((1, 2)), toml_value(None)
    ('"a\\\\"b"', 'true', '[1, 2]', '')
    """
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        return toml_value(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return toml_value({name: part for name, part in parts.items() if part is not None})
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(str(name))} = {toml_value(item)}" for name, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return _basic_string(str(value))


def values_of(settings: Settings) -> Iterator[tuple[SettingEntry, object]]:
    """Every setting with its present value."""
    for table in settings_tables():
        section = getattr(settings, table.name)
        for entry in table.entries:
            yield entry, getattr(section, entry.name)
    for name, section in sorted(settings.web.tables.items()):
        for entry in provider_table(name).entries:
            yield entry, getattr(section, entry.name)


def _table(name: str, field: FieldInfo) -> SettingsTable:
    model: Any = field.annotation
    assert isinstance(model, type), "every top-level setting is a section"
    assert issubclass(model, BaseModel), "every top-level setting is a section"
    return _section(name, model)


def _section(name: str, model: type[BaseModel]) -> SettingsTable:
    entries = tuple(
        SettingEntry(
            section=name,
            name=key,
            description=(entry.description or "").strip(),
            default=toml_value(entry.get_default(call_default_factory=True)),
            kind=_kind(entry.annotation),
        )
        for key, entry in model.model_fields.items()
    )
    return SettingsTable(name=name, description=(model.__doc__ or "").strip().splitlines()[0], entries=entries)


def _kind(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " or ".join(str(member.value) for member in annotation)
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    if isinstance(annotation, type) and annotation in names:
        return names[annotation]
    text = str(annotation)
    if text.startswith("dict"):
        return "table"
    if "tuple" in text or "list" in text or "frozenset" in text:
        return "list of text"
    return "number" if "float" in text else "integer" if "int" in text else "text"


def _key(name: str) -> str:
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", name)
    return name if bare else _basic_string(name)


def _basic_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = "".join(char if char >= " " and char != "\x7f" else f"\\u{ord(char):04X}" for char in escaped)
    return f'"{plain}"'
