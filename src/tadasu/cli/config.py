"""`tadasu config show`: every setting, its value, and where it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame


def show(
    frame: Frame,
    section: Annotated[str, typer.Argument(metavar="SECTION", help="Only this table, such as retrieval.")] = "",
) -> Exit | None:
    """Show every setting and where it comes from.

    A value comes from the environment, the file tadasu.toml, or is the default.

    \b
    Examples:
      tadasu config show
      tadasu config show correction
    """
    from tadasu.app.settings import load_settings, origin_of
    from tadasu.app.settings_file import settings_tables, toml_value, values_of
    from tadasu.cli.jsonable import jsonable
    from tadasu.errors import InputInvalid

    known = [table.name for table in settings_tables()]
    if section and section not in known:
        raise InputInvalid(
            where="config show", reason=f"there is no table {section}", fix=f"One of: {', '.join(known)}."
        )
    from tadasu.app.workspace import find_workspace

    workspace = find_workspace(frame.place)
    settings = load_settings(workspace.settings_file)
    rows = [
        (entry, value, origin_of(entry.key, workspace.settings_file))
        for entry, value in values_of(settings)
        if not section or section in (entry.section, entry.section.partition(".")[0])
    ]
    if frame.json:
        frame.emit(
            {
                "file": str(workspace.settings_file),
                "settings": [
                    {"key": entry.key, "value": jsonable(value), "origin": origin, "description": entry.description}
                    for entry, value, origin in rows
                ],
            }
        )
        return None
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(frame.say("setting"), no_wrap=True)
    table.add_column(frame.say("value"), overflow="fold")
    table.add_column(frame.say("from"), no_wrap=True)
    table.add_column(frame.say("meaning"), overflow="fold", style="dim")
    for entry, value, origin in rows:
        style = "" if origin == "default" else "bold"
        table.add_row(
            entry.key,
            toml_value(value) or frame.say("unset"),
            _origin_words(frame, origin),
            frame.say(entry.description),
            style=style,
        )
    console = frame.out()
    console.print(str(workspace.settings_file), style="bold", soft_wrap=True)
    console.print(table)
    return None


def _origin_words(frame: Frame, origin: str) -> str:
    if origin == "default":
        return frame.say("default")
    kind, _, variable = origin.partition(" ")
    return frame.say("environment {variable}", variable=variable) if kind == "environment" and variable else origin
