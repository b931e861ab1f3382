"""How fast graders read pairs of one length, how long ten passages take, and what serving them takes in memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.grading_groups import Group
from benchmarks.grading_rows import GraderRow, ReaderRow
from benchmarks.grading_teacher import TeacherRow
from benchmarks.harness import percentile
from tadasu.answering.grading.cascade import as_text
from tadasu.core.documents import Passage, Span
from tadasu.core.retrieved import Candidate
from tadasu.core.vectors import PassageText
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.onnx_models import open_tokenizer
from tadasu.runtime.pair_card import PairCard, read_card
from tadasu.runtime.pair_rows import read_pairs
from tadasu.runtime.world import SystemClock

TOKENS: Final = 190
PASSAGES: Final = 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds for ten passages; `read` is the share of them that went to the cross-encoder."""

    grader: str
    questions: int
    p50: float
    p95: float
    read: float


class Fitter:
    """Makes passages of as many tokens as wanted, as a model counts them."""

    def __init__(self, count: Callable[[str, PassageText], int]) -> None:
        self._count = count

    def text(self, question: str, title: str, text: str, *, tokens: int) -> str:
        """`text`, repeated where it is shorter, cut to make a pair of at most `tokens` tokens with its question."""
        long = text
        while self._count(question, PassageText(long, title=title)) < tokens:
            long = f"{long} {text}"
        low, high = 1, len(long)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._count(question, PassageText(long[:middle], title=title)) <= tokens
            low, high = (middle, high) if fits else (low, middle - 1)
        return long[:low]


def our_fitter(folder: Path) -> Fitter:
    """Counts as our cross-encoder in `folder` does."""
    card: PairCard = read_card(folder)
    tokenizer = open_tokenizer(card.tokenizer.read_bytes(), card.tokenizer)

    def count(question: str, passage: PassageText) -> int:
        rows = read_pairs(tokenizer, card, question, [passage]).rows
        return sum(len(row.ids) for row in rows)

    return Fitter(count)


def same_length(groups: Sequence[Group], fitter: Fitter) -> list[Group]:
    """The groups' first ten candidates with every passage fitted to `TOKENS` tokens; vectors stay as they are."""
    found = []
    for group in groups:
        if len(group.retrieval.candidates) < PASSAGES:
            continue
        candidates = [_fitted(group.question, one, fitter) for one in group.retrieval.candidates[:PASSAGES]]
        kept = group.without(frozenset(one.passage.id for one in group.retrieval.candidates[PASSAGES:]))
        found.append(replace(kept, retrieval=replace(group.retrieval, candidates=tuple(candidates))))
    return found


def _fitted(question: str, candidate: Candidate, fitter: Fitter) -> Candidate:
    passage = candidate.passage
    text = fitter.text(question, as_text(candidate).title, passage.text, tokens=TOKENS)
    strips = [Span(one.start, min(one.end, len(text))) for one in passage.strips if one.start < len(text)]
    # What was repeated belongs to the last strip: strips must reach the end.
    strips[-1] = Span(strips[-1].start, len(text))
    vectors = None if candidate.strip_vectors is None else candidate.strip_vectors[: len(strips)]
    fitted: Passage = replace(passage, text=text, strips=tuple(strips), span=Span(0, len(text)))
    return replace(candidate, passage=fitted, strip_vectors=vectors)


def our_speed(row: ReaderRow, groups: Sequence[Group]) -> float:
    """Pairs a second of our cross-encoder, strips included."""
    return _speed(groups, lambda group: row.reader.score_now(group.question, _texts(group)))


def teacher_speed(row: TeacherRow, groups: Sequence[Group]) -> float:
    """Pairs a second of ms-marco on passages fitted to the same number of its own tokens."""
    fitter = Fitter(row.length)
    fitted = same_length(groups, fitter)
    return _speed(fitted, lambda group: row.score(group.question, _texts(group)))


def _texts(group: Group) -> list[PassageText]:
    return [as_text(one) for one in group.retrieval.candidates]


def _speed(groups: Sequence[Group], work: Callable[[Group], object]) -> float:
    work(groups[0])
    began = time.perf_counter()
    for group in groups:
        work(group)
    return sum(len(group.retrieval.candidates) for group in groups) / (time.perf_counter() - began)


def latency(row: GraderRow, groups: Sequence[Group]) -> Latency:
    """Each group graded once, one after the other, as a waiting user would have it."""
    taken: list[float] = []
    tiers: list[str] = []

    async def all_of_them() -> None:
        for place, group in enumerate([*groups[:3], *groups]):
            began = time.perf_counter()
            grades = await row.grader.grade(group.question, group.retrieval, ledger=RunLedger(SystemClock()))
            if place >= len(groups[:3]):
                taken.append((time.perf_counter() - began) * 1000.0)
                tiers.extend(grade.tier for grade in grades)

    asyncio.run(all_of_them())
    read = float(np.mean([tier != "features" for tier in tiers]))
    return Latency(row.name, len(taken), percentile(taken, 0.5), percentile(taken, 0.95), read)


def serving_memory(folder: Path) -> dict[str, float]:
    """Peak memory in MB of a process of its own that answers over the demo corpus; see `grading_memory`."""
    command = [sys.executable, "-m", "benchmarks.grading_memory", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures
