"""Graders side by side behind one small interface: a question and its candidates in, scores and probabilities out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.grading_groups import Group
from tadasu.answering.grading.cascade import Cascade, as_text
from tadasu.answering.grading.combination import FILE, CombinationTable
from tadasu.answering.grading.combination import load as load_table
from tadasu.answering.grading.cross_encoder import CrossEncoder, open_cross_encoder
from tadasu.answering.grading.features import open_features
from tadasu.core.grades import Grade, Thresholds
from tadasu.core.scores import logit_of, probability_of
from tadasu.ports import Grader, Ledger
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock

Numbers = NDArray[np.float64]
LANGUAGES = ("en", "ja")


@dataclass(frozen=True, slots=True)
class Graded:
    """What a row says of one group's candidates, in their order.

    `scores` sorts them, NaN where nothing is said. `probabilities` is None for a row that gives none, `grades` for a
    row that is no grader of the product.
    """

    scores: Numbers
    probabilities: Numbers | None = None
    grades: tuple[Grade, ...] | None = None


class Row(Protocol):
    """One row of the table."""

    @property
    def name(self) -> str:
        """As the table calls it."""
        ...

    def reads(self, language: str) -> bool:
        """Whether it was made for passages in `language`."""
        ...

    def borders(self, language: str) -> Thresholds | None:
        """tau_high and tau_low of its probabilities, None where it has none."""
        ...

    def grade(self, group: Group) -> Graded:
        """Grade one group."""
        ...


class CosineRow:
    """The encoder's cosine between question and passage."""

    name = "encoder cosine"

    def reads(self, language: str) -> bool:
        """Both languages."""
        return language in LANGUAGES

    def borders(self, language: str) -> None:
        """A cosine is no probability."""

    def grade(self, group: Group) -> Graded:
        """See `Row`."""
        query = group.retrieval.query_vector
        vectors = [one.vector for one in group.retrieval.candidates if one.vector is not None]
        if query is None or len(vectors) < len(group.labels):
            raise ValueError(f"question {group.id} was mined without vectors")
        return Graded(np.stack(vectors).astype(np.float64) @ query.astype(np.float64))


class KeywordRow:
    """BM25 of the question's terms in the passage and its title, as our own keyword search scores it."""

    name = "keyword score (BM25)"

    def reads(self, language: str) -> bool:
        """Both languages."""
        return language in LANGUAGES

    def borders(self, language: str) -> None:
        """A BM25 score is no probability."""

    def grade(self, group: Group) -> Graded:
        """See `Row`."""
        return Graded(group.keyword)


class BorderedGrader(Grader, Protocol):
    """A grader of the product that says its borders."""

    def thresholds(self, language: str) -> Thresholds:
        """The borders between the levels for a question in `language`."""
        ...


class GraderRow:
    """A grader of the product behind its own port: the first tier, the cascade."""

    def __init__(self, name: str, grader: BorderedGrader) -> None:
        self._name, self.grader = name, grader

    @property
    def name(self) -> str:
        """As the table calls it."""
        return self._name

    def reads(self, language: str) -> bool:
        """Both languages."""
        return language in LANGUAGES

    def borders(self, language: str) -> Thresholds:
        """As shipped."""
        return self.grader.thresholds(language)

    def grade(self, group: Group) -> Graded:
        """See `Row`."""
        ledger = RunLedger(SystemClock())
        grades = tuple(asyncio.run(_graded(self.grader, group, ledger)))
        numbers = np.array([np.nan if one.probability is None else one.probability for one in grades])
        return Graded(numbers, numbers, grades)


async def _graded(grader: Grader, group: Group, ledger: Ledger) -> Sequence[Grade]:
    return await grader.grade(group.question, group.retrieval, ledger=ledger)


class ReaderRow:
    """The trained cross-encoder alone, with the curve that was fitted for it alone."""

    name = "cross-encoder alone"

    def __init__(self, reader: CrossEncoder, table: CombinationTable | None) -> None:
        self.reader = reader
        self._table = table if table is not None and table.scorer == reader.id else None

    def reads(self, language: str) -> bool:
        """Both languages."""
        return language in LANGUAGES

    def borders(self, language: str) -> Thresholds:
        """Those of the cascade, which were not fitted for this row; the defaults where nothing was fitted."""
        return self._table.of(language).thresholds if self._table is not None else Thresholds()

    def grade(self, group: Group) -> Graded:
        """See `Row`."""
        found = self.reader.score_now(group.question, [as_text(one) for one in group.retrieval.candidates])
        logits = np.array([np.nan if one.failed else logit_of(one.score, self.reader.scale) for one in found])
        if self._table is None:
            probabilities = np.array([probability_of(logit) for logit in logits.tolist()])
        else:
            probabilities = self._table.of(group.language).alone.probabilities(logits[:, None])
        return Graded(logits, probabilities)


@dataclass(frozen=True, slots=True)
class OurRows:
    """The product's graders; all but `features` are None where no cross-encoder is there, and `reason` says why."""

    features: GraderRow
    reader: ReaderRow | None = None
    full: GraderRow | None = None
    cascade: GraderRow | None = None
    reason: str = ""

    @property
    def rows(self) -> list[Row]:
        """Those that are there, in the order of the table."""
        found: list[Row | None] = [self.features, self.reader, self.full, self.cascade]
        return [row for row in found if row is not None]


def our_rows(folder: Path, *, threads: int) -> OurRows:
    """The graders in `folder`, the cascade as ``open_grader`` makes it."""
    features = open_features(folder)
    first = GraderRow("features alone", features)
    if not (folder / "model.onnx").is_file():
        return OurRows(first, reason=f"{folder.name} holds no trained cross-encoder")
    reader = open_cross_encoder(folder, threads=threads)
    table = load_table(folder / FILE) if (folder / FILE).is_file() else None
    unfitted = "" if table is not None and table.scorer == reader.id else "it was not fitted to this cross-encoder"
    return OurRows(
        first,
        ReaderRow(reader, table),
        GraderRow("full grader", Cascade(features, scorer=reader, table=table, read_everything=True)),
        GraderRow("cascade (shipped)", Cascade(features, scorer=reader, table=table)),
        reason=unfitted and f"the cascade reads everything and is not calibrated: {unfitted}",
    )
