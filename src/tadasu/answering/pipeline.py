"""Where a question is answered: retrieve, grade, correct, refine, write, check, record (DESIGN §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tadasu.answering.conversation import Restate
from tadasu.answering.correction.loop import Corrected, CorrectionLoop
from tadasu.answering.generation.abstention import abstain
from tadasu.answering.generation.compose import AnswerComposer, AnswerFinished, SentenceReleased
from tadasu.answering.refinement import Refined, RefinementSettings, refine
from tadasu.answering.small_talk import asks_nothing
from tadasu.core.answers import Answer, Reason
from tadasu.core.documents import Scope
from tadasu.core.events import Listener, RunEnded, RunStarted, TextReleased, ignore
from tadasu.core.grades import Verdict
from tadasu.core.runs import Run
from tadasu.ports import Chance, Clock, Ids, RunBook, TokenCounter, WritingTask
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.text.language import detect

_NOTHING_ASKED = Corrected(rounds=(), passages=(), stop_reason="small talk", reason=Reason.NO_QUESTION)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as it arrives: the user's words byte for byte, who asks, and the turns before.

    `language` forces the language of the answer; empty: the question's own.
    """

    question: str
    scope: Scope = field(default_factory=Scope)
    history: Sequence[Run] = field(default_factory=tuple)
    session: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Answers questions. Holds no state between them; one object serves any number at once."""

    restate: Restate
    correction: CorrectionLoop
    composer: AnswerComposer
    counter: TokenCounter
    refinement: RefinementSettings
    limits: Limits
    runs: RunBook
    clock: Clock
    ids: Ids
    chance: Chance
    settings_hash: str = ""

    async def answer(self, inquiry: Inquiry, *, listen: Listener = ignore) -> Run:
        """The complete, saved run for one question. Raises only where the run book cannot be written."""
        ledger = RunLedger(self.clock)
        run_id, created_at = self.ids.new("run"), self.clock.now().isoformat(timespec="milliseconds")
        listen(RunStarted(run_id, created_at))
        language = inquiry.language or _language(inquiry.question)
        if asks_nothing(inquiry.question):
            query = inquiry.question
            corrected = _NOTHING_ASKED
        else:
            query = await self.restate(inquiry.question, inquiry.history, ledger=ledger)
            corrected = await self.correction.run(
                query,
                scope=inquiry.scope,
                language=language,
                ledger=ledger,
                budget=Budget(self.limits, ledger),
                listen=listen,
            )
        refined = refine(corrected.passages, counter=self.counter, settings=self.refinement, question=query)
        if refined.evidence:
            task = self._task(inquiry.question, query, language, refined, corrected.rounds[-1].verdict)
            answer = await self._written(task, ledger, listen)
        else:
            answer = abstain(corrected.reason, language=language)
            listen(TextReleased(answer.text))

        run = Run(
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
            warnings=corrected.warnings,
            scope=inquiry.scope,
        )
        self.runs.save(run)
        listen(RunEnded(run))
        return run

    async def _written(self, task: WritingTask, ledger: RunLedger, listen: Listener) -> Answer:
        async for event in self.composer.compose(task, ledger=ledger):
            match event:
                case SentenceReleased():
                    listen(TextReleased(event.text, event.citations))
                case AnswerFinished():
                    return event.answer
        raise AssertionError("a composer ends with AnswerFinished")

    def _task(self, question: str, query: str, language: str, refined: Refined, verdict: Verdict) -> WritingTask:
        return WritingTask(
            question=question,
            query=query if query != question else "",
            verdict=verdict,
            language=language,
            evidence=refined.evidence,
            today=self.clock.now().date().isoformat(),
            nonce=self.chance.token(),
        )


def _language(question: str) -> str:
    """The language to answer in: the question's where we speak it, else English."""
    detected = detect(question)
    return detected if detected in ("en", "ja") else "en"
