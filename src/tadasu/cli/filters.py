"""The options that narrow a search, and what they mean together."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.documents import Scope

SourceFilter = Annotated[
    str, typer.Option("--filter-source", metavar="START", help="Only documents whose path starts so.")
]
SinceFilter = Annotated[str, typer.Option("--since", metavar="DATE", help="Only documents from this date on.")]
UntilFilter = Annotated[str, typer.Option("--until", metavar="DATE", help="Only documents up to this date.")]
LanguageFilter = Annotated[
    str, typer.Option("--language", metavar="CODE", help="Only documents in this language, such as ja.")
]


def check_dates(**dates: str) -> None:
    """Raise InputInvalid unless each of `dates` is empty or a date as YYYY-MM-DD."""
    for option, value in dates.items():
        if value and not _is_date(value):
            fix = "Write it as YYYY-MM-DD, such as 2026-04-01."
            raise InputInvalid(where=f"--{option}", reason=f"{value} is not a date", fix=fix)


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def scope_of(tadasu: Tadasu, *, source: str, since: str, until: str, language: str) -> Scope:
    """What the configured reader may see, narrowed by the filters."""
    from tadasu.core.documents import Scope

    return Scope(
        reader=tadasu.container.reader, language=language or None, source_prefix=source, since=since, until=until
    )
