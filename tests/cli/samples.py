"""Runs made by hand, and a Tadasu that answers from a script: for tests of what the command line shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tadasu.app.settings import Settings
from tadasu.app.workspace import Workspace
from tadasu.core.answers import (
    Answer,
    AnswerStatus,
    CheckedSentence,
    Citation,
    Evidence,
    Reason,
    Support,
)
from tadasu.core.documents import Document, Origin, Passage, Reader, Scope, Span, Strip
from tadasu.core.events import Listener, RoundEnded, RunEnded, TextReleased, ignore
from tadasu.core.grades import Calibration, Grade, Level, Verdict, VerdictRule
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import (
    Action,
    ActionKind,
    GradedCandidate,
    Round,
    Run,
    SearchMode,
    StripFate,
    StripRecord,
)
from tadasu.core.usage import Call, Priority, Stage
from tadasu.errors import RunNotFound, TadasuError
from tadasu.ports import DocumentEntry, IndexStatistics
from tadasu.runtime.world import FixedWorld


def candidate(
    source: str,
    *,
    level: Level = Level.HIGH,
    probability: float = 0.9,
    origin: Origin = Origin.INTERNAL,
    number: int = 0,
) -> GradedCandidate:
    return GradedCandidate(
        passage_id=f"p-{source}-{number}",
        document_id=f"d-{source}",
        source=source,
        title=source,
        span=Span(0, 40),
        page=3,
        date="2026-04-01",
        origin=origin,
        fused=0.5,
        dense_rank=1,
        dense=0.87,
        lexical_rank=2,
        lexical=7.25,
        queries=("q",),
        grade=Grade(
            passage_id=f"p-{source}-{number}",
            level=level,
            probability=None if level is Level.UNGRADED else probability,
            reason="cosine 0.87",
            grader="features-1",
            calibration=Calibration.PUBLIC,
            signals={"cosine": 0.87},
        ),
    )


def round_of(
    *candidates: GradedCandidate,
    number: int = 1,
    verdict: Verdict = Verdict.CORRECT,
    kind: ActionKind = ActionKind.REFINE,
    reason: str = "the verdict is CORRECT",
    mode: SearchMode = SearchMode.HYBRID,
    query: str = "warranty",
) -> Round:
    return Round(
        number=number,
        mode=mode,
        query=query,
        changed="" if number == 1 else "only the keywords of the question, twice as many candidates",
        excluded_passages=0 if number == 1 else 3,
        excluded_documents=0,
        candidates=candidates,
        verdict=verdict,
        rule=VerdictRule.ANY_HIGH,
        action=Action(kind, reason),
        duration_ms=12.5,
    )


def strip_of_source(
    source: str, *, text: str = "The warranty is 24 months.", origin: Origin = Origin.INTERNAL
) -> Strip:
    return Strip(
        id=f"p-{source}-0.0",
        passage_id=f"p-{source}-0",
        document_id=f"d-{source}",
        source=source,
        title=source,
        text=text,
        span=Span(0, len(text)),
        index=0,
        page=3,
        date="2026-04-01",
        origin=origin,
    )


def answered(
    question: str = "How long is the warranty?",
    *,
    run_id: str = "run-000001",
    source: str = "service/warranty.md",
    text: str = "The warranty is 24 months.",
    origin: Origin = Origin.INTERNAL,
    query: str = "",
    scope: Scope | None = None,
    **changes: Any,
) -> Run:
    """A run that searched twice and was answered from `source`."""
    strip = strip_of_source(source, text=text, origin=origin)
    values: dict[str, Any] = {
        "id": run_id,
        "created_at": "2026-01-01T00:00:00.000+00:00",
        "question": question,
        "query": query or question,
        "language": "en",
        "reader": Reader(),
        "rounds": (
            round_of(
                candidate("service/other.md", level=Level.MEDIUM, probability=0.5),
                candidate("old/low.md", level=Level.LOW, probability=0.05),
                verdict=Verdict.AMBIGUOUS,
                kind=ActionKind.SEARCH_AGAIN,
                reason="the verdict is AMBIGUOUS and searches are left",
            ),
            round_of(candidate(source, origin=origin), number=2),
        ),
        "stop_reason": "the verdict is CORRECT",
        "strips": (
            StripRecord(strip, 0.93, StripFate.SELECTED),
            StripRecord(strip_of_source("service/other.md", text="Ask the office."), 0.1, StripFate.BELOW_THRESHOLD),
        ),
        "evidence": (Evidence(1, strip, 0.93),),
        "answer": Answer(
            text=f"{text} [1]",
            status=AnswerStatus.ANSWERED,
            language="en",
            citations=(
                Citation(1, (strip.id,), strip.document_id, source, source, text, strip.span, 3, "2026-04-01", origin),
            ),
            sentences=(CheckedSentence(text, (1,), Support.SUPPORTED),),
            removed=(CheckedSentence("It costs 99 EUR.", (1,), Support.UNSUPPORTED, ("number 99",)),),
            writer="extractive-1",
        ),
        "calls": (Call(Stage.RETRIEVE, "local", duration_ms=3.0), Call(Stage.GRADE, "local", "features-1", items=10)),
        "duration_ms": 42.0,
        "scope": scope or Scope(),
    }
    return Run(**(values | changes))


def abstained(question: str = "Who sings?", *, run_id: str = "run-000002", **changes: Any) -> Run:
    """A run that found nothing and said so."""
    values: dict[str, Any] = {
        "rounds": (
            round_of(
                candidate("old/low.md", level=Level.LOW, probability=0.02),
                verdict=Verdict.INCORRECT,
                kind=ActionKind.ABSTAIN,
                reason="INCORRECT and nothing better was found",
            ),
        ),
        "stop_reason": "INCORRECT and nothing better was found",
        "strips": (),
        "evidence": (),
        "answer": Answer("Not known.", AnswerStatus.ABSTAINED, "en", reason=Reason.INSUFFICIENT),
    }
    return answered(question, run_id=run_id, **(values | changes))


def document(source: str, *, language: str = "en", date: str = "2026-04-01") -> Document:
    return Document(
        id=f"d-{source}", source=source, title=source, text="text", content_hash="h", language=language, date=date
    )


class Shelf:
    """A document shelf, a passage store and a candidate search over a few documents that all may see."""

    def __init__(self, *documents: Document, ranked: Sequence[str] = ()) -> None:
        self.documents = {one.id: one for one in documents}
        self.ranked = ranked
        self.asked: list[tuple[str, int, Scope]] = []

    async def document(self, id_or_source: str, *, reader: Reader) -> Document | None:
        found = (one for one in self.documents.values() if id_or_source in (one.id, one.source))
        return next(found, None)

    async def sources(self, *, reader: Reader) -> list[tuple[str, str]]:
        return sorted(((one.id, one.source) for one in self.documents.values()), key=lambda pair: pair[1])

    async def entries(self, *, reader: Reader) -> list[DocumentEntry]:
        return [
            DocumentEntry(one.id, one.source, one.date, one.language, tuple(sorted(one.access.groups)))
            for one in sorted(self.documents.values(), key=lambda one: one.source)
        ]

    async def statistics(self, *, reader: Reader) -> IndexStatistics:
        return IndexStatistics(len(self.documents), 7, {"en": 2, "ja": 1}, {"text/markdown": 3})

    async def fetch(self, ids: Sequence[str], *, scope: Scope) -> list[Any]:
        return []

    async def search(self, query: str, *, k: int, scope: Scope, mode: SearchMode, ledger: Any) -> Retrieval:
        self.asked.append((query, k, scope))
        found = [
            Candidate(Passage(f"p-{source}", f"d-{source}", source, source, "text", Span(0, 4), (Span(0, 4),)), 0.1)
            for source in self.ranked
        ]
        return Retrieval(query=query, candidates=tuple(found[:k]))


class Runs:
    """A run book in memory."""

    def __init__(self) -> None:
        self.kept: list[Run] = []

    def save(self, run: Run) -> None:
        self.kept.append(run)

    def load(self, run_id: str, *, reader: Reader) -> Run:
        found = [run for run in self.kept if run_id in (run.id, "last")]
        if not found:
            raise RunNotFound(run=run_id)
        return found[-1]

    def latest(self, *, limit: int, reader: Reader) -> list[Run]:
        return list(reversed(self.kept))[:limit]


Reply = Run | TadasuError | BaseException | Callable[[str], Run]


class ScriptedTadasu:
    """Answers each question as `replies` say, else with `answered`; keeps what it was asked."""

    def __init__(self, root: Path, *, replies: dict[str, Reply] | None = None, shelf: Shelf | None = None) -> None:
        self.replies = replies or {}
        self.asked: list[dict[str, Any]] = []
        self.closed = 0
        self.workspace = Workspace(root)
        self.settings = Settings()
        self.shelf = shelf or Shelf(document("service/warranty.md"))
        self.runs = Runs()
        world = FixedWorld()
        self.container = SimpleNamespace(
            settings=self.settings,
            reader=Reader(),
            ids=world,
            clock=world,
            runs=self.runs,
            store=self.shelf,
            search=self.shelf,
            cache=None,
        )

    async def ask(
        self,
        question: str,
        *,
        history: Sequence[Run] = (),
        session: str = "",
        language: str = "",
        scope: Scope | None = None,
        defer: bool = False,
        priority: Priority = Priority.HIGH,
        listen: Listener = ignore,
    ) -> Run:
        self.asked.append(
            {
                "question": question,
                "history": history,
                "session": session,
                "language": language,
                "scope": scope,
                "defer": defer,
                "priority": priority,
            }
        )
        reply = self.replies.get(question)
        if isinstance(reply, BaseException):
            raise reply
        run = reply(question) if callable(reply) else reply or answered(question, run_id=f"run-{len(self.asked):06d}")
        for one in run.rounds:
            listen(RoundEnded(one))
        listen(TextReleased(run.answer.text, run.answer.citations))
        listen(RunEnded(run))
        self.runs.save(run)
        return run

    async def search(
        self, query: str, *, k: int | None = None, mode: SearchMode = SearchMode.HYBRID, scope: Scope | None = None
    ) -> Round:
        self.asked.append({"question": query, "scope": scope})
        return round_of(candidate("service/warranty.md"), query=query, mode=mode)

    def trace(self, run_id: str = "last") -> Run:
        return self.runs.load(run_id, reader=Reader())

    async def close(self) -> None:
        self.closed += 1
