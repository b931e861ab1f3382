"""Scripted searches, graders and webs for the correction loop: what they are told to give, and what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tadasu.answering.correction.loop import Corrected, CorrectionLoop
from tadasu.answering.correction.policy import CorrectionSettings
from tadasu.core.documents import Origin, Passage, Scope, Span
from tadasu.core.grades import Calibration, Grade, Thresholds
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.ports import Grader, Ledger
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld


def passage(name: str, *, document: str | None = None, origin: Origin = Origin.INTERNAL) -> Passage:
    text = f"This is {name}."
    return Passage(
        id=name,
        document_id=document or f"d-{name}",
        source=f"{document or name}.md",
        title=name,
        text=text,
        span=Span(0, len(text)),
        strips=(Span(0, len(text)),),
        origin=origin,
    )


@dataclass
class Asked:
    query: str
    mode: SearchMode
    k: int
    scope: Scope


@dataclass
class ScriptedSearch:
    """Gives `passages` that the scope allows, at every search alike."""

    passages: Sequence[Passage]
    asked: list[Asked] = field(default_factory=list)
    failure: Exception | None = None

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Ledger) -> Retrieval:
        self.asked.append(Asked(query, mode, k, scope))
        if self.failure is not None:
            raise self.failure
        allowed = [
            each
            for each in self.passages
            if each.id not in scope.exclude_passages and each.document_id not in scope.exclude_documents
        ]
        return Retrieval(query, tuple(Candidate(each, fused=1.0, queries=(query,)) for each in allowed[:k]))


@dataclass
class ScriptedWeb:
    passages: Sequence[Passage]
    asked: list[str] = field(default_factory=list)
    failure: Exception | None = None

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        self.asked.append(query)
        if self.failure is not None:
            raise self.failure
        return Retrieval(query, tuple(Candidate(each, fused=1.0, queries=(query,)) for each in self.passages[:limit]))


@dataclass
class ScriptedGrader:
    """Grades by passage id; `None` stands for a passage that cannot be graded."""

    probabilities: dict[str, float | None]
    default: float = 0.1
    calls: int = 0
    id: str = "scripted@1"
    wrap: Callable[[list[Grade]], list[Grade]] = list

    async def grade(self, question: str, retrieval: Retrieval, *, ledger: Ledger) -> Sequence[Grade]:
        self.calls += 1
        grades = []
        for candidate in retrieval.candidates:
            name = candidate.passage.id
            probability = self.probabilities.get(name, self.default)
            if probability is not None:
                level = Thresholds().level(probability)
                grades.append(Grade(name, level, probability, "scripted", self.id, calibration=Calibration.PUBLIC))
        return self.wrap(grades)


async def correct(
    search: ScriptedSearch,
    grader: Grader,
    web: ScriptedWeb | None = None,
    *,
    settings: CorrectionSettings | None = None,
    question: str = "What is the range of the PT-300?",
    scope: Scope | None = None,
    limits: Limits | None = None,
) -> Corrected:
    world = FixedWorld()
    ledger = RunLedger(world)
    loop = CorrectionLoop(search=search, grader=grader, outside=web, settings=settings or CorrectionSettings(), k=10)
    return await loop.run(
        question, scope=scope or Scope(), language="en", ledger=ledger, budget=Budget(limits or Limits(), ledger)
    )
