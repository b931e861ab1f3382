"""The files of a folder, in one order on every machine, without leaving it and without touching what is no file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tadasu.answering.ingestion.access import ACCESS_FILE, AccessRule, read_rule
from tadasu.answering.ingestion.sources import normal_source, source_of
from tadasu.errors import AccessInvalid, DocumentError, DocumentUnreadable, InputInvalid, PathEscapes

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
    """A folder or file to ingest, the source that it has itself, and the folder that sources are seen from, if any."""

    path: Path
    source: str
    base: Path | None = None


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file: where it is, how it is called, how large it was, who may see it.

    `ruled` says that an access file names the groups; where none does they are empty and say nothing.
    """

    path: Path
    source: str
    size: int
    groups: frozenset[str] = frozenset()
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A file or folder that was not taken. What was stored from below `source` before is kept where `keep` is set.

    `closes` is the source of a folder whose access file is broken: nothing below it may be shown.
    """

    source: str
    error: DocumentError
    keep: bool
    closes: str | None = None


def roots_of(paths: Path | Sequence[Path], *, base: Path | None = None) -> tuple[Root, ...]:
    """The roots to walk, those inside another left out.

    Documents are called by their path from `base`, the folder of the workspace (``../manuals/a.md`` for what lies
    beside it), so that a file has one name whether it is ingested by itself, with its folder, or with the folder above.
    Links count as what they point to. Without a `base`, names begin with the root's own.

    Raises:
        InputInvalid: a path does not exist, or, without a `base`, two roots have one name.
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
    return Root(path, normal_source(name) if base is None else source_of(path, base), base)


def walk(root: Root) -> Iterator[FoundFile | Refused]:
    """Files below `root`, sorted by name, without hidden ones (``.name``), lock files (``~$name``) and our settings.

    What is behind a link is taken only where no other way leads to it, so that nothing is taken twice; links that leave
    the root are refused. Nothing is opened, so pipes and devices cannot block.
    """
    walker = _Walker(root)
    rule = walker.rule_at_start()
    if isinstance(rule, Refused):
        yield rule
    elif root.path.is_dir():
        yield from walker.folder(root.path, root.source, rule)
    else:
        yield from walker.entry(root.path, root.source, rule)


class _Walker:
    def __init__(self, root: Root) -> None:
        self._real_root = Path(os.path.realpath(root.path))
        self._root = root
        self._visited: set[Path] = set()

    def rule_at_start(self) -> AccessRule | Refused | None:
        """The rule that the root is under; a folder's own is read when it is walked."""
        path = self._root.path
        if os.path.exists(path / ACCESS_FILE):  # noqa: PTH110 - a folder that is locked is no error here
            return None
        for above in path.parents:
            closes = self._root.source if self._root.base is None else source_of(above, self._root.base)
            try:
                rule = read_rule(above, source=_access_source(above.name if self._root.base is None else closes))
            except AccessInvalid as error:
                return Refused(self._root.source, error, keep=False, closes=closes)
            if rule is not None:
                return rule if above == path.parent and not path.is_dir() else AccessRule(groups=rule.groups)
        return None

    def folder(self, path: Path, source: str, inherited: AccessRule | None) -> Iterator[FoundFile | Refused]:
        real = Path(os.path.realpath(path))
        if real in self._visited:
            return
        self._visited.add(real)
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
            rule = read_rule(path, source=_access_source(source)) or inherited
        except AccessInvalid as error:
            yield Refused(source, error, keep=False, closes=source)
            return
        except OSError as error:
            yield Refused(source, DocumentUnreadable(source=source or ".", reason=reason_of(error)), keep=True)
            return
        below = f"{source}/" if source else ""
        for entry in entries:
            if _is_passed_over(entry.name):
                continue
            here = below + normal_source(entry.name)
            child = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from self.folder(child, self._way_to_base(child, here), _for_below(rule))
            else:
                yield from self.entry(child, here, rule)

    def _way_to_base(self, folder: Path, source: str) -> str:
        """`source`, or another where `folder` leads from a root above the workspace down to it."""
        base = self._root.base
        return source_of(folder, base) if base is not None and base.is_relative_to(folder) else source

    def entry(self, path: Path, source: str, rule: AccessRule | None) -> Iterator[FoundFile | Refused]:
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
            if not any(_is_passed_over(part) for part in target.relative_to(self._real_root).parts):
                return  # it is taken where it lies
            if stat.S_ISDIR(found.st_mode):
                yield from self.folder(path, source, _for_below(rule))
                return
            try:
                rule = self._rule_of_target(target, rule)
            except AccessInvalid as error:
                yield Refused(source, error, keep=False, closes=source)
                return
        for test, reason in _SPECIAL:
            if test(found.st_mode):
                yield Refused(source, DocumentUnreadable(source=source, reason=reason, way_out=_ONLY_FILES), keep=False)
                return
        groups = frozenset[str]() if rule is None else rule.of(path.name)
        yield FoundFile(path, source, found.st_size, groups, ruled=rule is not None)

    def _rule_of_target(self, target: Path, rule: AccessRule | None) -> AccessRule | None:
        """A link must not open what its target's folder closes: where they differ, the target's rule holds."""
        for folder in target.parents:
            if (found := read_rule(folder, source=f"{folder.name}/{ACCESS_FILE}")) is not None:
                return AccessRule(groups=found.of(target.name) if folder == target.parent else found.groups)
            if folder == self._real_root:
                break
        return rule


def _for_below(rule: AccessRule | None) -> AccessRule | None:
    """A rule in the folders below its own, where its exceptions by file name do not hold."""
    return None if rule is None else AccessRule(groups=rule.groups)


def _access_source(folder: str) -> str:
    return f"{folder}/{ACCESS_FILE}" if folder else ACCESS_FILE


def _is_passed_over(name: str) -> bool:
    return name.startswith((".", "~$")) or name == _SETTINGS_FILE


def _unreadable(source: str, error: OSError) -> DocumentUnreadable:
    if isinstance(error, FileNotFoundError):
        return DocumentUnreadable(source=source, reason="the link points to nothing", way_out=_MEND_LINK)
    if error.errno == errno.ELOOP:
        return DocumentUnreadable(source=source, reason="the link leads back to itself", way_out=_MEND_LINK)
    return DocumentUnreadable(source=source, reason=reason_of(error))


def reason_of(error: OSError) -> str:
    """The operating system's words for what it refused."""
    return (error.strerror or type(error).__name__).lower()
