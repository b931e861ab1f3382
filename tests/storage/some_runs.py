"""Runs: one like those of every day, and runs of every shape, drawn."""

from __future__ import annotations

import dataclasses
import types
import typing

from hypothesis import strategies as st

from tadasu.core import answers, documents, grades, runs, usage
from tadasu.core.answers import Answer, AnswerStatus, CheckedSentence, Citation, Evidence, Reason, Support
from tadasu.core.documents import Origin, Reader, Span, Strip
from tadasu.core.grades import Calibration, Grade, Level, Thresholds, Verdict, VerdictRule
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
from tadasu.core.usage import Call, Stage, Tokens


def everyday_run(id_: str = "run-0001", *, reader: Reader | None = None, created_at: str = "", k: int = 10) -> Run:
    """A run with `k` candidates, graded, refined, answered and cited."""
    strips = tuple(_strip(number) for number in range(k))
    return Run(
        id=id_,
        created_at=created_at or "2026-03-01T09:00:00+00:00",
        question="圧力弁は何バールで開きますか？",
        query="圧力弁は何バールで開きますか？",
        language="ja",
        reader=reader or Reader(),
        rounds=(
            Round(
                number=1,
                mode=SearchMode.HYBRID,
                query="圧力弁は何バールで開きますか？",
                changed="",
                excluded_passages=0,
                excluded_documents=0,
                candidates=tuple(_candidate(number) for number in range(k)),
                verdict=Verdict.CORRECT,
                rule=VerdictRule.ANY_HIGH,
                action=Action(ActionKind.REFINE, "one passage is HIGH"),
                duration_ms=31.5,
            ),
        ),
        stop_reason="correct",
        strips=tuple(StripRecord(strip, 0.8, StripFate.SELECTED) for strip in strips),
        evidence=tuple(Evidence(number, strip, 0.8) for number, strip in enumerate(strips[:4], start=1)),
        answer=Answer(
            text="4バールで開きます [1]。",
            status=AnswerStatus.ANSWERED,
            language="ja",
            citations=(Citation(1, (strips[0].id,), "d1", "弁.md", "弁", "圧力弁は4バールで開きます。", Span(0, 14)),),
            sentences=(CheckedSentence("4バールで開きます [1]。", (1,), Support.SUPPORTED),),
            writer="extractive/1",
        ),
        calls=tuple(
            Call(stage, "local", "e5", started_ms=float(at), duration_ms=2.5, tokens=Tokens(9, 0))
            for at, stage in enumerate((Stage.EMBED, Stage.RETRIEVE, Stage.RETRIEVE, Stage.GRADE, Stage.GENERATE))
        ),
        duration_ms=41.0,
    )


def abstained_run(id_: str, *, reason: Reason) -> Run:
    """A run without an answer."""
    answer = Answer(text="不明です。", status=AnswerStatus.ABSTAINED, language="ja", reason=reason)
    return dataclasses.replace(everyday_run(id_), rounds=(), strips=(), evidence=(), answer=answer)


def _strip(number: int) -> Strip:
    text = "圧力弁は4バールで開きます。校正は年に一度、社内の基準器で行います。" * 2
    return Strip(f"p{number}.0", f"p{number}", f"d{number}", f"弁-{number}.md", "弁", text, Span(0, len(text)), 0)


def _candidate(number: int) -> GradedCandidate:
    grade = Grade(
        passage_id=f"p{number}",
        level=Level.HIGH,
        probability=0.91,
        reason="its best strip holds all terms",
        grader="features/1",
        tier="features",
        calibration=Calibration.PUBLIC,
        strip_scores=(0.9, 0.2, 0.1),
        signals={"cosine": 0.88, "overlap": 0.75, "margin": 0.1, "keyword": 12.5},
    )
    return GradedCandidate(
        passage_id=f"p{number}",
        document_id=f"d{number}",
        source=f"弁-{number}.md",
        title="弁",
        span=Span(0, 140),
        page=None,
        date="2025-01-01",
        origin=Origin.INTERNAL,
        fused=0.9,
        dense_rank=number + 1,
        dense=0.88,
        lexical_rank=None,
        lexical=None,
        queries=("圧力弁は何バールで開きますか？",),
        grade=grade,
    )


def _drawn(kind: object) -> st.SearchStrategy[typing.Any]:
    """Values of the type `kind`, small, with every optional part there and not there."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return st.lists(_drawn(arguments[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(_drawn(arguments[0]), max_size=2)
    if origin in {typing.Union, types.UnionType}:
        return st.one_of(*(_drawn(argument) for argument in arguments))
    if origin is not None and issubclass(origin, typing.Mapping):
        return st.dictionaries(_drawn(arguments[0]), _drawn(arguments[1]), max_size=2)
    if kind is str:
        return st.text(max_size=12)
    if kind is float:
        return st.floats(allow_nan=False)
    if kind is Thresholds:
        return st.lists(st.floats(0, 1), min_size=2, max_size=2).map(lambda pair: Thresholds(max(pair), min(pair)))
    if kind is Grade:
        return _grades()
    if kind is Answer:
        return _answers()
    if dataclasses.is_dataclass(kind):
        return _built(typing.cast("type[object]", kind))
    return st.from_type(typing.cast("type[object]", kind))


_NAMES = {name: value for module in (answers, documents, grades, runs, usage) for name, value in vars(module).items()}


def _parts(kind: type[object]) -> dict[str, st.SearchStrategy[typing.Any]]:
    hints = typing.get_type_hints(kind, globalns=_NAMES)
    return {field.name: _drawn(hints[field.name]) for field in dataclasses.fields(typing.cast("typing.Any", kind))}


def _built(kind: type[object]) -> st.SearchStrategy[typing.Any]:
    return st.deferred(lambda: st.builds(kind, **_parts(kind)))


@st.composite
def _grades(draw: st.DrawFn) -> Grade:
    parts = {name: draw(strategy) for name, strategy in _parts(Grade).items() if name != "probability"}
    probability = None if parts["level"] is Level.UNGRADED else draw(st.floats(0, 1))
    return Grade(probability=probability, **parts)


@st.composite
def _answers(draw: st.DrawFn) -> Answer:
    parts = {name: draw(strategy) for name, strategy in _parts(Answer).items() if name not in {"reason", "citations"}}
    if parts["status"] is AnswerStatus.ABSTAINED:
        return Answer(reason=draw(st.sampled_from(Reason)), **parts)
    return Answer(citations=draw(_drawn(tuple[Citation, ...])), **parts)


def drawn_runs() -> st.SearchStrategy[Run]:
    """Any run that the types allow."""
    return _built(Run)
