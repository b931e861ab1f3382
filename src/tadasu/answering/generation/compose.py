"""From a writer's stream to the answer: every sentence is checked before the reader sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from tadasu.answering.generation.abstention import abstain
from tadasu.answering.generation.ahead import Ahead
from tadasu.answering.generation.checking import SentenceChecker
from tadasu.answering.generation.citations import MarkerStream, Token
from tadasu.answering.generation.draft import Draft, Rules, SentenceReleased, Warned
from tadasu.answering.generation.extractive import ExtractiveWriter
from tadasu.answering.generation.sentences import SentenceReader
from tadasu.core.answers import Answer, AnswerStatus, Reason
from tadasu.core.events import TextRevised
from tadasu.core.usage import Stage
from tadasu.core.writing import OnConflict, Release
from tadasu.errors import BudgetSpent, PriceUnknown, ProviderError
from tadasu.ports import AnswerWriter, Ledger, WritingTask
from tadasu.runtime.ledger import Stopwatch

__all__ = ["AnswerComposer", "AnswerFinished", "ComposeEvent", "Release", "Rules", "SentenceReleased", "Warned"]


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The last event."""

    answer: Answer


ComposeEvent: TypeAlias = SentenceReleased | TextRevised | AnswerFinished


class AnswerComposer:
    """Lets a writer write, checks each sentence against the strips it cites, and releases what holds.

    A sentence whose citations do not support it is tied to the one strip that does, if there is one; otherwise it
    is removed, by default, and listed in `Answer.removed`, where `markers` are the evidence numbers that the model
    wrote. `checker` judges; what quotes is checked by rules alone. Nothing left means ABSTAINED. With a `fallback`, a
    writer that fails before its first sentence is replaced, with a warning; one that fails later leaves a shorter
    answer, with a warning. A budget that does not allow the writer is such a failure. Where the evidence contradicts
    itself and the answer rests on one side only, both are added.
    Warnings are the sentences of `Warned`, which are message ids. `rules` say what else may become of a sentence that
    nothing supports; they are for what a model wrote, never for quotations. `release` says whether the text is also
    shown while it is unchecked, by TextRevised: what is released is the same. `on_conflict` says whether evidence
    that contradicts itself is told, whoever writes, or is a reason to abstain.
    """

    def __init__(
        self,
        writer: AnswerWriter,
        *,
        fallback: AnswerWriter | None = None,
        checker: SentenceChecker | None = None,
        rules: Rules | None = None,
        release: Release = Release.CHECKED,
        on_conflict: OnConflict = OnConflict.TELL,
    ) -> None:
        self._writer = writer
        self._checker = checker or SentenceChecker()
        self._fallback = fallback
        self._rules = rules or Rules()
        self._release = release
        self._on_conflict = on_conflict
        self._sides = ExtractiveWriter()

    async def compose(self, task: WritingTask, *, ledger: Ledger) -> AsyncGenerator[ComposeEvent, None]:
        """Write and check one answer; raises a ProviderError only where nothing was released and no fallback is set.

        Closing the generator cancels the call that the writer has going.
        """
        if self._on_conflict is OnConflict.ABSTAIN and self._sides.contradiction(task) is not None:
            contested = abstain(Reason.CONFLICT, language=task.language, writer=self._writer.id)
            yield SentenceReleased(contested.text, ())
            yield AnswerFinished(contested)
            return
        checking = Stopwatch(ledger, Stage.CHECK, provider="local", model="grounding")
        writer, warnings, ahead = self._writer, set[Warned](), Ahead(self._release)
        task = replace(task, remark=lambda said: warnings.add(Warned(said)))
        draft = self._draft(writer, task, ledger, checking)
        try:
            async with aclosing(_written(draft, writer, ahead, task=task, ledger=ledger)) as events:
                async for event in events:
                    yield event
        except (ProviderError, BudgetSpent) as failure:
            with checking:
                left = await draft.resume(rewording=False)
                left += await draft.close() if draft.released else []
            for revised in ahead.become(""):
                yield revised
            for released in left:
                yield released
            if draft.released:
                warnings.add(Warned.CUT_OFF)
            elif self._fallback is None:
                raise
            else:
                writer = self._fallback
                draft = self._draft(writer, task, ledger, checking)
                warnings.add(Warned.UNAFFORDED if isinstance(failure, _UNAFFORDED) else Warned.REPLACED)
                async with aclosing(_written(draft, writer, ahead, task=task, ledger=ledger)) as events:
                    async for event in events:
                        yield event
        else:
            if not isinstance(writer, ExtractiveWriter):
                for released in await self._contradicted(draft, task, checking):
                    yield released
        finally:
            checking.finish()
        answer = await draft.finish(writer.id, warnings)
        if answer.status is AnswerStatus.ABSTAINED:
            yield SentenceReleased(answer.text, ())
        yield AnswerFinished(answer)

    def _draft(self, writer: AnswerWriter, task: WritingTask, ledger: Ledger, checking: Stopwatch) -> Draft:
        # What is made of quotations needs no model that reads.
        quotes = isinstance(writer, ExtractiveWriter)
        checker, rules = (_BY_RULES, Rules()) if quotes else (self._checker, self._rules)
        return Draft(task, checker, ledger=ledger, watch=checking, rules=rules)

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
        shown = await draft.resume(rewording=False)
        markers, sentences = MarkerStream(), SentenceReader()
        read = [*sentences.feed([*markers.feed("\n\n" + found.text), *markers.finish()]), *sentences.finish()]
        for sentence in read:
            with checking:
                shown += await draft.add(sentence)
        return [*shown, *await draft.close()]


_BY_RULES = SentenceChecker()
_UNAFFORDED = (BudgetSpent, PriceUnknown)


async def _written(
    draft: Draft, writer: AnswerWriter, ahead: Ahead, *, task: WritingTask, ledger: Ledger
) -> AsyncGenerator[SentenceReleased | TextRevised, None]:
    """What a reader sees of one writer's text. What is put right and what is released come together."""
    markers, sentences, checking = MarkerStream(), SentenceReader(), draft.watch

    async def settled(tokens: Sequence[Token], *, last: bool = False) -> list[SentenceReleased | TextRevised]:
        shown: list[SentenceReleased] = []
        ready = [*sentences.feed(tokens), *(sentences.finish() if last else ())]
        with checking:
            if len(ready) > 1:
                await draft.look_ahead(ready)
            for sentence in ready:
                shown += await draft.add(sentence)
        return [*ahead.become(draft.unreleased + sentences.pending, first=not draft.released), *shown]

    async with aclosing(cast("Any", writer.write(task, ledger=ledger))) as pieces:
        async for piece in pieces:
            tokens = markers.feed(piece)
            for revised in ahead.more(
                "".join(token for token in tokens if isinstance(token, str)), first=not draft.released
            ):
                yield revised
            for event in await settled(tokens):
                yield event
    for event in await settled(markers.finish(), last=True):
        yield event
    with checking:
        rest = [*await draft.resume(), *await draft.close()]
    for revised in ahead.become(""):
        yield revised
    for released in rest:
        yield released
