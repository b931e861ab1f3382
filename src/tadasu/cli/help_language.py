"""Help in the reader's language: the texts of commands and options looked up in the catalogues."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tadasu.text.messages import translate


def wanted_language(argv: Sequence[str], default: str) -> str:
    """The language that ``--lang`` names in `argv`, else `default`.

    >>> wanted_language(["ask", "--lang=ja"], "en"), wanted_language(["--lang", "ja"], "en"), wanted_language([], "en")
    ('ja', 'ja', 'en')
    """
    for index, word in enumerate(argv):
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
        if word == "--lang" and index + 1 < len(argv):
            return argv[index + 1]
    return default


def commands_of(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below `command` with the words that lead to it, itself first."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands_of(inner, (*path, name))


def help_texts(command: Any) -> Iterator[str]:
    """Every help text below `command`, as the catalogues key it."""
    for _, one in commands_of(command):
        yield from (text for text in (one.help, one.epilog) if text)
        yield from (parameter.help for parameter in one.params if getattr(parameter, "help", None))


def localise(command: Any, language: str) -> None:
    """Put the help of `command` and all below it into `language`, in place."""
    for _, one in commands_of(command):
        one.help = one.help and translate(inspect.cleandoc(one.help), language)
        one.epilog = one.epilog and translate(one.epilog, language)
        for parameter in one.params:
            if getattr(parameter, "help", None):
                parameter.help = translate(parameter.help, language)
