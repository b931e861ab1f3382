"""What the rounds have gathered so far: good passages, a reserve, and what is ruled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from tadasu.core.documents import Origin, Scope
from tadasu.core.grades import Level
from tadasu.core.retrieved import GradedPassage

_ORDER = {Level.HIGH: 3, Level.MEDIUM: 2, Level.UNGRADED: 1, Level.LOW: 0}


def _rank(item: GradedPassage) -> tuple[int, float]:
    return _ORDER[item.grade.level], item.grade.probability or 0.0


def _known(item: GradedPassage) -> float:
    return -1.0 if item.grade.probability is None else item.grade.probability


@dataclass(slots=True)
class Holdings:
    """Every graded passage of a run, each once with its best grade."""

    _items: dict[str, GradedPassage] = field(default_factory=dict)

    def add(self, items: Iterable[GradedPassage]) -> None:
        """Take in one round's passages; a passage found again keeps the better grade, and any is better than none."""
        for item in items:
            held = self._items.get(item.passage.id)
            if held is None or _known(item) > _known(held):
                self._items[item.passage.id] = item

    @property
    def ungraded(self) -> frozenset[str]:
        """The ids of the passages that no round could grade."""
        return frozenset(key for key, item in self._items.items() if item.grade.level is Level.UNGRADED)

    def levels(self, *, medium_kept: int) -> frozenset[Level]:
        """Of which levels there are passages that may go on; LOW ones are a reserve where they are our own."""
        held = {
            item.grade.level
            for item in self._items.values()
            if item.grade.level is not Level.LOW or item.passage.origin is Origin.INTERNAL
        }
        return frozenset(held if medium_kept else held - {Level.MEDIUM})

    def narrow(self, scope: Scope) -> Scope:
        """`scope` without what was graded LOW: each such passage, and documents of which two or more are all LOW.

        One LOW passage says little of its document: the answer may stand two pages on.
        """
        low = [item.passage for item in self._items.values() if item.grade.level is Level.LOW]
        better = {item.passage.document_id for item in self._items.values() if item.grade.level is not Level.LOW}
        counts = Counter(passage.document_id for passage in low)
        spent = {document for document, count in counts.items() if count >= 2 and document not in better}
        return replace(
            scope,
            exclude_passages=scope.exclude_passages | {passage.id for passage in low},
            exclude_documents=scope.exclude_documents | spent,
        )

    def chosen(self, levels: frozenset[Level], *, medium_kept: int) -> tuple[GradedPassage, ...]:
        """What goes on to refinement, best first: all HIGH, the best of the other `levels`; of LOW only our own."""
        ranked = sorted(self._items.values(), key=_rank, reverse=True)
        kept = {Level.HIGH: len(ranked), Level.MEDIUM: medium_kept}
        chosen: list[GradedPassage] = []
        for level in sorted(levels, key=lambda level: -_ORDER[level]):
            allowed = (
                item
                for item in ranked
                if item.grade.level is level and (level is not Level.LOW or item.passage.origin is Origin.INTERNAL)
            )
            chosen += islice(allowed, kept.get(level, max(1, medium_kept)))
        return tuple(chosen)
