"""Rows of the support head: a claim, the text that it cites, whether that supports it, and which words are wrong.

One row a line of gzipped JSON, as the rows of the grader; whoever makes further rows writes a file of this form into
the same folder, and it is taken up by name.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tadasu.testing.splits import Split
from training.grader.rows import Span
from training.grader.rows import folder as grader_folder


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim and its source.

    Attributes:
        set: where it comes from.
        kind: how it was made: ``verbatim``, ``swap``, ``negation`` …
        language: ``en`` or ``ja``.
        question: what the sentence answers; may be empty.
        sentence: the claim.
        source: the text that is cited.
        label: 1 supported, 0 not.
        wrong: the words of `sentence` that make it wrong, as spans; None where nobody knows which.
    """

    set: str
    kind: str
    language: str
    question: str
    sentence: str
    source: str
    label: int
    wrong: tuple[Span, ...] | None = ()


def folder() -> Path:
    """Where rows and checkpoints are kept: ``heads`` in the folder of the grader's rows."""
    return grader_folder() / "heads"


def path_of(name: str, split: Split, *, where: Path | None = None) -> Path:
    """The file of one set and split."""
    return (where or folder()) / f"claims_{name}_{split.value}.jsonl.gz"


def write_rows(path: Path, rows: Iterable[ClaimRow]) -> int:
    """Write rows; give their number. The same rows, the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    number = 0
    with half.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", compresslevel=5, fileobj=raw, mtime=0) as out:
        for row in rows:
            out.write(json.dumps(asdict(row), ensure_ascii=False).encode() + b"\n")
            number += 1
    half.replace(path)
    return number


def read_rows(path: Path) -> Iterator[ClaimRow]:
    """The rows of a file in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            told = json.loads(line)
            wrong = told.pop("wrong")
            yield ClaimRow(**told, wrong=None if wrong is None else tuple((a, b) for a, b in wrong))
