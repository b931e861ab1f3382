"""Questions with graded-to-be candidates, mined once and kept in a file, so that every grader sees the same pairs."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tadasu.core.documents import Passage, Span
from tadasu.core.retrieved import Candidate, Retrieval

if TYPE_CHECKING:
    from tadasu.core.vectors import FloatMatrix

Labels = NDArray[np.int8]

_TABLES = """
CREATE TABLE IF NOT EXISTS mined (name TEXT PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS passage (name TEXT, id TEXT, value TEXT, vectors BLOB, PRIMARY KEY (name, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS question (name TEXT, place INTEGER, value TEXT, vector BLOB, PRIMARY KEY (name, place));
"""


@dataclass(frozen=True, slots=True)
class Group:
    """One question and what a search brought back for it.

    `labels` is 1 for a candidate that holds the answer, 0 for one that does not, -1 where it is not known; `keyword` is
    the BM25 score of each, also of those that the keyword search itself did not bring back. `answerable` says whether
    a passage that holds the answer is among what was searched.
    """

    id: str
    language: str
    retrieval: Retrieval
    labels: Labels
    keyword: NDArray[np.float64]
    answerable: bool = True

    @property
    def question(self) -> str:
        """The question as it was asked."""
        return self.retrieval.query

    def without(self, ids: frozenset[str]) -> Group:
        """The same question without the candidates `ids`."""
        kept = [place for place, one in enumerate(self.retrieval.candidates) if one.passage.id not in ids]
        candidates = tuple(self.retrieval.candidates[place] for place in kept)
        return replace(
            self,
            retrieval=replace(self.retrieval, candidates=candidates),
            labels=self.labels[kept],
            keyword=self.keyword[kept],
        )


class GroupFile:
    """Sets of groups in one SQLite file. A set is read again only under the key that it was written with."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with closing(self._open()) as file, file:
            file.executescript(_TABLES)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)

    def read(self, name: str, *, key: str) -> list[Group] | None:
        """The groups of set `name`, or None where there are none or they were mined in another way."""
        with closing(self._open()) as file:
            found = file.execute("SELECT key FROM mined WHERE name = ?", (name,)).fetchone()
            if found is None or found[0] != key:
                return None
            passages = {
                id_: (_passage(json.loads(value)), _matrix(vectors))
                for id_, value, vectors in file.execute(
                    "SELECT id, value, vectors FROM passage WHERE name = ?", (name,)
                )
            }
            rows = file.execute("SELECT value, vector FROM question WHERE name = ? ORDER BY place", (name,))
            return [_group(json.loads(value), vector, passages) for value, vector in rows]

    def write(self, name: str, groups: Iterable[Group], *, key: str) -> None:
        """Keep `groups` as set `name`, in place of what was there."""
        with closing(self._open()) as file, file:
            for table in ("mined", "passage", "question"):
                file.execute(f"DELETE FROM {table} WHERE name = ?", (name,))
            for place, group in enumerate(groups):
                file.executemany("INSERT OR IGNORE INTO passage VALUES (?, ?, ?, ?)", _passages(name, group))
                file.execute("INSERT INTO question VALUES (?, ?, ?, ?)", (name, place, *_question(group)))
            file.execute("INSERT INTO mined VALUES (?, ?)", (name, key))


def key_of(*parts: object) -> str:
    """A key for `GroupFile` from everything that mining depends on."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def _passages(name: str, group: Group) -> Iterator[tuple[str, str, str, bytes]]:
    for candidate in group.retrieval.candidates:
        passage = candidate.passage
        value = {
            "document": passage.document_id,
            "source": passage.source,
            "title": passage.title,
            "text": passage.text,
            "span": [passage.span.start, passage.span.end],
            "strips": [[span.start, span.end] for span in passage.strips],
            "ordinal": passage.ordinal,
            "language": passage.language,
        }
        if candidate.vector is None or candidate.strip_vectors is None:
            raise ValueError(f"passage {passage.id} was found without its vectors")
        vectors = np.vstack([candidate.vector[None], candidate.strip_vectors]).astype(np.float32)
        yield name, passage.id, json.dumps(value, ensure_ascii=False), vectors.tobytes() + _width(vectors)


def _width(vectors: FloatMatrix) -> bytes:
    return int(vectors.shape[1]).to_bytes(4, "little")


def _matrix(raw: bytes) -> FloatMatrix:
    width = int.from_bytes(raw[-4:], "little")
    return np.frombuffer(raw[:-4], dtype=np.float32).reshape(-1, width)


def _passage(value: dict[str, object]) -> Passage:
    def spans(raw: object) -> tuple[Span, ...]:
        return tuple(Span(int(start), int(end)) for start, end in raw)  # type: ignore[attr-defined]

    text = str(value["text"])
    return Passage(
        id="",
        document_id=str(value["document"]),
        source=str(value["source"]),
        title=str(value["title"]),
        text=text,
        span=spans([value["span"]])[0],
        strips=spans(value["strips"]),
        ordinal=int(str(value["ordinal"])),
        language=str(value["language"]),
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
    )


def _question(group: Group) -> tuple[str, bytes]:
    retrieval = group.retrieval
    if retrieval.query_vector is None:
        raise ValueError(f"question {group.id} has no vector")
    value = {
        "id": group.id,
        "language": group.language,
        "question": retrieval.query,
        "weights": dict(retrieval.term_weights),
        "labels": group.labels.tolist(),
        "keyword": group.keyword.tolist(),
        "answerable": group.answerable,
        "candidates": [
            [one.passage.id, one.fused, one.dense_rank, one.dense, one.lexical_rank, one.lexical]
            for one in retrieval.candidates
        ],
    }
    return json.dumps(value, ensure_ascii=False), retrieval.query_vector.astype(np.float32).tobytes()


def _group(value: dict[str, object], vector: bytes, passages: dict[str, tuple[Passage, FloatMatrix]]) -> Group:
    candidates = []
    for id_, fused, dense_rank, dense, lexical_rank, lexical in value["candidates"]:  # type: ignore[attr-defined]
        passage, vectors = passages[id_]
        candidates.append(
            Candidate(
                passage=replace(passage, id=id_),
                fused=fused,
                dense_rank=dense_rank,
                dense=dense,
                lexical_rank=lexical_rank,
                lexical=lexical,
                vector=vectors[0],
                strip_vectors=vectors[1:],
            )
        )
    return Group(
        id=str(value["id"]),
        language=str(value["language"]),
        retrieval=Retrieval(
            query=str(value["question"]),
            candidates=tuple(candidates),
            query_vector=np.frombuffer(vector, dtype=np.float32),
            term_weights=dict(value["weights"]),  # type: ignore[call-overload]
        ),
        labels=np.array(value["labels"], dtype=np.int8),
        keyword=np.array(value["keyword"], dtype=np.float64),
        answerable=bool(value["answerable"]),
    )
