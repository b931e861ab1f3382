"""Deferred correction: an answer at once from the first search, a job that corrects it, and the run that stands then.

A run never changes. The correction is a run of its own, saved in one transaction with the note that it took the first
one's place; so there is one correction at the most, however often the job is done. It runs as the reader who asked,
with limits of its own, and its outside calls let everybody else go first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tadasu.core.answers import Reason
from tadasu.core.events import Listener, ignore
from tadasu.core.grades import Verdict
from tadasu.core.jobs import Job, JobState, JobStatus, QueueRules, correction_job
from tadasu.core.runs import Deferral, Run
from tadasu.core.usage import Priority, day_of
from tadasu.errors import DayBudgetSpent, InputInvalid, RunCorrected, RunNotFound, TadasuError

if TYPE_CHECKING:
    from datetime import datetime

    from tadasu.answering.pipeline import Pipeline
    from tadasu.app.container import Container
    from tadasu.app.worker import Worker
    from tadasu.core.documents import Reader
    from tadasu.ports import Ledger
    from tadasu.storage.jobs import SqlJobQueue

FIRST_SEARCH_ALONE = "this answer is from the first search alone; its correction was put off"
_TURNS = 20
_FAILED = frozenset({Verdict.SEARCH_FAILED, Verdict.GRADER_FAILED})
_MENDED_BY_SEARCHING = frozenset({Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.NO_DOCUMENTS})
_DAY_IS_SPENT = DayBudgetSpent.message.partition("{")[0]


class Unsettled(TadasuError):
    """A correction that something outside kept from its end; nothing of it is shown."""

    code = "correction_unsettled"
    retryable = True
    message = "{reason}"


@dataclass(frozen=True, slots=True)
class Deferred:
    """How the correction of the run `run_id` stands: its job where it has one, and the run that took its place."""

    run_id: str
    job: JobStatus | None = None
    corrected_by: str = ""

    @property
    def open(self) -> bool:
        """Whether something is still to be done."""
        return not self.corrected_by and self.job is not None and self.job.state is not JobState.DEAD


def open_queue(container: Container) -> SqlJobQueue:
    """The jobs of this workspace."""
    from tadasu.storage.jobs import SqlJobQueue

    chosen = container.settings.deferred
    rules = QueueRules(lease=chosen.lease_s, attempts=chosen.attempts, first_wait=chosen.retry_s)
    return SqlJobQueue(container.state, clock=container.clock, ids=container.ids, rules=rules)


def open_worker(container: Container) -> Worker:
    """A worker for the jobs of this workspace, of every tenant and reader in it."""
    from tadasu.app.worker import Worker

    async def do(job: Job) -> Run:
        with container.telemetry.watching(ignore) as heard:
            return await correct(container, job, listen=heard)

    return Worker(
        container.queue,
        do,
        clock=container.clock,
        beat=container.settings.deferred.lease_s / 3.0,
        not_before=partial(not_before, container),
    )


def at_once(container: Container) -> Pipeline:
    """The pipeline that stops after the first search; what is not CORRECT by then is marked PENDING."""
    from tadasu.answering.correction.loop import CorrectionLoop

    loop = CorrectionLoop(
        search=container.search,
        grader=container.grader,
        outside=None,
        settings=replace(container.correction, max_searches=0, max_web_searches=0),
        k=container.settings.retrieval.k,
        clock=container.clock,
    )
    may_search = container.correction.max_searches > 0
    may_ask_the_web = container.outside is not None and container.correction.max_web_searches > 0
    put_off = partial(_put_off, more_to_search=may_search or may_ask_the_web)
    return replace(container.pipeline, correction=loop, complete=put_off)


def _put_off(run: Run, *, more_to_search: bool) -> Run:
    mended = run.verdict not in _MENDED_BY_SEARCHING or more_to_search
    if not run.rounds or run.verdict is Verdict.CORRECT or not mended:
        return run
    return replace(run, deferred=Deferral.PENDING, warnings=(*run.warnings, FIRST_SEARCH_ALONE))


async def correct(container: Container, job: Job, *, listen: Listener = ignore) -> Run:
    """The run that takes the place of the job's: made now, or the one that was made before.

    Raises Unsettled or DayBudgetSpent where it has to be tried again, RunNotFound where the run is gone.
    """
    from tadasu.answering.pipeline import Inquiry

    book = container.runs
    first = await asyncio.to_thread(book.load, job.subject, reader=job.reader)
    if by := await asyncio.to_thread(book.correction_of, first.id):
        return await asyncio.to_thread(book.load, by, reader=job.reader)
    pipeline = replace(container.pipeline, restate=_AsBefore(first.query), complete=partial(_in_place_of, first))
    inquiry = Inquiry(
        question=first.question,
        scope=replace(first.scope, reader=job.reader),
        history=await asyncio.to_thread(_turns_before, container, first, job.reader),
        session=first.session,
        language=first.language,
        priority=Priority.LOW,
    )
    try:
        return await pipeline.answer(inquiry, listen=listen)
    except RunCorrected as meanwhile:
        return await asyncio.to_thread(book.load, str(meanwhile.details["by"]), reader=job.reader)


def _turns_before(container: Container, first: Run, reader: Reader) -> tuple[Run, ...]:
    """The conversation before `first`, oldest first, as far as its runs are still there.

    A web query may hold words of these questions, and of nothing else.
    """
    found: list[Run] = []
    before = first.previous_run
    while before and len(found) < _TURNS:
        try:
            turn = container.runs.load(before, reader=reader)
        except RunNotFound:
            break
        found.append(turn)
        before = turn.previous_run
    return tuple(reversed(found))


class _AsBefore:
    """Searches for what the first run searched for: a follow-up was turned into a query of its own then."""

    def __init__(self, query: str) -> None:
        self._query = query

    async def __call__(self, question: str, history: Sequence[Run], *, ledger: Ledger) -> str:
        del question, history, ledger
        return self._query


def _in_place_of(first: Run, run: Run) -> Run:
    if reason := unsettled(run):
        raise Unsettled(reason=reason)
    return replace(run, deferred=Deferral.DONE, corrects=first.id, previous_run=first.previous_run)


def unsettled(run: Run) -> str:
    """Why `run` is no correction to be shown: a search or the grader failed, or it ended before it had anything.

    Empty where all went its way, and where the verdict is CORRECT whatever failed before.
    """
    if run.verdict is Verdict.CORRECT:
        return ""
    for one in reversed(run.rounds):
        if one.verdict in _FAILED:
            return one.error or one.verdict.value
    spent = run.rounds[-1].error if run.verdict is Verdict.BUDGET_SPENT else ""
    return spent if spent.startswith(_DAY_IS_SPENT) or run.answer.reason is Reason.BUDGET_SPENT else ""


def not_before(container: Container, problem: TadasuError) -> datetime | None:
    """When another attempt makes sense: after the day whose budget is spent; None where nothing is known."""
    from tadasu.app.time_zones import zone_of

    if not str(problem).startswith(_DAY_IS_SPENT):
        return None
    return day_of(container.clock.now(), zone_of(container.settings.budget.time_zone)).ends


def standing(container: Container, run: Run, *, reader: Reader) -> Deferred:
    """How the correction of `run` stands."""
    if run.deferred is not Deferral.PENDING:
        return Deferred(run.id)
    status = container.queue.job(_job_of(run).id, reader=reader)
    return Deferred(run.id, status, container.runs.correction_of(run.id))


def put_again(container: Container, run: Run) -> None:
    """Begin the correction of `run` anew if it was given up; raises InputInvalid where nothing was put off."""
    if run.deferred is not Deferral.PENDING:
        reason = "its correction was not put off"
        raise InputInvalid(where=f"run {run.id}", reason=reason, fix="`tadasu jobs` lists those that were.")
    container.queue.put(_job_of(run))


def _job_of(run: Run) -> Job:
    return correction_job(run.id, reader=run.reader, created_at=run.created_at)
