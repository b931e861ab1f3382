"""How documents are called: by their path from the workspace's folder, the same whichever way a file is ingested."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

_UP = ".."


def normal_source(path: str) -> str:
    """A source in Unicode NFC with ``/``; names that are no UTF-8 keep their bytes visible as ``\\xNN``."""
    return unicodedata.normalize("NFC", path.replace(os.sep, "/").encode("utf-8", "backslashreplace").decode("utf-8"))


def source_of(path: Path, base: Path) -> str:
    """The source of `path` seen from `base`, both absolute: ``docs/a.md``, ``../manuals/b.md``; ``""`` for `base`.

    A path on another drive, which has no way there, is called by itself.
    """
    try:
        relative = os.path.relpath(path, base)
    except ValueError:
        return normal_source(str(path))
    return "" if relative == os.curdir else normal_source(relative)


def is_below(source: str, prefix: str) -> bool:
    """Whether `source` is the file or folder `prefix`, a row of it, or below it.

    >>> is_below("docs/a.jsonl#1", "docs"), is_below("docs-2/a.md", "docs"), is_below("../b.md", "")
    (True, False, False)
    >>> is_below("docs/a.md", ".."), is_below("../b.md", ".."), is_below("../../c.md", "..")
    (True, True, False)
    """
    ups, names = _parts(prefix)
    if names:
        return source == prefix or source.startswith((f"{prefix}/", f"{prefix}#"))
    return not Path(source).is_absolute() and _parts(source)[0] <= ups


def stored_prefix(prefix: str) -> str:
    """With what every stored source below `prefix` begins."""
    return prefix if _parts(prefix)[1] else ""


def nearness(prefix: str) -> int:
    """Of two prefixes that a source is below, the one with the higher number is the nearer."""
    ups, names = _parts(prefix)
    return names - ups


def _parts(source: str) -> tuple[int, int]:
    """How many steps up a source begins with, and how many names follow."""
    parts = source.split("/") if source else []
    ups = next((at for at, part in enumerate(parts) if part != _UP), len(parts))
    return ups, len(parts) - ups
