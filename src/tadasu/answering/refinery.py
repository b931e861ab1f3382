"""Refinement as the pipeline uses it: counted for the answering model, and undone in one step where it hid too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tadasu.answering.refinement import GradedPassage, Refined, RefinementSettings, refine, restore
from tadasu.core.answers import Answer, Reason
from tadasu.core.grades import Level
from tadasu.core.runs import Packing, StripFate
from tadasu.core.usage import Stage
from tadasu.ports import Ledger, PromptSpace, TokenCounter
from tadasu.runtime.ledger import timed


@dataclass(frozen=True, slots=True)
class Asked:
    """A question byte for byte, its standalone form, and the language to answer in."""

    question: str
    query: str
    language: str


@dataclass(frozen=True, slots=True)
class Refinery:
    """Makes evidence of passages. Holds no state between questions.

    `space` counts instead of `counter` where it is given, and says what the model's window leaves. `strength` is the
    name of `settings` for the run. `second_try`: whether whole passages may follow where nothing was found.
    """

    counter: TokenCounter
    settings: RefinementSettings
    space: PromptSpace | None = None
    strength: str = ""
    second_try: bool = True

    async def evidence(
        self,
        passages: Sequence[GradedPassage],
        asked: Asked,
        *,
        ledger: Ledger,
        whole: bool = False,
    ) -> Refined:
        """The evidence of `passages`; `whole`: unrefined."""
        counter = self.space or self.counter
        how = restore if whole else refine
        if not passages:
            return how((), counter=counter, settings=self.settings)
        room = await self.space.room(asked.question, asked.language) if self.space is not None else None
        name = "whole passages" if whole else "refinement"
        with timed(ledger, Stage.STRIP, provider="local", model=name, items=len(passages)):
            made = how(passages, counter=counter, settings=self.settings, question=asked.query, room=room)
        counted_by = self.space.counted_by if self.space is not None else ""
        return replace(made, packing=Packing(made.tokens, made.budget, counted_by, self.strength, restored=whole))

    def overlooked(self, answer: Answer, refined: Refined, passages: Sequence[GradedPassage]) -> bool:
        """Whether the answer may stand in what was left out: a passage is HIGH, and nothing was found in its strips."""
        return (
            self.second_try
            and answer.reason is Reason.INSUFFICIENT
            and any(one.grade.level is Level.HIGH for one in passages)
            and any(
                record.fate is StripFate.BELOW_THRESHOLD and record.strip.text.strip() for record in refined.records
            )
        )
