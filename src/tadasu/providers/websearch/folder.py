"""A directory of saved pages that plays the web: the offline default for the demo and for tests.

The directory holds ``index.jsonl``, one object a line with ``url``, ``title``, ``snippet``, ``file``, and optionally
``date`` and ``language``. Pages are ranked by BM25 over title, snippet and the words of the page.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Stage
from tadasu.errors import SearchFailed, SettingsInvalid
from tadasu.ports import Ledger, WebSearchSettings
from tadasu.runtime.ledger import timed
from tadasu.text.analyze import tokens

_NOT_TEXT = re.compile(r"(?is)<(script|style|nav|footer|header)\b.*?</\1>|<[^>]+>")
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class _Saved:
    page: WebPage
    counts: Counter[str]
    length: int


class FolderSearch:
    """WebSearch over a directory, read once at first use."""

    id = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pages: list[_Saved] | None = None

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """At most `limit` pages that share a term with `query`, best first, in any language."""
        del language  # saved pages are few: the ranking decides
        with timed(ledger, Stage.SEARCH, provider=self.id):
            pages = self._load()
            terms = set(tokens(query))
            scored = [(score, saved.page) for saved in pages if (score := self._bm25(terms, saved, pages)) > 0]
            scored.sort(key=lambda pair: -pair[0])
            return [page for _, page in scored[:limit]]

    def _load(self) -> list[_Saved]:
        if self._pages is None:
            index = self._folder / "index.jsonl"
            try:
                lines = index.read_text(encoding="utf-8").splitlines()
                self._pages = [self._read(json.loads(line)) for line in lines if line.strip()]
            except (OSError, ValueError, KeyError) as problem:
                raise SearchFailed(where=str(index), reason=f"{type(problem).__name__}: {problem}") from problem
        return self._pages

    def _read(self, row: dict[str, str]) -> _Saved:
        path = (self._folder / row["file"]).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            raise ValueError(f"{row['file']} lies outside the folder")
        body = path.read_bytes()
        words = html.unescape(_NOT_TEXT.sub(" ", body.decode("utf-8", "replace")))
        counts = Counter(tokens(f"{row['title']}\n{row.get('snippet', '')}\n{words}"))
        page = WebPage(
            url=row["url"],
            title=row["title"],
            snippet=row.get("snippet", ""),
            body=body,
            date=row.get("date", ""),
            language=row.get("language", "und"),
        )
        return _Saved(page, counts, sum(counts.values()))

    @staticmethod
    def _bm25(terms: set[str], saved: _Saved, pages: Sequence[_Saved]) -> float:
        mean = sum(other.length for other in pages) / len(pages) or 1.0
        score = 0.0
        for term in terms:
            count = saved.counts[term]
            if count:
                holders = sum(1 for other in pages if other.counts[term])
                weight = math.log(1 + (len(pages) - holders + 0.5) / (holders + 0.5))
                score += weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * saved.length / mean))
        return score


def open_search(settings: WebSearchSettings) -> FolderSearch:
    """The provider for the directory `settings.folder`; raises SettingsInvalid where there is none."""
    path = settings.folder
    if path is None or not (path / "index.jsonl").is_file():
        told = path or "empty"
        reason = f"names no folder with an index.jsonl ({told})"
        raise SettingsInvalid(where="tadasu.toml", key="web.folder", reason=reason)
    return FolderSearch(path)
