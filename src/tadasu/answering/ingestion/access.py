"""Who may see the files of a folder: ``.tadasu-access.toml`` beside them.

::

    groups = ["management"]          # any of these; an empty list opens the folder to the whole tenant

    [files]                          # exceptions by name or pattern
    "minutes-*.md" = ["board"]

The file holds for its folder and everything below, until a folder further down has one of its own.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tadasu.errors import AccessInvalid

ACCESS_FILE = ".tadasu-access.toml"


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Groups of a folder, and of files in it whose name matches a pattern."""

    groups: frozenset[str] = frozenset()
    files: tuple[tuple[str, frozenset[str]], ...] = field(default=())

    def of(self, name: str) -> frozenset[str]:
        """Groups that may see the file `name` of the folder itself; the first pattern that matches holds."""
        return next((groups for pattern, groups in self.files if fnmatchcase(name, pattern)), self.groups)


def read_rule(folder: Path, *, source: str) -> AccessRule | None:
    """The rule that `folder` itself holds, None where it has none.

    Raises:
        AccessInvalid: the file is there and cannot be read as a whole. Nothing below it may be shown then: a rule that
            is only half understood would show what it was meant to hide.
    """
    path = folder / ACCESS_FILE
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AccessInvalid(source=source, reason=(error.strerror or "it cannot be read").lower()) from None
    try:
        loaded = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AccessInvalid(source=source, reason=str(error)) from None
    if unknown := sorted(set(loaded) - {"groups", "files"}):
        raise AccessInvalid(source=source, reason=f"unknown key {unknown[0]}")
    if "groups" not in loaded:
        raise AccessInvalid(source=source, reason="the key groups is missing")
    files = loaded.get("files", {})
    if not isinstance(files, dict):
        raise AccessInvalid(source=source, reason="files is not a table")
    patterns = tuple((str(pattern), _groups(groups, f"files.{pattern}", source)) for pattern, groups in files.items())
    return AccessRule(groups=_groups(loaded["groups"], "groups", source), files=patterns)


def _groups(value: object, key: str, source: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(group, str) and group.strip() for group in value):
        raise AccessInvalid(source=source, reason=f"{key} is not a list of names")
    return frozenset(group.strip() for group in value)
