"""One verdict on a sentence of an answer and the evidence that it cites, or should have cited.

Rules first, which anybody can follow: they alone say whether numbers, dates and names are the source's. A support
model, where there is one, reads on: what the rules let through it may doubt (somebody else's year, two people
exchanged), and what they refuse for its wording or a denial alone it may trust. Quotations need no model. Where the
model fails the rules decide, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from tadasu.answering.generation import grounding
from tadasu.answering.generation.abstention import is_refusal
from tadasu.answering.generation.facts import facts_of
from tadasu.core.answers import Evidence, Support
from tadasu.core.documents import Strip
from tadasu.ports import Claim, Ledger, SupportModel, WritingTask
from tadasu.runtime.ledger import Stopwatch
from tadasu.text.language import detect

_SOFT = frozenset(("wording", "negation", "other"))
"""Findings that a model may overrule: rules see words, not what they mean together."""


@dataclass(frozen=True, slots=True)
class CheckingSettings:
    """From which probability of support on a sentence holds: after the rules let it through, and after they refused it.

    Chosen on CALIBRATE claims (``python -m benchmarks.grounding --calibrate``). The first is low because most of what
    the rules let through is right: at .2 more right sentences stay than at .4 (swaps ja .92 for .83), and nearly all
    swaps are found (.95 for .98).
    """

    doubt: float = 0.2
    trust: float = 0.5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found: the verdict, the evidence that holds the sentence up, and whether that is not what it cited.

    `unread` says that a support model should have been asked and failed.
    """

    check: grounding.Check
    support: tuple[Evidence, ...] = ()
    moved: bool = False
    unread: bool = False


class SentenceChecker:
    """Ties sentences to the evidence that supports them, by rules and, where there is a `model`, by reading."""

    def __init__(self, model: SupportModel | None = None, *, settings: CheckingSettings | None = None) -> None:
        self._model = model
        self._settings = settings or CheckingSettings()

    async def judge(
        self,
        sentence: str,
        cited: Sequence[Evidence],
        *,
        task: WritingTask,
        ledger: Ledger,
        watch: Stopwatch | None = None,
    ) -> Judgement:
        """The verdict on `sentence`, which cites the pieces `cited` of the evidence of `task`.

        Where they do not support it, the one piece of the evidence that does takes their place, if there is one. A
        `watch` stands still while the model reads, which writes its own line into `ledger`.
        """
        reader = _Reader(self._model, task, ledger, watch)
        judged = await self._cited(sentence, cited, task, reader)
        if not judged.check.holds and not is_refusal(sentence) and facts_of(sentence).terms:
            asked = task.query or task.question
            better = grounding.best_support(sentence, _others(cited, task), question=asked, among=task.evidence)
            if better is not None and await reader.support(sentence, [better]) >= self._settings.doubt:
                judged = Judgement(grounding.Check(Support.SUPPORTED, 1.0), (better,), moved=bool(cited))
        return replace(judged, unread=reader.failed)

    async def _cited(self, sentence: str, cited: Sequence[Evidence], task: WritingTask, reader: _Reader) -> Judgement:
        asked, strips = task.query or task.question, [piece.strip for piece in cited]
        verdict = grounding.check(sentence, strips, question=asked, around=grounding.beside(cited, task.evidence))
        if verdict.holds:
            if not grounding.quotes(sentence, strips, question=asked):
                probability = await reader.support(sentence, cited)
                if probability < self._settings.doubt:
                    finding = f"support {probability:.0%}"
                    return Judgement(grounding.Check(Support.UNSUPPORTED, verdict.share, (finding,)))
            return Judgement(verdict, grounding.needed(sentence, cited, question=asked))
        only_soft = all(finding.partition(" ")[0] in _SOFT for finding in verdict.findings)
        if not strips or not only_soft:
            return Judgement(verdict)
        trusted = await reader.support(sentence, cited, alone=True, failing=0.0) >= self._settings.trust
        return (
            Judgement(grounding.Check(Support.SUPPORTED, verdict.share), tuple(cited))
            if trusted
            else Judgement(verdict)
        )


class _Reader:
    """Asks the model about sentences of one answer; knows whether it failed."""

    def __init__(self, model: SupportModel | None, task: WritingTask, ledger: Ledger, watch: Stopwatch | None) -> None:
        self._model, self._task, self._ledger, self._watch = model, task, ledger, watch
        self.failed = False

    async def support(
        self, sentence: str, cited: Sequence[Evidence], *, alone: bool = False, failing: float = 1.0
    ) -> float:
        """How likely `cited` support `sentence`, read with what stands around them unless `alone`.

        `failing` where there is no model, where it failed, and for what it has not learnt: a bare yes, and a sentence
        and a source of two languages.
        """
        around = () if alone else grounding.beside(cited, self._task.evidence)
        source = _text([*(piece.strip for piece in cited), *around])
        if self._model is None or not facts_of(sentence).terms or detect(sentence) != detect(source):
            return failing
        claim = Claim(sentence=sentence, source=source, question=self._task.query or self._task.question)
        try:
            with nullcontext() if self._watch is None else self._watch.paused():
                found = await self._model.support([claim], ledger=self._ledger)
        except Exception:  # noqa: BLE001 - checkers are plugins: whatever one raises, the rules decide and the run says so
            self.failed = True
            return failing
        # What is no probability (none, two, NaN) must not pass for one.
        if len(found) != 1 or not 0.0 <= found[0] <= 1.0:
            self.failed = True
            return failing
        return float(found[0])


def _text(strips: Sequence[Strip]) -> str:
    """The strips in document order, each passage below its title where its own words do not hold it."""
    out: list[str] = []
    ordered = sorted(strips, key=lambda one: (one.document_id, one.span.start))
    seen = ""
    for strip in ordered:
        if strip.document_id != seen:
            seen = strip.document_id
            own = "".join(one.text for one in ordered if one.document_id == seen)
            if strip.title and strip.title.casefold() not in own.casefold():
                out.append(f"{strip.title}\n")
        out.append(strip.text)
    return "".join(out)


def _others(cited: Sequence[Evidence], task: WritingTask) -> list[Evidence]:
    """The evidence that a sentence did not cite alone, and could have."""
    return [piece for piece in task.evidence if len(cited) != 1 or piece.number != cited[0].number]
