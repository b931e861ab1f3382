"""Prompts as versioned texts with checked placeholders.

A prompt is a Markdown file: the system message, a line ``=== user ===``, the user message. ``{name}`` is a placeholder;
any other brace is text. Values are put in once and never read again, so nothing in a question or a document can act
as a placeholder. The id ends in a hash of the text: two prompts with one id are the same prompt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from tadasu.errors import SettingsInvalid
from tadasu.ports import Message

LANGUAGES = ("en", "ja")
PLACEHOLDERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "answer": frozenset({"question", "meaning", "evidence", "today", "nonce"}),
        "grade": frozenset({"question", "passages", "ids", "nonce", "note"}),
        "standalone": frozenset({"question", "conversation", "nonce"}),
        "rewrite": frozenset({"question", "tried"}),
        "decompose": frozenset({"question"}),
        "check": frozenset({"question", "source", "sentence", "nonce"}),
        "reflect": frozenset({"question", "evidence", "draft", "nonce"}),
        "revise": frozenset({"question", "evidence", "draft", "issues", "today", "nonce"}),
        "reword": frozenset({"question", "evidence", "sentence", "findings", "nonce"}),
    }
)
"""Each prompt's placeholders: a text must hold every one of them and no other."""

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_DIVIDER = re.compile(r"^=== user ===[ \t]*\n", re.MULTILINE)


class Prompt:
    """One version of one prompt in one language.

    >>> prompt = Prompt("rewrite", "en", "Find {question} not {tried}.")
    >>> prompt.render(question="{tried} %s $z", tried="{0}")
    'Find {tried} %s $z not {0}.'
    """

    __slots__ = ("_hash", "_parts", "language", "name", "placeholders", "text")

    def __init__(self, name: str, language: str, text: str) -> None:
        """Check `text`.

        Raises:
            SettingsInvalid: a placeholder that the prompt needs is missing, or one is there that nothing fills.
        """
        self.name = name
        self.language = language
        self.text = text.replace("\r\n", "\n").strip() + "\n"
        self.placeholders = frozenset(_PLACEHOLDER.findall(self.text))
        self._hash = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        wanted = PLACEHOLDERS.get(name, self.placeholders)
        for missing in sorted(wanted - self.placeholders):
            raise self._invalid(missing, "is missing from the text")
        for unknown in sorted(self.placeholders - wanted):
            raise self._invalid(unknown, f"is unknown; this prompt has {_listed(wanted)}")
        system, found, user = _split(self.text)
        self._parts = (("system", system), ("user", user)) if found else (("user", system),)

    @property
    def id(self) -> str:
        """Name, language and the first 8 hexadecimal digits of the text's SHA-256: ``answer/en@1f2e3d4c``."""
        return f"{self.name}/{self.language}@{self._hash}"

    def render(self, **values: str) -> str:
        """The whole text with `values` in place, system part first.

        Raises:
            SettingsInvalid: a placeholder without a value, or a value without a placeholder.
        """
        return "\n\n".join(message.content for message in self.messages(**values))

    def messages(self, **values: str) -> tuple[Message, ...]:
        """The prompt as chat messages with `values` in place; raises as `render` does."""
        for missing in sorted(self.placeholders - values.keys()):
            raise self._invalid(missing, "was given no value")
        for unknown in sorted(values.keys() - self.placeholders):
            raise self._invalid(unknown, f"is unknown; this prompt has {_listed(self.placeholders)}")
        return tuple(
            Message(role, _PLACEHOLDER.sub(lambda match: values[match.group(1)], part)) for role, part in self._parts
        )

    def _invalid(self, placeholder: str, reason: str) -> SettingsInvalid:
        where = f"prompt {self.name}/{self.language}"
        return SettingsInvalid(where=where, key=f"placeholder {{{placeholder}}}", reason=reason)


def load(name: str, language: str, *, folder: Path | None = None) -> Prompt:
    """The prompt called `name` in `language`; any language but Japanese gets the English one.

    Args:
        name: one of PLACEHOLDERS, such as ``answer``.
        language: ``en`` or ``ja``.
        folder: a directory with ``en/answer.md`` and so on, whose files come before the built-in ones.

    Raises:
        SettingsInvalid: no such prompt, or its text fails the checks of `Prompt`.
    """
    language = language if language in LANGUAGES else "en"
    if name not in PLACEHOLDERS:
        raise SettingsInvalid(where="prompts", key=name, reason=f"is unknown; there are {_listed(PLACEHOLDERS)}")
    own = folder / language / f"{name}.md" if folder is not None else None
    if own is not None and own.is_file():
        try:
            return Prompt(name, language, own.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsInvalid(where=str(own), key=name, reason=f"cannot be read ({error})") from error
    return _built_in(name, language)


@cache
def _built_in(name: str, language: str) -> Prompt:
    return Prompt(name, language, resources.files(__package__).joinpath(language, f"{name}.md").read_text("utf-8"))


def _split(text: str) -> tuple[str, bool, str]:
    parts = _DIVIDER.split(text, maxsplit=1)
    return parts[0].strip(), len(parts) == 2, parts[-1].strip()


def _listed(names: Mapping[str, object] | frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
