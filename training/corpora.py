"""The shared data sets, as training reads them: gzipped JSON lines under `$TADASU_DATA`."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"

# Counted to choose the vocabulary. Left out, because measurements are made on them: jsquad,
# jaquad dev, xquad_en, covidqa and jnli.
COUNTED = (
    "jaquad/train_passages",
    "jaquad/train_questions",
    "jsts/train",
    "jmultiwoz_topics/dialogues",
    "wiki_en/passages",
    "nq_open/dev",
    "popqa/questions",
    "halueval_qa/items",
    "openqa_eval/items",
    "superdialseg/validation",
    "tiage/train",
)

_TEXT_KEYS = frozenset({"title", "text", "question", "sentence1", "sentence2", "knowledge"})
_ENGLISH = frozenset({"wiki_en", "nq_open", "popqa", "halueval_qa", "openqa_eval", "superdialseg", "tiage"})


def folder() -> Path:
    """Where the data sets are: `$TADASU_DATA`, else `../shared/data` beside the repository."""
    return Path(os.environ.get("TADASU_DATA") or DEFAULT_FOLDER).resolve()


def path_of(name: str) -> Path:
    """The file of one part, such as ``jaquad/dev_passages``."""
    return folder() / f"{name}.jsonl.gz"


def rows(name: str) -> list[dict[str, Any]]:
    """All rows of one part."""
    with gzip.open(path_of(name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def missing(*names: str) -> list[str]:
    """Those of the parts whose files are absent."""
    return [name for name in names if not path_of(name).is_file()]


def is_english(name: str) -> bool:
    """Whether a counted part is in English (else it is in Japanese)."""
    return name.split("/", maxsplit=1)[0] in _ENGLISH


def texts_of(name: str) -> Iterator[str]:
    """Every text of one part, whatever the shape of its rows."""
    for row in rows(name):
        yield from _texts(row)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                if key in _TEXT_KEYS and inner:
                    yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
