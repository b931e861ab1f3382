"""An answer without a chat model: the sentences that decide the question, quoted and cited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tadasu.answering.generation.choosing import Chosen, ExtractiveSettings, choose
from tadasu.answering.generation.quoting import Quote
from tadasu.answering.generation.sides import cited, told
from tadasu.answering.generation.spotting import spot
from tadasu.core.usage import Stage
from tadasu.ports import Ledger, SpanReader, WritingTask
from tadasu.runtime.ledger import timed

__all__ = ["Contradiction", "ExtractiveSettings", "ExtractiveWriter"]

_TERMINATED = (".", "!", "?", "。", "！", "？", "…", ")", "）")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Both sides as they are written for a reader, cited, and the evidence numbers of each."""

    text: str
    sides: tuple[frozenset[int], ...]


class ExtractiveWriter:
    """Quotes the deciding sentences word for word (white space aside); where sources differ, both sides.

    With a `reader`, the words that it holds to be the answer weigh beside the rules; without one, rules decide alone.
    """

    __slots__ = ("_reader", "_settings")

    def __init__(self, settings: ExtractiveSettings | None = None, *, reader: SpanReader | None = None) -> None:
        self._settings = settings or ExtractiveSettings()
        self._reader = reader

    @property
    def id(self) -> str:
        """Name and version."""
        return "extractive/2"

    async def choose(self, task: WritingTask, *, ledger: Ledger) -> Chosen:
        """What would be quoted, and how sufficient the evidence is."""
        spots = await spot(self._reader, task.query or task.question, task.evidence, ledger=ledger)
        with timed(ledger, Stage.GENERATE, provider="local", model=self.id, items=len(task.evidence)):
            return choose(task, spots, self._settings)

    async def write(self, task: WritingTask, *, ledger: Ledger) -> AsyncIterator[str]:
        """One piece per sentence; nothing where the evidence is about another thing than the question."""
        chosen = await self.choose(task, ledger=ledger)
        if chosen.conflict is not None:
            for line in told(chosen.conflict, task):
                yield line
            return
        previous: Quote | None = None
        listed = len(chosen.quotes) > 1 and all(quote.item for quote in chosen.quotes)
        for quote in chosen.quotes:
            gap = "" if previous is None else "\n" if listed else _join(previous.text, quote.text)
            mark = "- " if listed and not quote.text[0].isdigit() else ""
            space = " " if quote.text[-1].isascii() else ""
            previous = quote
            yield f"{gap}{mark}{quote.text}{space}{cited(quote)}"

    def contradiction(self, task: WritingTask) -> Contradiction | None:
        """What the evidence says against itself about the question; None where it does not."""
        conflict = choose(task, {}, ExtractiveSettings()).conflict
        if conflict is None:
            return None
        sides = tuple(frozenset(side.numbers) for side in conflict.sides)
        return Contradiction("".join(told(conflict, task)), sides)


def _join(before: str, after: str) -> str:
    if not before.endswith(_TERMINATED):
        return "\n"
    return " " if before[-1].isascii() or after[0].isascii() else ""
