"""Scorers that do what they are told, right and wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tadasu.core.scores import PairScore, ScoreScale
from tadasu.core.usage import Call
from tadasu.core.vectors import PassageText
from tadasu.ports import Ledger

Scoring = Callable[[str, Sequence[PassageText]], Any]


class Book:
    """A ledger that keeps calls in a list."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def record(self, call: Call) -> None:
        self.calls.append(call)

    def elapsed_ms(self) -> float:
        return 12.5


@dataclass
class TableScorer:
    """Gives the score that `table` holds for a passage's text, `default` for others."""

    table: dict[str, float] = field(default_factory=dict)
    default: float = -3.0
    scale: ScoreScale = ScoreScale.LOGIT
    id: str = "table@1"
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        self.asked.append((question, tuple(one.text for one in passages)))
        return [PairScore(self.table.get(one.text, self.default)) for one in passages]


@dataclass
class WildScorer:
    """Returns whatever `scoring` makes of a batch, of whatever type; raises what it raises."""

    scoring: Scoring
    scale: Any = ScoreScale.LOGIT
    id: str = "wild@1"
    delay_s: float = 0.0
    calls: int = 0

    async def score(self, question: str, passages: Sequence[PassageText], *, ledger: Ledger) -> Sequence[PairScore]:
        self.calls += 1
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        return self.scoring(question, passages)  # type: ignore[no-any-return]


def raising(problem: BaseException) -> Scoring:
    def scoring(question: str, passages: Sequence[PassageText]) -> Any:
        raise problem

    return scoring
