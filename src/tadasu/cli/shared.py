"""The options that every command takes, and what happens around every command."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from tadasu.cli.exits import Exit, exit_of
from tadasu.cli.frame import Frame, checked_language
from tadasu.errors import TadasuError
from tadasu.text.messages import LANGUAGES

WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="FOLDER",
        help="Folder of the workspace. [default: the nearest one above this folder]",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; progress goes to stderr.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error was raised.")]
LangOption = Annotated[
    str, typer.Option("--lang", metavar="en|ja", help="Language of messages and answers. [default: yours]")
]

_SHARED: tuple[tuple[str, Any, Any], ...] = (
    ("workspace", WorkspaceOption, None),
    ("as_json", JsonOption, False),
    ("lang", LangOption, ""),
    ("debug", DebugOption, False),
    ("context", typer.Context, inspect.Parameter.empty),
)


class Unexpected(TadasuError):
    """An error that nobody foresaw: a bug."""

    code = "unexpected"
    message = "Something went wrong that Tadasu did not foresee ({kind}: {text})."
    hint_template = "Run the same command with --debug and report what it prints."


def door(function: Callable[..., Exit | None]) -> Callable[..., None]:
    """Make a command of `function(frame, …)`: adds the shared options, turns errors into words and an exit code.

    `function` returns its exit code, or nothing for success.
    """
    hints = get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[1:]

    @functools.wraps(function)
    def command(**given: Any) -> None:
        frame = _frame(given)
        raise typer.Exit(guarded(frame, lambda: function(frame, **given)))

    parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in own] + [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, annotation, default in _SHARED
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del command.__wrapped__  # Typer would read the signature behind this one
    return command


def guarded(frame: Frame, work: Callable[[], Exit | None]) -> int:
    """Do `work`; whatever is raised becomes one paragraph and an exit code."""
    try:
        checked_language(frame.lang)
        return int(work() or Exit.OK)
    except TadasuError as error:
        _trace(frame)
        spoken = replace(frame, lang="") if frame.lang not in LANGUAGES else frame
        spoken.show_error(error)
        return exit_of(error)
    except BrokenPipeError:
        _close_output()
        return Exit.PIPE_CLOSED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - the last line of defence: users get a paragraph, --debug the trace
        _trace(frame)
        frame.show_error(Unexpected(kind=type(problem).__name__, text=problem))
        return Exit.UNEXPECTED


def _frame(given: dict[str, Any]) -> Frame:
    """The frame from the options before and after the command's name; the later ones win. Takes them out of `given`."""
    context: typer.Context = given.pop("context")
    before = context.find_root().obj
    if not isinstance(before, Frame):
        before = Frame()
    return Frame(
        workspace=given.pop("workspace") or before.workspace,
        json=given.pop("as_json") or before.json,
        debug=given.pop("debug") or before.debug,
        lang=given.pop("lang") or before.lang,
    )


def _trace(frame: Frame) -> None:
    if frame.debug:
        traceback.print_exc(file=sys.stderr)


def _close_output() -> None:
    # Python flushes stdout at exit and would complain about the closed pipe again.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
