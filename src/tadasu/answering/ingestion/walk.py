"""The files of a folder, in one order on every machine, without leaving it and without touching what is no file."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tadasu.answering.ingestion.access import ACCESS_FILE, AccessRule, read_rule, rule_above
from tadasu.answering.ingestion.documents import Place
from tadasu.errors import DocumentError, DocumentUnreadable, InputInvalid, PathEscapes

_SETTINGS_FILE = "tadasu.toml"
_ONLY_FILES = "Take it out of the folder; only files can be ingested."
_MEND_LINK = "Mend the link, or remove it."
_SPECIAL = (
    (stat.S_ISFIFO, "it is a named pipe, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
)


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file to ingest, how the sources of its documents begin, and where it lies."""

    path: Path
    source: str
    place: Place = Place.INSIDE


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file: where it is, how it is called, how large it was, who may see it."""

    path: Path
    source: str
    size: int
    groups: frozenset[str]
    place: Place = Place.INSIDE


@dataclass(frozen=True, slots=True)
class Refused:
    """A file or folder that was not taken. What was stored from below `source` before is kept where `keep` is set."""

    source: str
    error: DocumentError
    keep: bool


def roots_of(paths: Path | Sequence[Path], *, base: Path | None = None) -> tuple[Root, ...]:
    """The roots to walk, those inside another left out.

    A root inside `base` (the folder of the workspace) is called by its path from there, any other by its own name: so a
    source is the same from every working directory, and a folder is called the same whether it is ingested by itself
    or with the folder above it.

    Raises:
        InputInvalid: a path does not exist, or two roots outside `base` have one name.
    """
    given = [paths] if isinstance(paths, Path) else list(paths)
    resolved: dict[Path, str] = {}
    for path in given:
        if not path.exists():
            raise InputInvalid(where=str(path), reason="there is no such file or folder", fix="Check the path.")
        resolved.setdefault(path.resolve(), Path(os.path.abspath(path)).name)  # noqa: PTH100 - a link keeps its name
    kept = [path for path in resolved if not any(path != other and path.is_relative_to(other) for other in resolved)]
    above = base.resolve() if base is not None else None
    roots = tuple(_root(path, resolved[path], above) for path in kept)
    for root in roots:
        twins = [other for other in roots if other.source == root.source and other is not root]
        if twins:
            raise InputInvalid(
                where=str(twins[0].path),
                reason=f"{root.path} is called {root.source or '.'} too, and their documents could not be told apart",
                fix="Ingest the folder above both, or rename one.",
            )
    return roots


def _root(path: Path, name: str, base: Path | None) -> Root:
    if base is None or not path.is_relative_to(base):
        return Root(path, normal_source(name), Place.INSIDE if base is None else Place.OUTSIDE)
    inside = path.relative_to(base).as_posix()
    return Root(path, "" if inside == "." else normal_source(inside))


def normal_source(path: str) -> str:
    """A source in Unicode NFC with ``/``; names that are no UTF-8 keep their bytes visible as ``\\xNN``."""
    return unicodedata.normalize("NFC", path.replace(os.sep, "/").encode("utf-8", "backslashreplace").decode("utf-8"))


def walk(root: Root, *, groups: frozenset[str] = frozenset()) -> Iterator[FoundFile | Refused]:
    """Files below `root`, sorted by name, without hidden ones (``.name``), lock files (``~$name``) and our settings.

    Links to files inside the root are followed, links that leave it refused; folders behind links are walked only where
    no other way leads to them. Nothing is opened, so pipes and devices cannot block.

    Args:
        root: a folder or one file.
        groups: who may see files where no access file says otherwise.
    """
    walker = _Walker(root, groups)
    if root.path.is_dir():
        yield from walker.folder(root.path, root.source, None)
    else:
        yield from walker.single()


class _Walker:
    def __init__(self, root: Root, groups: frozenset[str]) -> None:
        self._real_root = Path(os.path.realpath(root.path))
        self._root = root
        self._default = AccessRule(groups=groups)
        self._visited: set[Path] = set()

    def single(self) -> Iterator[FoundFile | Refused]:
        path = self._root.path
        try:
            rule = (
                read_rule(path.parent, source=f"{path.parent.name}/{ACCESS_FILE}")
                or rule_above(path.parent)
                or self._default
            )
        except DocumentError as error:
            yield Refused(self._root.source, error, keep=True)
            return
        yield from self._entry(path, self._root.source, rule)

    def folder(self, path: Path, source: str, inherited: AccessRule | None) -> Iterator[FoundFile | Refused]:
        real = Path(os.path.realpath(path))
        if real in self._visited:
            return
        self._visited.add(real)
        below = f"{source}/" if source else ""
        try:
            rule = read_rule(path, source=f"{below}{ACCESS_FILE}") or inherited or rule_above(path) or self._default
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except DocumentError as error:
            yield Refused(source, error, keep=True)
            return
        except OSError as error:
            yield Refused(source, DocumentUnreadable(source=source or ".", reason=reason_of(error)), keep=True)
            return
        for entry in entries:
            if entry.name.startswith((".", "~$")) or entry.name == _SETTINGS_FILE:
                continue
            here = below + normal_source(entry.name)
            child = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from self.folder(child, here, AccessRule(groups=rule.groups))
            else:
                yield from self._entry(child, here, rule)

    def _entry(self, path: Path, source: str, rule: AccessRule) -> Iterator[FoundFile | Refused]:
        try:
            link = stat.S_ISLNK(path.lstat().st_mode)
            found = path.stat()
        except OSError as error:
            yield Refused(source, _unreadable(source, error), keep=True)
            return
        if link:
            target = Path(os.path.realpath(path))
            if not target.is_relative_to(self._real_root):
                yield Refused(source, PathEscapes(source=source, name="the link"), keep=False)
                return
            if stat.S_ISDIR(found.st_mode):
                if any(part.startswith(".") for part in target.relative_to(self._real_root).parts):
                    yield from self.folder(path, source, AccessRule(groups=rule.groups))
                return
            try:
                rule = self._rule_of_target(target, rule)
            except DocumentError as error:
                yield Refused(source, error, keep=True)
                return
        for test, reason in _SPECIAL:
            if test(found.st_mode):
                yield Refused(source, DocumentUnreadable(source=source, reason=reason, way_out=_ONLY_FILES), keep=False)
                return
        yield FoundFile(path, source, found.st_size, rule.of(path.name), self._root.place)

    def _rule_of_target(self, target: Path, rule: AccessRule) -> AccessRule:
        """A link must not open what its target's folder closes: where they differ, the target's rule holds."""
        for folder in target.parents:
            if (found := read_rule(folder, source=f"{folder.name}/{ACCESS_FILE}")) is not None:
                return AccessRule(groups=found.of(target.name) if folder == target.parent else found.groups)
            if folder == self._real_root:
                break
        return rule


def _unreadable(source: str, error: OSError) -> DocumentUnreadable:
    if isinstance(error, FileNotFoundError):
        return DocumentUnreadable(source=source, reason="the link points to nothing", way_out=_MEND_LINK)
    if error.errno == errno.ELOOP:
        return DocumentUnreadable(source=source, reason="the link leads back to itself", way_out=_MEND_LINK)
    return DocumentUnreadable(source=source, reason=reason_of(error))


def reason_of(error: OSError) -> str:
    """The operating system's words for what it refused."""
    return (error.strerror or type(error).__name__).lower()
