"""One verdict on a sentence of an answer and the evidence that it cites, or should have cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tadasu.answering.generation import grounding
from tadasu.answering.generation.abstention import is_refusal
from tadasu.answering.generation.facts import facts_of
from tadasu.core.answers import Evidence, Support
from tadasu.ports import Ledger, WritingTask


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found: the verdict, the evidence that holds the sentence up, and whether that is not what it cited."""

    check: grounding.Check
    support: tuple[Evidence, ...] = ()
    moved: bool = False


class SentenceChecker:
    """Ties sentences to the evidence that supports them."""

    async def judge(self, sentence: str, cited: Sequence[Evidence], *, task: WritingTask, ledger: Ledger) -> Judgement:
        """The verdict on `sentence`, which cites the pieces `cited` of the evidence of `task`.

        Where they do not support it, the one piece of the evidence that does takes their place, if there is one.
        """
        del ledger
        asked, evidence = task.query or task.question, task.evidence
        around = grounding.beside(cited, evidence)
        verdict = grounding.check(sentence, [piece.strip for piece in cited], question=asked, around=around)
        if verdict.holds:
            return Judgement(verdict, grounding.needed(sentence, cited, question=asked))
        if is_refusal(sentence) or not facts_of(sentence).terms:
            return Judgement(verdict)
        better = grounding.best_support(sentence, evidence, question=asked)
        if better is None:
            return Judgement(verdict)
        return Judgement(grounding.Check(Support.SUPPORTED, 1.0), (better,), moved=bool(cited))
