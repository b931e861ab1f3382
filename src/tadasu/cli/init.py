"""`tadasu init`: a new workspace, with what the machine offers proposed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tadasu.app.discovery import Proposal


def init(
    frame: Frame,
    folder: Annotated[Path | None, typer.Argument(metavar="FOLDER", help="Where. [default: this folder]")] = None,
    *,
    use: Annotated[
        str,
        typer.Option("--use", metavar="NAME", help="Write the settings of a proposal, such as Ollama or OpenAI."),
    ] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Do not look for chat servers on this machine.")] = False,
) -> Exit | None:
    """Make a workspace with every setting explained.

    Writes tadasu.toml and a folder for the index and the runs.

    Looks for keys in the environment (by name; no value is read out or written) and for Ollama or llama.cpp on this
    machine, and proposes what it finds. Nothing is used unless it is named with --use.

    \b
    Examples:
      tadasu init
      tadasu init handbook --use Ollama
    """
    import os

    from tadasu.app.discovery import find_keys, find_servers
    from tadasu.app.settings_file import settings_text
    from tadasu.app.workspace import SETTINGS_FILE, create_workspace
    from tadasu.errors import InputInvalid, WorkspaceExists

    root = folder or frame.workspace or Path.cwd()
    if (root / SETTINGS_FILE).exists():
        raise WorkspaceExists(path=root.resolve())
    proposals = (*find_keys(os.environ), *(() if offline else find_servers()))
    chosen = next((one for one in proposals if one.what.lower() == use.lower()), None)
    if use and chosen is None:
        names = ", ".join(one.what for one in proposals) or frame.say("none")
        raise InputInvalid(where="--use", reason=f"{use} was not found", fix=f"Found here: {names}.")
    try:
        workspace = create_workspace(root, settings_text(chosen.settings if chosen else None, say=frame.say))
    except OSError as problem:
        reason = f"cannot be made a workspace ({problem.strerror or problem})"
        raise InputInvalid(where=str(root), reason=reason, fix="Check the path and its permissions.") from problem
    if frame.json:
        frame.emit(
            {
                "workspace": str(workspace.root),
                "settings": str(workspace.settings_file),
                "used": chosen.what if chosen else None,
                "found": [
                    {"what": one.what, "where": one.where, "settings": dict(one.settings), "models": list(one.models)}
                    for one in proposals
                ],
            }
        )
        return None
    _show(frame, str(workspace.root), proposals, chosen)
    return None


def _show(frame: Frame, root: str, proposals: Sequence[Proposal], chosen: Proposal | None) -> None:
    from tadasu.app.settings_file import toml_value
    from tadasu.cli.answer_view import one_line

    console = frame.out()
    console.print(frame.say("A workspace is ready in {folder}.", folder=root), style="bold", soft_wrap=True)
    for one in proposals:
        text = "Using {what} ({where})." if one is chosen else "Found {what} ({where})."
        console.print(frame.say(text, what=one.what, where=one.where), soft_wrap=True)
        if one.models:
            console.print("  " + frame.say("models: {names}", names=one_line(", ".join(one.models))), soft_wrap=True)
        if one is not chosen:
            console.print("  " + frame.say("To use it for answers, write in tadasu.toml:"), soft_wrap=True)
            console.print("    [chat]", style="dim")
            for key, value in one.settings.items():
                console.print(
                    f"    {key.split('.', 1)[1]} = {toml_value(one_line(value))}", style="dim", soft_wrap=True
                )
        if "chat.model" not in one.settings:
            console.print("  " + frame.say("Name a model of it too, under chat.model."), soft_wrap=True)
    if not proposals:
        console.print(frame.say("No chat model was found: answers will be quotations from your documents."))
    console.print(frame.say("Next: {command}", command="tadasu ingest FOLDER"), soft_wrap=True)
