"""Where a question is answered: retrieve, grade, correct, refine, write, check, record (DESIGN §3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from tadasu.answering.conversation import Restate, own_words
from tadasu.answering.correction.loop import Corrected, CorrectionLoop
from tadasu.answering.generation.abstention import abstain
from tadasu.answering.generation.compose import AnswerComposer, AnswerFinished, SentenceReleased
from tadasu.answering.paging import on_their_pages
from tadasu.answering.refinement import Refined
from tadasu.answering.refinery import Asked, Refinery
from tadasu.answering.small_talk import asks_nothing
from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.documents import Scope
from tadasu.core.events import Event, Listener, RunEnded, RunStarted, TextReleased, TextRevised, ignore
from tadasu.core.runs import Run, StopReason
from tadasu.core.usage import Priority
from tadasu.errors import BudgetSpent
from tadasu.ports import Chance, Clock, DocumentShelf, Ids, Ledger, RunBook, WritingTask
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.day_budget import DayRules
from tadasu.runtime.ledger import RunLedger
from tadasu.text.language import detect

_NOTHING_ASKED = Corrected(
    rounds=(),
    passages=(),
    stop_reason="small talk",
    reason=Reason.NO_QUESTION,
    stop=StopReason.NOTHING_ASKED,
)
_FAILED = frozenset({Reason.GRADER_FAILED, Reason.SEARCH_FAILED})


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as it arrives: the user's words byte for byte, who asks, and the turns before.

    `language` forces the language of the answer; empty: the question's own. `priority` is that of its outside calls:
    HIGH where somebody waits for the answer.
    """

    question: str
    scope: Scope = field(default_factory=Scope)
    history: Sequence[Run] = field(default_factory=tuple)
    session: str = ""
    language: str = ""
    priority: Priority = Priority.HIGH


