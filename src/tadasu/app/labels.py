"""Labels as people write them: CSV or JSONL, in any encoding that Excel leaves behind, with every bad row named."""

from __future__ import annotations

import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tadasu.errors import InputInvalid, LabelContradicted, LabelInvalid, TadasuError

_COLUMNS = {
    "question": ("question", "query", "質問", "問い"),
    "passage": ("passage", "passage_id", "text", "パッセージ", "本文", "文章"),
    "document": ("document", "document_id", "source", "文書", "出典", "ファイル"),
    "label": ("label", "relevant", "relevance", "ラベル", "判定", "関連性"),
    "language": ("language", "lang", "言語"),
}
_YES = frozenset({"1", "1.0", "yes", "y", "true", "t", "relevant", "はい", "関連", "関連あり", "有", "○", "◯", "〇"})
_NO = frozenset(
    {"0", "0.0", "no", "n", "false", "f", "irrelevant", "not relevant", "いいえ", "無関係", "関連なし", "無", "×", "✕"}
)  # fmt: skip
_SHAPE = "Each row needs a question, a label (1 or 0, yes or no, はい or いいえ), and a passage or a document."


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One row: whether `passage` (its text or its id), or else any passage of `document` (id or source), is relevant.

    `stratum` and `share` come from `tadasu label`: from which part of the scores the pair was picked, and how much of
    all pairs that part is; empty and 0 where nobody picked by score.
    """

    row: int
    question: str
    relevant: bool
    passage: str = ""
    document: str = ""
    language: str = ""
    stratum: str = ""
    share: float = 0.0

    @property
    def pair(self) -> tuple[str, str]:
        """What makes two labels labels of the same pair."""
        return " ".join(self.question.split()), " ".join((self.passage or self.document).split())


@dataclass(frozen=True, slots=True)
class LabelFile:
    """What a file held: its labels, an error for every row that cannot be used, how many rows say a thing again."""

    name: str
    labels: tuple[Label, ...]
    bad: tuple[tuple[int, TadasuError], ...] = ()
    repeated: int = 0

    @property
    def rows(self) -> int:
        """How many rows were given."""
        return len(self.labels) + len(self.bad) + self.repeated


def load_labels(path: Path) -> LabelFile:
    """The labels in the file at `path`; raises InputInvalid where it cannot be read at all."""
    try:
        data = path.expanduser().read_bytes()
    except OSError as problem:
        reason = f"cannot be read ({problem.strerror or problem})"
        fix = "Check the path, or collect labels with `tadasu label`."
        raise InputInvalid(where=str(path), reason=reason, fix=fix) from problem
    return read_labels(data, name=str(path))


def read_labels(data: bytes, *, name: str) -> LabelFile:
    """The labels in `data`, JSONL or CSV by what it begins with. Raises InputInvalid, EncodingUnknown."""
    begins = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    rows = _json_rows(data, name) if begins == b"{" else _csv_rows(data, name)
    labels: list[Label] = []
    bad: list[tuple[int, TadasuError]] = []
    seen: dict[tuple[str, str], Label] = {}
    repeated = 0
    for number, row in rows:
        label = row if isinstance(row, str) else _label(number, row)
        if isinstance(label, str):
            bad.append((number, LabelInvalid(name=name, row=number, reason=label, fix=_SHAPE)))
            continue
        before = seen.setdefault(label.pair, label)
        if before is label:
            labels.append(label)
        elif before.relevant is label.relevant:
            repeated += 1
        else:
            bad.append((number, LabelContradicted(name=name, row=number, earlier=before.row)))
    return LabelFile(name, tuple(labels), tuple(bad), repeated)


def weights_of(labels: Sequence[Label]) -> list[float]:
    """How many pairs each label stands for, one on average: parts of the scores that were picked more often count less.

    >>> from dataclasses import replace
    >>> few = Label(row=1, question="q", relevant=True, passage="a", stratum="low", share=0.8)
    >>> weights_of([few, replace(few, stratum="high", share=0.2)])
    [1.6, 0.4]
    """
    picked = [label for label in labels if label.stratum and label.share > 0.0]
    counts = Counter(label.stratum for label in picked)
    shares = {name: sum(one.share for one in picked if one.stratum == name) / count for name, count in counts.items()}
    total = sum(shares.values())
    return [
        shares[label.stratum] / total / (counts[label.stratum] / len(picked))
        if label.stratum in counts and label.share > 0.0
        else 1.0
        for label in labels
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLine:
    """A label as `tadasu label` keeps it."""

    question: str
    passage: str
    document: str
    source: str
    label: int
    picked: str
    stratum: str
    share: float
    probability: float | None
    at: str


@dataclass(slots=True)
class LabelBook:
    """The file of `tadasu label`: every answer is on the disk when `add` returns."""

    path: Path
    _starts: list[int] = field(default_factory=list)

    def pairs(self) -> set[tuple[str, str]]:
        """(question, passage id) of all that is labelled."""
        return {label.pair for label in self.labels()}

    def labels(self) -> tuple[Label, ...]:
        """All labels; none where there is no file yet. A last line that was cut off (a kill) is passed over."""
        return load_labels(self.path).labels if self.path.exists() else ()

    def add(self, line: LabelLine) -> None:
        """Append `line`; raises InputInvalid where the file cannot be written."""
        row = {name: getattr(line, name) for name in LabelLine.__slots__}
        try:
            with self.path.open("ab") as file:
                start = file.seek(0, os.SEEK_END)
                cut = start > 0 and not _ends_whole(self.path)
                file.write((b"\n" if cut else b"") + json.dumps(row, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            reason = f"cannot be written ({problem.strerror or problem})"
            raise InputInvalid(where=str(self.path), reason=reason, fix="Check its permissions.") from problem
        self._starts.append(start)

    def undo(self) -> bool:
        """Take back the latest label of this session; whether there was one."""
        if not self._starts:
            return False
        with self.path.open("r+b") as file:
            file.truncate(self._starts.pop())
            os.fsync(file.fileno())
        return True


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _json_rows(data: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    from tadasu.answering.ingestion.decode import decode

    for number, line in enumerate(decode(data, source=name).text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield number, "it is not JSON that can be read"
            continue
        yield number, row if isinstance(row, dict) else "it is not a JSON object"


def _csv_rows(data: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    from tadasu.answering.ingestion.parsers.csv import csv_rows
    from tadasu.answering.ingestion.parsers.parsed import RowProblem

    header: list[str] | None = None
    for row in csv_rows(data, source=name):
        if isinstance(row, RowProblem):
            yield row.row, row.reason
        elif header is None:
            header = [cell.strip() for cell in row[1]]
            _check_header(header, name)
        else:
            yield row[0], dict(zip(header, row[1], strict=False))
    if header is None:
        raise InputInvalid(where=name, reason="holds no rows", fix=_SHAPE)


def _check_header(header: Iterable[str], name: str) -> None:
    lowered = {column.lower() for column in header}
    for wanted, reason in (
        ("question", "its first row names no column question"),
        ("label", "its first row names no column label"),
    ):
        if not lowered & set(_COLUMNS[wanted]):
            raise InputInvalid(where=name, reason=reason, fix="Name the columns: question, passage, label.")
    if not lowered & {*_COLUMNS["passage"], *_COLUMNS["document"]}:
        reason = "its first row names neither a column passage nor a column document"
        raise InputInvalid(where=name, reason=reason, fix="Name the columns: question, passage, label.")


def _label(number: int, row: Mapping[str, Any]) -> Label | str:
    """The label in `row`, or what is wrong with it."""
    cells = {str(name).strip().lower(): value for name, value in row.items()}
    found = {name: _cell(cells, names) for name, names in _COLUMNS.items()}
    if not found["question"]:
        return "it has no question"
    if not found["passage"] and not found["document"]:
        return "it names neither a passage nor a document"
    if not found["label"]:
        return "it has no label"
    word = unicodedata.normalize("NFKC", found["label"]).strip().lower()
    if word not in _YES | _NO:
        return "its label is neither yes nor no"
    share = cells.get("share")
    return Label(
        row=number,
        question=found["question"],
        relevant=word in _YES,
        passage=found["passage"],
        document=found["document"],
        language=found["language"].lower(),
        stratum=str(cells.get("stratum") or ""),
        share=float(share) if isinstance(share, int | float) and 0.0 < share <= 1.0 else 0.0,
    )


def _cell(cells: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = cells.get(name)
        if isinstance(value, bool):
            return "1" if value else "0"
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value).strip()
    return ""
