"""What every command gets: where it works, how it speaks, and the way out for errors."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tadasu.cli.jsonable import error_object, to_text
from tadasu.errors import InputInvalid, TadasuError, WorkspaceMissing
from tadasu.text.messages import LANGUAGES, translate

if TYPE_CHECKING:
    import asyncio

    from rich.console import Console

    from tadasu.app.tadasu import Tadasu

_SENTENCES = frozenset({"reason", "fix", "way_out"})


@dataclass(frozen=True, slots=True)
class Frame:
    """The shared options of one call. `lang` is what was asked for with --lang, empty where it was not."""

    workspace: Path | None = None
    json: bool = False
    debug: bool = False
    lang: str = ""

    @property
    def language(self) -> str:
        """The language of the words around answers: --lang, else the environment's, else English."""
        return self.lang or environment_language()

    def say(self, text: str, /, **values: object) -> str:
        """`text` in the language of this call, with `values` filled in."""
        return translate(text, self.language, **values)

    @property
    def place(self) -> Path:
        """Where to look for a workspace: --workspace, else the current folder; raises WorkspaceMissing."""
        if self.workspace is not None and not self.workspace.expanduser().exists():
            raise WorkspaceMissing(path=self.workspace)  # and never silently the one above a misspelt name
        return self.workspace or Path.cwd()

    def open(self) -> Tadasu:
        """The workspace at `place`, or the nearest one above it."""
        from tadasu.app.tadasu import Tadasu

        return Tadasu.open(self.place)

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[Tadasu, asyncio.Runner]]:
        """The workspace and the one event loop that serves it, both closed afterwards."""
        import asyncio

        tadasu = self.open()
        with asyncio.Runner() as runner:
            try:
                yield tadasu, runner
            finally:
                runner.run(tadasu.close())

    def out(self) -> Console:
        """Where results go."""
        return _console(sys.stdout)

    def err(self) -> Console:
        """Where progress and warnings go, so that stdout stays clean for pipes."""
        return _console(sys.stderr)

    def emit(self, value: Any, *, indent: int | None = 2) -> None:
        """The one JSON document of a command with --json; `indent` None: on one line."""
        write_line(sys.stdout, to_text(value, indent=indent))

    def message_of(self, error: TadasuError) -> tuple[str, str]:
        """Message and hint of `error` in the language of this call."""
        spoken = {
            name: self.say(value)
            for name, value in error.details.items()
            if name in _SENTENCES and isinstance(value, str)
        }
        details = {**error.details, **spoken}
        return self.say(error.message, **details), self.say(error.hint_template, **details)

    def show_error(self, error: TadasuError) -> None:
        """One paragraph on stderr; with --json an object on stdout."""
        message, hint = self.message_of(error)
        if self.json:
            self.emit({"error": error_object(error, message=message, hint=hint)})
            return
        text = self.say("Error: {message}", message=message) + (f" {hint}" if hint else "") + f" [{error.code}]"
        write_line(sys.stderr, clean(text))


def environment_language() -> str:
    """The language of messages as LC_ALL, LC_MESSAGES or LANG ask for it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "ja" if value.lower().startswith("ja") else "en"
    return "en"


def checked_language(value: str) -> str:
    """`value` if it is a language we speak; raises InputInvalid."""
    if value and value not in LANGUAGES:
        raise InputInvalid(where="--lang", reason=f"{value} is not spoken here", fix="Use en or ja.")
    return value


def clean(text: str) -> str:
    """`text` safe for a terminal: control codes and direction overrides of documents and web pages made visible.

    >>> clean("a\\x1b[2Jb\\u202ec\\n")
    'a\\ufffd[2Jb\\ufffdc\\n'
    """
    return "".join("\ufffd" if _controls(char) else char for char in text)


def _controls(char: str) -> bool:
    code = ord(char)
    if code < 0x20:
        return char not in "\n\t"
    return 0x7F <= code <= 0x9F or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or 0xD800 <= code <= 0xDFFF


def write_line(stream: TextIO, text: str) -> None:
    """`text` and a line end, out at once."""
    write_text(stream, text + "\n")


def write_text(stream: TextIO, text: str) -> None:
    """`text` as it is, out at once."""
    stream.write(text)
    stream.flush()


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    class Pipe(Console):
        """Rich would leave with code 1 on its own when the reader goes away; `guarded` has a code for that."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    wide = None if stream.isatty() else 160
    return Pipe(file=stream, markup=False, highlight=False, emoji=False, width=wide)
