"""The one place that decides which part of the shared data is trained on, calibrated on and measured on.

A row's split follows from its *key* alone: the normalised title of its article (popqa: of the question's subject,
covidqa: of the paper), the picture of a caption pair, the question where there is nothing else, or the dialogue. Keys
are hashed with SHA-256, so that one article lands in one split whatever set it occurs in. Parts that only benchmarks
may use (`BENCHMARK_ONLY`) are TEST whatever the hash says, and a key that occurs in one of them is TEST everywhere.

Fitted artefacts write down the fingerprints of every passage they have seen (`write_fitted_on`), and `measured_by`
names every passage that a benchmark measures: ``tests/testing/test_splits.py`` holds the two apart.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tadasu.testing.datasets import Part, PassageRow, keys, normal, passages

BENCHMARK_ONLY = frozenset({Part.JSQUAD_VALID, Part.JAQUAD_DEV, Part.JSTS_VALID, Part.TIAGE_DEV})
"""Parts that are measured on and never fitted on."""

_TRAIN_SHARE, _CALIBRATE_SHARE = 0.6, 0.2
_FINGERPRINT_DIGITS = 16


class Split(enum.Enum):
    """What a row may be used for. CALIBRATE counts as fitted on; only TEST rows are measured."""

    TRAIN = "train"
    CALIBRATE = "calibrate"
    TEST = "test"


def split_of(part: Part, key: str) -> Split:
    """The split of a row of `part` by its key (`datasets.keys`, or the `key` of a row).

    Raises `DataAbsent` where a benchmark-only part cannot be read: without it, nothing can be promised.
    """
    if part in BENCHMARK_ONLY or key in _reserved():
        return Split.TEST
    return _by_hash(key)


def _by_hash(key: str) -> Split:
    digest = hashlib.sha256(key.encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < _TRAIN_SHARE:
        return Split.TRAIN
    return Split.CALIBRATE if place < _TRAIN_SHARE + _CALIBRATE_SHARE else Split.TEST


@cache
def _reserved() -> frozenset[str]:
    return frozenset(key for part in sorted(BENCHMARK_ONLY, key=lambda part: part.value) for key in keys(part))


class Benchmark(enum.Enum):
    """A benchmark that measures something fitted, named as its program under ``benchmarks/`` is."""

    RETRIEVAL = "retrieval"
    GRADING = "grading_features"


def measured_by(benchmark: Benchmark) -> Iterator[PassageRow]:
    """Every passage that `benchmark` has in its index, distractors included."""
    match benchmark:
        case Benchmark.RETRIEVAL:
            # The reference figures of this benchmark use all of xquad_en and wiki_en, so what ranks there (the fusion
            # weights) may be fitted on neither.
            for part in (Part.JSQUAD_VALID, Part.JAQUAD_DEV, Part.XQUAD_EN, Part.WIKI_EN):
                yield from passages(part)
        case Benchmark.GRADING:
            for part in (Part.JSQUAD_VALID, Part.JAQUAD_DEV, Part.XQUAD_EN, Part.WIKI_EN, Part.POPQA, Part.COVIDQA):
                yield from (row for row in passages(part) if split_of(part, row.key) is Split.TEST)


def fingerprint(text: str) -> str:
    """A passage's name in a list of what was fitted on: the first 64 bits of the SHA-256 of its normalised text."""
    return hashlib.sha256(normal(text).encode()).hexdigest()[:_FINGERPRINT_DIGITS]


def write_fitted_on(path: Path, texts: Iterable[str]) -> int:
    """Write the fingerprints of `texts`, sorted, one a line; give their number."""
    marks = sorted({fingerprint(text) for text in texts})
    path.write_text("".join(f"{mark}\n" for mark in marks), encoding="ascii")
    return len(marks)


def read_fitted_on(path: Path) -> frozenset[str]:
    """The fingerprints that `write_fitted_on` wrote."""
    return frozenset(path.read_text(encoding="ascii").split())