def as_it_is(run: Run) -> Run:
    """`run` itself."""
    return run


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Answers questions. Holds no state between them; one object serves any number at once."""

    restate: Restate
    correction: CorrectionLoop
    composer: AnswerComposer
    refinery: Refinery
    limits: Limits
    runs: RunBook
    clock: Clock
    ids: Ids
    chance: Chance
    settings_hash: str = ""
    days: DayRules | None = None
    shelf: DocumentShelf | None = None
    """Where strips look up the page that they stand on; without it they name their passage's."""
    complete: Callable[[Run], Run] = as_it_is
    """What is still to be said of a run before it is saved; what it raises keeps the run from being saved."""

    async def answer(self, inquiry: Inquiry, *, listen: Listener = ignore) -> Run:
        """The complete, saved run for one question.

        Raises where the run book cannot be written, and, once the run is saved, what `listen` raised. Where it is
        broken off, what it took until then is kept in the book of the day.
        """
        ledger, moment = RunLedger(self.clock), self.clock.now()
        run_id, created_at = self.ids.new("run"), moment.isoformat(timespec="milliseconds")
        day = self.days.of_run(run_id, tenant=inquiry.scope.reader.tenant, moment=moment) if self.days else None
        budget = Budget(self.limits, ledger, day=day, priority=inquiry.priority, tenant=inquiry.scope.reader.tenant)
        heard = _Heard(listen)
        heard(RunStarted(run_id, created_at))
        try:
            run = await self._answered(inquiry, run_id, created_at, ledger=ledger, budget=budget, listen=heard)
            run = self.complete(run)
            self.runs.save(run)
        except BaseException:
            budget.break_off()
            raise
        heard(RunEnded(run))
        heard.complain()
        return run

    async def _answered(
        self,
        inquiry: Inquiry,
        run_id: str,
        created_at: str,
        *,
        ledger: RunLedger,
        budget: Budget,
        listen: Listener,
    ) -> Run:
        language = inquiry.language or _language(inquiry.question)
        if asks_nothing(inquiry.question):
            query = inquiry.question
            corrected = _NOTHING_ASKED
        else:
            await budget.begin()
            query = await self.restate(inquiry.question, inquiry.history, ledger=budget)
            corrected = await self.correction.run(
                query,
                outgoing=own_words(query, inquiry.question, inquiry.history),
                scope=inquiry.scope,
                language=language,
                ledger=ledger,
                budget=budget,
                listen=listen,
            )
        asked = Asked(inquiry.question, query, language)
        refined = await self._evidence(corrected, asked, inquiry, ledger)
        answer = abstain(corrected.reason, language=language)
        if refined.evidence:
            task = self._task(inquiry.question, query, language, refined, corrected)
            answer = await self._written(task, budget, listen)
            if self.refinery.overlooked(answer, refined, corrected.passages) and _affords(budget):
                refined = await self._evidence(corrected, asked, inquiry, ledger, whole=True)
                answer = await self._written(replace(task, evidence=refined.evidence), budget, listen)
        if answer.status is AnswerStatus.ABSTAINED:
            listen(TextReleased(answer.text))

        return Run(
            id=run_id,
            created_at=created_at,
            question=inquiry.question,
            query=query,
            language=language,
            reader=inquiry.scope.reader,
            rounds=corrected.rounds,
            stop_reason=corrected.stop_reason,
            strips=refined.records,
            evidence=refined.evidence,
            answer=answer,
            calls=ledger.calls,
            duration_ms=ledger.elapsed_ms(),
            settings=self.settings_hash,
            session=inquiry.session,
            previous_run=inquiry.history[-1].id if inquiry.history else "",
            warnings=(*corrected.warnings, *map(str, budget.refusals)),
            scope=inquiry.scope,
            stop=corrected.stop,
            packing=refined.packing,
        )

    async def _evidence(
        self, corrected: Corrected, asked: Asked, inquiry: Inquiry, ledger: Ledger, *, whole: bool = False
    ) -> Refined:
        refined = await self.refinery.evidence(corrected.passages, asked, ledger=ledger, whole=whole)
        if self.shelf is None:
            return refined
        evidence = await on_their_pages(refined.evidence, shelf=self.shelf, reader=inquiry.scope.reader)
        return replace(refined, evidence=evidence)

    async def _written(self, task: WritingTask, ledger: Ledger, listen: Listener) -> Answer:
        """The answer, its sentences told as they come; what an abstention says is told by the caller, who may go on."""
        async with aclosing(self.composer.compose(task, ledger=ledger)) as events:
            async for event in events:
                match event:
                    case SentenceReleased(sentence=None):
                        pass
                    case SentenceReleased():
                        listen(TextReleased(event.text, event.citations))
                    case TextRevised():
                        listen(event)
                    case AnswerFinished():
                        return event.answer
        raise AssertionError("a composer ends with AnswerFinished")

    def _task(self, question: str, query: str, language: str, refined: Refined, corrected: Corrected) -> WritingTask:
        return WritingTask(
            question=question,
            query=query if query != question else "",
            verdict=corrected.verdict,
            silence=corrected.reason if corrected.reason in _FAILED else Reason.INSUFFICIENT,
            language=language,
            evidence=refined.evidence,
            today=self.clock.now().date().isoformat(),
            nonce=self.chance.token(),
            grades=_grades(corrected),
        )


def _grades(corrected: Corrected) -> dict[str, float]:
    graded = ((one.passage.id, one.grade.probability) for one in corrected.passages)
    return {passage: probability for passage, probability in graded if probability is not None}


class _Heard:
    """A listener that may go away, as a closed pipe does: the run goes on, is saved, and costs the same."""

    def __init__(self, listen: Listener) -> None:
        self._listen = listen
        self._gone: Exception | None = None

    def __call__(self, event: Event) -> None:
        if self._gone is None:
            try:
                self._listen(event)
            except Exception as problem:  # noqa: BLE001 - raised by `complain` when the run is safe
                self._gone = problem

    def complain(self) -> None:
        """Raise what the listener raised."""
        if self._gone is not None:
            raise self._gone


def _affords(budget: Budget) -> bool:
    """Whether the budget allows another try; a refusal stays in the run."""
    try:
        budget.check("a second try with whole passages")
    except BudgetSpent:
        return False
    return True


def _language(question: str) -> str:
    """The language to answer in: the question's where we speak it, else English."""
    detected = detect(question)
    return detected if detected in ("en", "ja") else "en"
