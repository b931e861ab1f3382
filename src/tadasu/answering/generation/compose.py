"""From a writer's stream to the answer: every sentence is checked before the reader sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeAlias

from tadasu.answering.generation.checking import SentenceChecker
from tadasu.answering.generation.citations import MarkerStream
from tadasu.answering.generation.draft import Draft, SentenceReleased, Warned
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.sentences import SentenceReader, Written
from tadasu.core.answers import Answer, AnswerStatus
from tadasu.core.usage import Stage
from tadasu.errors import BudgetSpent, PriceUnknown, ProviderError
from tadasu.ports import AnswerWriter, Ledger, WritingTask
from tadasu.runtime.ledger import Stopwatch

__all__ = ["AnswerComposer", "AnswerFinished", "ComposeEvent", "SentenceReleased", "Warned"]


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The last event."""

    answer: Answer


ComposeEvent: TypeAlias = SentenceReleased | AnswerFinished


class AnswerComposer:
    """Lets a writer write, checks each sentence against the strips it cites, and releases what holds.

    A sentence whose citations do not support it is tied to the one strip that does, if there is one; otherwise it
    is removed and listed in `Answer.removed`, where `markers` are the evidence numbers that the model wrote.
    `checker` judges; what quotes is checked by rules alone. Nothing left means ABSTAINED. With a `fallback`, a writer
    that fails before its first sentence is replaced, with a warning; one that fails later leaves a shorter answer, with
    a warning. A budget that does not allow the writer is such a failure. Where the evidence contradicts itself and the
    answer rests on one side only, both are added.
    Warnings are the sentences of `Warned`, which are message ids.
    """

    def __init__(
        self, writer: AnswerWriter, *, fallback: AnswerWriter | None = None, checker: SentenceChecker | None = None
    ) -> None:
        self._writer = writer
        self._checker = checker or SentenceChecker()
        self._fallback = fallback
        self._sides = ExtractiveWriter()

    async def compose(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[ComposeEvent]:
        """Write and check one answer; raises a ProviderError only where nothing was released and no fallback is set."""
        checking = Stopwatch(ledger, Stage.CHECK, provider="local", model="grounding")
        writer, warnings = self._writer, set[Warned]()
        draft = self._draft(writer, task, ledger, checking)
        try:
            async for event in _written(draft, writer, task, ledger, checking):
                yield event
        except (ProviderError, BudgetSpent) as failure:
            if draft.released:
                warnings.add(Warned.CUT_OFF)
                for event in await draft.close():
                    yield event
            elif self._fallback is None:
                raise
            else:
                writer = self._fallback
                draft = self._draft(writer, task, ledger, checking)
                warnings.add(Warned.UNAFFORDED if isinstance(failure, _UNAFFORDED) else Warned.REPLACED)
                async for event in _written(draft, writer, task, ledger, checking):
                    yield event
        else:
            if not isinstance(writer, ExtractiveWriter):
                for event in await self._contradicted(draft, task, checking):
                    yield event
        finally:
            checking.finish()
        answer = await draft.finish(writer.id, warnings)
        if answer.status is AnswerStatus.ABSTAINED:
            yield SentenceReleased(answer.text, ())
        yield AnswerFinished(answer)

    def _draft(self, writer: AnswerWriter, task: WritingTask, ledger: Ledger, checking: Stopwatch) -> Draft:
        # What is made of quotations needs no model that reads.
        checker = _BY_RULES if isinstance(writer, ExtractiveWriter) else self._checker
        return Draft(task, checker, ledger=ledger, watch=checking)

    async def _contradicted(self, draft: Draft, task: WritingTask, checking: Stopwatch) -> list[SentenceReleased]:
        """Both sides of a contradiction in the evidence, where the answer rests on one and says nothing of the other.

        Whatever the writer was told, or believed.
        """
        if not draft.released:
            return []
        with checking:
            found = self._sides.contradiction(task)
        if found is None or not draft.lacks(found.sides):
            return []
        shown: list[SentenceReleased] = []
        markers, sentences = MarkerStream(), SentenceReader()
        read = [*sentences.feed([*markers.feed("\n\n" + found.text), *markers.finish()]), *sentences.finish()]
        for sentence in read:
            shown += await _checked(draft, sentence, checking)
        return [*shown, *await draft.close()]


_BY_RULES = SentenceChecker()
_UNAFFORDED = (BudgetSpent, PriceUnknown)


async def _written(
    draft: Draft, writer: AnswerWriter, task: WritingTask, ledger: Ledger, checking: Stopwatch
) -> AsyncIterator[SentenceReleased]:
    markers, sentences = MarkerStream(), SentenceReader()
    async for piece in writer.write(task, ledger=ledger):
        for sentence in sentences.feed(markers.feed(piece)):
            for event in await _checked(draft, sentence, checking):
                yield event
    for sentence in (*sentences.feed(markers.finish()), *sentences.finish()):
        for event in await _checked(draft, sentence, checking):
            yield event
    for event in await draft.close():
        yield event


async def _checked(draft: Draft, sentence: Written, checking: Stopwatch) -> list[SentenceReleased]:
    with checking:
        return await draft.add(sentence)
