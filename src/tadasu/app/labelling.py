"""Which pairs to ask a person about: those that teach most first, in a way that still tells of all the others."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.core.documents import Origin, Passage, Scope
from tadasu.core.grades import Level
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.tadasu import Tadasu
    from tadasu.core.runs import Round

ENOUGH = 60
"""Labels that are a good start: about ten minutes."""
LATEST_RUNS = 200
SHARES = {Level.MEDIUM: 0.5, Level.HIGH: 0.3, Level.LOW: 0.2}
"""How many of the pairs asked about come from each level: half from where the grader itself is not sure."""
_LONGEST = 4_000
_FIX = 'Write one question a line, as text or as {"question": …}.'


@dataclass(frozen=True, slots=True)
class PairRef:
    """A pair that was graded: what a label of it will say of how it was picked, and its strips' scores."""

    question: str
    passage_id: str
    probability: float
    level: Level
    strip_scores: tuple[float, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """As `Label.pair`."""
        return " ".join(self.question.split()), self.passage_id


@dataclass(frozen=True, slots=True)
class Asked:
    """A pair to ask about, its passage with it; `share` is how much of all pairs its level is."""

    pair: PairRef
    passage: Passage
    share: float


def pairs_of_rounds(question: str, rounds: Iterable[Round]) -> Iterator[PairRef]:
    """The graded pairs of our own documents in `rounds`."""
    for one in rounds:
        for candidate in one.candidates:
            grade = candidate.grade
            if candidate.origin is Origin.INTERNAL and grade.probability is not None and question.strip():
                yield PairRef(question, candidate.passage_id, grade.probability, grade.level, grade.strip_scores)


def pool_of_runs(container: Container, *, limit: int = LATEST_RUNS) -> list[PairRef]:
    """Every pair that the latest runs graded, each once; raises InputInvalid where nothing was asked yet."""
    runs = container.runs.latest(limit=limit, reader=container.reader)
    found = _once(pair for run in runs for pair in pairs_of_rounds(run.query, run.rounds))
    if not found:
        fix = "Ask some with `tadasu ask`, or name a file of questions with --questions."
        raise InputInvalid(where="label", reason="no question has been asked here yet", fix=fix)
    return found


async def pool_of_questions(
    tadasu: Tadasu, questions: Sequence[str], *, on_progress: Callable[[int, int], None]
) -> list[PairRef]:
    """Every pair that the searches for `questions` bring back, each once; raises what a search raises."""
    found: list[PairRef] = []
    for done, question in enumerate(questions, 1):
        found += pairs_of_rounds(question, [await tadasu.search(question)])
        on_progress(done, len(questions))
    if not found:
        reason = "the searches brought nothing back that could be graded"
        raise InputInvalid(where="label", reason=reason, fix="Ingest documents first, or ask other questions.")
    return _once(found)


def read_questions(path: Path) -> list[str]:
    """The questions of a file, one a line: text, or JSON objects with a question; raises InputInvalid by line."""
    from tadasu.answering.ingestion.decode import decode

    try:
        text = decode(path.expanduser().read_bytes(), source=str(path)).text
    except OSError as problem:
        reason = f"cannot be read ({problem.strerror or problem})"
        raise InputInvalid(where=str(path), reason=reason, fix="Check the path of the file.") from problem
    found: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        question = line.strip()
        if question.startswith("{"):
            question = _question(question, f"{path}, line {number}")
        if len(question) > _LONGEST:
            reason = "is too long for a question"
            raise InputInvalid(where=f"{path}, line {number}", reason=reason, fix=_FIX)
        if question:
            found.append(question)
    if not found:
        raise InputInvalid(where=str(path), reason="holds no questions", fix=_FIX)
    return list(dict.fromkeys(found))


class Asking:
    """Chooses the next pair: never one twice, the levels in the proportions of `SHARES`, by chance within a level.

    Because chance decides within a level, each label can be given the weight of what it stands for.
    """

    def __init__(self, container: Container, pool: Sequence[PairRef], *, known: Iterable[tuple[str, str]]) -> None:
        self._container = container
        counts = Counter(pair.level for pair in pool)
        self._shares = {level: count / len(pool) for level, count in counts.items()}
        done = set(known)
        self._taken = Counter(pair.level for pair in pool if pair.key in done)
        rest = [pair for pair in pool if pair.key not in done]
        # Jitter and order come from the container's chance, so that a replay asks the same.
        random.Random(container.chance.uniform()).shuffle(rest)  # noqa: S311 - no secret depends on it
        self._left = {level: [pair for pair in rest if pair.level is level] for level in SHARES}

    @property
    def left(self) -> int:
        """Pairs that were not asked about yet."""
        return sum(map(len, self._left.values()))

    async def next(self) -> Asked | None:
        """The next pair, None where none is left. What the reader may not see, or is gone, is passed over."""
        while self.left:
            level = self._due()
            pair = self._left[level].pop()
            stored = await self._container.store.fetch([pair.passage_id], scope=Scope(reader=self._container.reader))
            if stored:
                return Asked(pair, stored[0].passage, self._shares[level])
        return None

    def answered(self, asked: Asked) -> None:
        """A label was given."""
        self._taken[asked.pair.level] += 1

    def taken_back(self, asked: Asked) -> None:
        """Its label counts no longer."""
        self._taken[asked.pair.level] -= 1

    def _due(self) -> Level:
        total = sum(self._taken.values()) + 1
        open_ = [level for level in SHARES if self._left[level]]
        return max(open_, key=lambda level: SHARES[level] * total - self._taken[level])


def _once(pairs: Iterable[PairRef]) -> list[PairRef]:
    found: dict[tuple[str, str], PairRef] = {}
    for pair in pairs:
        found.setdefault(pair.key, pair)
    return list(found.values())


def _question(line: str, where: str) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputInvalid(where=where, reason="it is not JSON that can be read", fix=_FIX) from None
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputInvalid(where=where, reason='it has no text "question"', fix=_FIX)
    return question.strip()
