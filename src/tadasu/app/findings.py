"""What a check found, in words that can be translated: templates and what they are about."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from tadasu.errors import TadasuError


class Health(enum.Enum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, how it came out, and templates over `details` that say what was found and what to do."""

    check: str
    health: Health
    template: str
    advice_template: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


def ok(check: str, template: str, **details: object) -> Finding:
    """All is well."""
    return Finding(check, Health.OK, template, details=details)


def warning(check: str, template: str, advice: str, **details: object) -> Finding:
    """It works, but not as well as it could."""
    return Finding(check, Health.WARNING, template, advice, details)


def failure(check: str, problem: TadasuError) -> Finding:
    """It does not work."""
    return Finding(check, Health.ERROR, problem.message, problem.hint_template, problem.details)


def broken(check: str, problem: Exception) -> Finding:
    """It does not work, and not in a way that anybody foresaw."""
    text, advice = "This failed unexpectedly ({kind}: {text}).", "Report it to those who made the part, with this line."
    return Finding(check, Health.ERROR, text, advice, {"kind": type(problem).__name__, "text": problem})
