"""Help in the reader's language: the texts of commands and options looked up in the catalogues."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tadasu.cli.exits import MEANINGS
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
    """Every help text below `command`, as the catalogues key it: paragraph by paragraph, examples left out."""
    for _, one in commands_of(command):
        yield from (text for text in _paragraphs(one.help or "") if not text.startswith("\b"))
        yield from (parameter.help for parameter in one.params if getattr(parameter, "help", None))


def localise(command: Any, language: str) -> None:
    """Put the help of `command` and all below it into `language`, in place."""
    for _, one in commands_of(command):
        one.help = "\n\n".join(_translated(text, language) for text in _paragraphs(one.help or ""))
        for parameter in one.params:
            if getattr(parameter, "help", None):
                parameter.help = translate(parameter.help, language)


def exit_codes(language: str) -> str:
    """The exit codes and what they mean, as the end of the help."""
    rows = (f"{code.value:>4}  {translate(meaning, language)}" for code, meaning in MEANINGS.items())
    return "\n".join((f"{translate('Exit codes', language)}:", "", "\b", *rows))


def _paragraphs(text: str) -> list[str]:
    parts = inspect.cleandoc(text).split("\n\n")
    return [part if part.startswith("\b") else " ".join(part.split()) for part in parts if part.strip()]


def _translated(paragraph: str, language: str) -> str:
    if not paragraph.startswith("\b"):
        return translate(paragraph, language)
    lines = paragraph.split("\n")
    return "\n".join(translate(line, language) if line.endswith(":") else line for line in lines)
