"""One round: a retrieval as it looks from the question, its grades, and how the run keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tadasu.answering.correction.deadline import BrokeOff, OutOfTime, within
from tadasu.answering.correction.policy import CorrectionSettings, Progress, next_action
from tadasu.answering.correction.verdicts import verdict_of
from tadasu.core.documents import Origin, Passage, Scope
from tadasu.core.grades import Calibration, Grade, Level, Recommendation, Thresholds, Verdict, ungraded
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import GradedCandidate, Round, SearchMode
from tadasu.errors import GradingFailed, TadasuError
from tadasu.ports import Allowance, CandidateSearch, Grader, Ledger
from tadasu.text.injection import masked, speaks_to_model
from tadasu.text.language import detect


async def grade_all(grader: Grader, question: str, retrieval: Retrieval, *, ledger: Ledger) -> list[Grade]:
    """One grade per candidate, matched by passage id: a grader that loses or doubles rows shifts nothing.

    Never raises for what the grader did: its passages are UNGRADED with the reason. The grader does not see what a web
    passage says to a model instead of to its readers; a passage that says nothing else is LOW.
    """
    shown = [_as_data(candidate) for candidate in retrieval.candidates]
    hostile = {
        before.passage.id: _hostile(before.passage, grader.id)
        for before, after in zip(retrieval.candidates, shown, strict=True)
        if before.passage.text.strip() and not after.passage.text.strip()
    }
    honest = tuple(candidate for candidate in shown if candidate.passage.id not in hostile)
    told: dict[str, Grade | str] = {}
    failure = "the grader returned no grade for it"
    if honest:
        try:
            told = _by_id(await _asked(grader, question, replace(retrieval, candidates=honest), ledger=ledger))
        except TadasuError as problem:
            failure = str(problem)
        except Exception as problem:  # noqa: BLE001 - a grader is a plugin: whatever it raises, passages are UNGRADED
            failure = f"the grader raised {type(problem).__name__}: {problem}"
    grades = told | hostile
    return [_or_ungraded(grades.get(one.passage.id, failure), one.passage, grader) for one in retrieval.candidates]


async def _asked(grader: Grader, question: str, retrieval: Retrieval, *, ledger: Ledger) -> object:
    """What the grader returns within the run's time; raises GradingFailed where there is no answer by then."""
    left = ledger.seconds_left if isinstance(ledger, Allowance) else None
    try:
        return await within(left, grader.grade(question, retrieval, ledger=ledger))
    except OutOfTime as problem:
        reason = f"it gave no answer within the {problem.seconds:.3g} s that were left"
        raise GradingFailed(grader=grader.id, reason=reason) from problem
    except BrokeOff as problem:
        raise GradingFailed(grader=grader.id, reason="it broke off its own work") from problem


def _by_id(given: object) -> dict[str, Grade | str]:
    """Grades by passage id; a reason instead where two grades of one passage differ. What is no grade is nobody's."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{type(given).__name__} instead of a list of grades")
    told: dict[str, Grade | str] = {}
    for grade in given:
        if isinstance(grade, Grade):
            same = told.get(grade.passage_id, grade) == grade
            told[grade.passage_id] = grade if same else "the grader returned two grades for it, and they differ"
    return told


def borders_of(grader: Grader, question: str, *, otherwise: str = "en") -> Thresholds | None:
    """The borders that `grader` names for the question's language, `otherwise` where its script tells none."""
    named = getattr(grader, "thresholds", None)
    found = detect(question)
    borders = named(otherwise if found == "und" else found) if callable(named) else None
    return borders if isinstance(borders, Thresholds) else None


def _or_ungraded(told: Grade | str, passage: Passage, grader: Grader) -> Grade:
    if not isinstance(told, Grade):
        return ungraded(passage.id, reason=told, grader=grader.id)
    if told.level is Level.UNGRADED and told.recommendation is None:
        return replace(told, recommendation=Recommendation.MANUAL_REVIEW)
    return told


def _as_data(candidate: Candidate) -> Candidate:
    """`candidate` as the grader sees it: of the web, without what speaks to a model; offsets stay as they are."""
    passage = candidate.passage
    if passage.origin is not Origin.WEB:
        return candidate
    headings = tuple(heading for heading in passage.headings if not speaks_to_model(heading))
    title = "" if speaks_to_model(passage.title) else passage.title
    text = masked(passage.text)
    if (text, title, headings) == (passage.text, passage.title, passage.headings):
        return candidate
    return replace(candidate, passage=replace(passage, text=text, title=title, headings=headings))


def _hostile(passage: Passage, grader: str) -> Grade:
    reason = "this web passage only gives orders to a language model"
    return Grade(passage.id, Level.LOW, 0.0, reason, grader, tier="guard", calibration=Calibration.CORPUS)


async def one_round(
    query: str,
    *,
    search: CandidateSearch,
    grader: Grader,
    k: int,
    mode: SearchMode,
    scope: Scope,
    settings: CorrectionSettings,
    ledger: Ledger,
) -> Round:
    """A single search with its grades; the action is what the loop would do next. Raises what the search raises."""
    began = ledger.elapsed_ms()
    retrieval = await search.search(query, k=k, scope=scope, mode=mode, ledger=ledger)
    grades = await grade_all(grader, query, retrieval, ledger=ledger)
    verdict = verdict_of(grades, rule=settings.rule, quality_threshold=settings.quality_threshold)
    return Round(
        number=1,
        mode=mode,
        query=query,
        changed="",
        excluded_passages=len(scope.exclude_passages),
        excluded_documents=len(scope.exclude_documents),
        candidates=tuple(map(recorded, retrieval.candidates, grades)),
        verdict=verdict,
        rule=settings.rule,
        action=next_action(verdict, Progress(settings=settings)),
        started_ms=began,
        duration_ms=ledger.elapsed_ms() - began,
        borders=borders_of(grader, query),
        error=grades[0].reason if verdict is Verdict.GRADER_FAILED else "",
    )


def from_the_question(retrieval: Retrieval, first: Retrieval | None) -> Retrieval:
    """`retrieval` as it looks from the question itself, which is what grades are about.

    A later round's scores measure nearness to a rewritten query. Dense similarity is computed anew from the stored
    vectors; the keyword score of another query says nothing here and is unknown.
    """
    if first is None or retrieval is first or first.query_vector is None:
        return retrieval
    vector = first.query_vector
    return replace(
        retrieval,
        query=first.query,
        query_vector=vector,
        term_weights=first.term_weights,
        candidates=tuple(
            replace(
                candidate,
                dense=candidate.dense if candidate.vector is None else float(candidate.vector @ vector),
                dense_rank=None,
                lexical=candidate.lexical if retrieval.query == first.query else None,
                lexical_rank=None,
            )
            for candidate in retrieval.candidates
        ),
    )


def recorded(candidate: Candidate, grade: Grade) -> GradedCandidate:
    """A candidate as the run keeps it."""
    passage = candidate.passage
    return GradedCandidate(
        passage_id=passage.id,
        document_id=passage.document_id,
        source=passage.source,
        title=passage.title,
        span=passage.span,
        page=passage.page,
        date=passage.date,
        origin=passage.origin,
        fused=candidate.fused,
        dense_rank=candidate.dense_rank,
        dense=candidate.dense,
        lexical_rank=candidate.lexical_rank,
        lexical=candidate.lexical,
        queries=candidate.queries,
        grade=grade,
    )
