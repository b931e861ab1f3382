"""What the second tier is trained on: a question and passages with labels, one group a line of gzipped JSON.

A file is written under another name and then renamed, so that a reader polling the folder never sees half of one. Next
to it lies the recipe it was made by: a step that is run again makes only what its recipe does not describe.
"""

from __future__ import annotations

import enum
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadasu.testing.splits import Split

_BESIDE = Path(__file__).resolve().parents[2] / "build" / "grader"
_LEVEL = 5

Span = tuple[int, int]
"""Half-open, in code points of a passage's text."""


class Kind(enum.StrEnum):
    """Why a passage stands in its group."""

    GOLD = "gold"
    RETRIEVED = "retrieved"
    SAME_ARTICLE = "same_article"
    ANSWER_REMOVED = "answer_removed"
    OTHER_ENTITY = "other_entity"
    TOPICAL = "topical"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class RowPassage:
    """A passage of a group.

    Attributes:
        title: may be empty.
        text: not empty.
        strips: as an index holds them, contiguous over `text`.
        label: 1 answers the question, 0 does not, -1 unknown.
        spans: where answers stand in `text`, sorted and apart; empty unless `label` is 1.
        kind: why it stands here.
        teacher: the teacher's logit of this pair, None where it was not asked.
    """

    title: str
    text: str
    strips: tuple[Span, ...]
    label: int
    spans: tuple[Span, ...]
    kind: Kind
    teacher: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A question and its passages; `id` is unique within set and split."""

    set: str
    split: Split
    language: str
    id: str
    question: str
    answers: tuple[str, ...]
    passages: tuple[RowPassage, ...]


def folder() -> Path:
    """Where rows are kept: `$TADASU_TRAINING`, else `build/grader` of this repository."""
    return Path(os.environ.get("TADASU_TRAINING") or _BESIDE)


def path_of(name: str, split: Split, *, where: Path | None = None, state: str = "rows") -> Path:
    """The file of one set and split; with another `state`, one that is no rows to train on yet."""
    return (where or folder()) / f"{state}_{name}_{split.value}.jsonl.gz"


def write_groups(path: Path, groups: Iterable[Group], *, recipe: Mapping[str, Any] | None = None) -> int:
    """Write groups and, if given, the recipe they were made by; give their number. The same groups, the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    number = 0
    with (
        half.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as out,
    ):
        for group in groups:
            out.write(json.dumps(_as_json(group), ensure_ascii=False).encode() + b"\n")
            number += 1
    half.replace(path)
    if recipe is not None:
        beside = _recipe_path(path)
        half = beside.with_name(f".{beside.name}.{os.getpid()}")
        half.write_text(json.dumps(dict(recipe), sort_keys=True, indent=1) + "\n", encoding="utf-8")
        half.replace(beside)
    return number


def is_made(path: Path, *, recipe: Mapping[str, Any]) -> bool:
    """Whether `path` is there and was made by `recipe`."""
    beside = _recipe_path(path)
    return path.is_file() and beside.is_file() and json.loads(beside.read_text(encoding="utf-8")) == dict(recipe)


def read_groups(path: Path) -> Iterator[Group]:
    """The groups of a file in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _from_json(json.loads(line))


def _recipe_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".jsonl.gz") + ".recipe.json")


def _as_json(group: Group) -> dict[str, Any]:
    return {
        "set": group.set,
        "split": group.split.value,
        "language": group.language,
        "id": group.id,
        "question": group.question,
        "answers": list(group.answers),
        "passages": [
            {
                "title": one.title,
                "text": one.text,
                "strips": one.strips,
                "label": one.label,
                "spans": one.spans,
                "kind": one.kind.value,
                "teacher": one.teacher,
            }
            for one in group.passages
        ],
    }


def _from_json(row: Mapping[str, Any]) -> Group:
    return Group(
        set=row["set"],
        split=Split(row["split"]),
        language=row["language"],
        id=row["id"],
        question=row["question"],
        answers=tuple(row["answers"]),
        passages=tuple(
            RowPassage(
                title=one["title"],
                text=one["text"],
                strips=tuple((start, end) for start, end in one["strips"]),
                label=one["label"],
                spans=tuple((start, end) for start, end in one["spans"]),
                kind=Kind(one["kind"]),
                teacher=one["teacher"],
            )
            for one in row["passages"]
        ),
    )
