"""Who may see a file that no access file speaks of: as is said now, else as was said before.

Silence never shows a document to more people.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tadasu.answering.ingestion.sources import is_below, nearness
from tadasu.errors import InputInvalid, StoreUnwritable

Groups = frozenset[str]


@dataclass(frozen=True, slots=True)
class Tagged:
    """Groups of one file; `kept` says that nobody named them in this call."""

    groups: Groups
    kept: bool = False


class Tags:
    """The groups of files for one ingest."""

    def __init__(
        self,
        *,
        said: Groups | None = None,
        known: Mapping[str, Groups] | None = None,
        remembered: Mapping[str, Groups] | None = None,
    ) -> None:
        """`said` is what the call names (empty: open, None: nothing), `known` the groups of stored documents by source,

        `remembered` those that earlier calls named for folders and files.
        """
        self._said = said
        self._remembered = remembered or {}
        self._known: dict[str, Groups] = {}
        self._folders: dict[str, set[Groups]] = defaultdict(set)
        for source, groups in (known or {}).items():
            self._folders[_folder(source)].add(groups)
            at = len(source)
            while at > 0:  # a row speaks for its file
                self._known[source[:at]] = _stricter(self._known.get(source[:at]), groups)
                at = source.rfind("#", 0, at)

    def of(self, source: str) -> Tagged:
        """Who may see the file at `source`.

        Where nothing is said: a restricted document keeps its groups; else the nearest path that was named with groups
        holds; else a new file joins a folder all of whose files are stored for the same groups.
        """
        if self._said is not None:
            return Tagged(self._said)
        known = self._known.get(source)
        if known:
            return Tagged(known, kept=True)
        above = [prefix for prefix in self._remembered if is_below(source, prefix)]
        if above:
            groups = self._remembered[max(above, key=nearness)]
            return Tagged(groups, kept=bool(groups))
        beside = self._folders.get(_folder(source), set())
        if known is None and len(beside) == 1:
            (groups,) = beside
            return Tagged(groups, kept=bool(groups))
        return Tagged(frozenset())


def _folder(source: str) -> str:
    return source.rpartition("/")[0]


def _stricter(before: Groups | None, groups: Groups) -> Groups:
    """Rows that differ were left by a run that was stopped: a restriction counts more than none, few more than many."""
    if not before or not groups:
        return before or groups
    return min(before, groups, key=lambda one: (len(one), sorted(one)))


class TagMemory:
    """What was said with ``--groups`` and ``--public``, in a small file beside the index, which it outlives.

    ``{"tenant": {"docs/board": ["board"]}}``. Without a path nothing is remembered.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def of(self, tenant: str) -> dict[str, Groups]:
        """Groups by source of a folder or file; raises InputInvalid where the file cannot be understood."""
        return {source: frozenset(groups) for source, groups in self._read().get(tenant, {}).items()}

    def say(self, tenant: str, sources: Sequence[str], groups: Groups) -> None:
        """From now on `groups` (empty: everybody) hold for `sources` and all below them.

        Raises InputInvalid as `of` does, StoreUnwritable where it cannot be written down.
        """
        if self._path is None:
            return
        loaded = self._read()
        before = loaded.get(tenant, {})
        kept = {one: named for one, named in before.items() if not any(is_below(one, source) for source in sources)}
        loaded[tenant] = kept | dict.fromkeys(sources, sorted(groups))
        if loaded[tenant] == before:
            return
        partial = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        text = json.dumps(loaded, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(text, encoding="utf-8")
            partial.replace(self._path)
        except OSError as error:
            raise StoreUnwritable(path=self._path, reason=error.strerror or str(error)) from None

    def _read(self) -> dict[str, dict[str, list[str]]]:
        if self._path is None:
            return {}
        try:
            loaded = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise self._broken(str(error)) from None
        if not isinstance(loaded, dict) or not all(_is_book(book) for book in loaded.values()):
            raise self._broken("it is no table of folders and groups")
        return loaded

    def _broken(self, reason: str) -> InputInvalid:
        return InputInvalid(
            where=str(self._path),
            reason=f"the groups given with --groups cannot be read back ({reason})",
            fix="Mend the file; if you remove it, name the groups of every folder again with --groups.",
        )


def _is_book(book: object) -> bool:
    return isinstance(book, dict) and all(
        isinstance(groups, list) and all(isinstance(group, str) for group in groups) for groups in book.values()
    )
