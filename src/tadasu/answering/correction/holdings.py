"""What the rounds have gathered so far: good passages, a reserve, and what is ruled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tadasu.answering.correction.policy import CorrectionSettings, Reaction, ReservePolicy
from tadasu.core.documents import Origin, Scope
from tadasu.core.grades import Level
from tadasu.core.retrieved import GradedPassage

_ORDER = {Level.HIGH: 3, Level.MEDIUM: 2, Level.UNGRADED: 1, Level.LOW: 0}


def _rank(item: GradedPassage) -> tuple[int, float]:
    return _ORDER[item.grade.level], item.grade.probability or 0.0


@dataclass(slots=True)
class Holdings:
    """Every graded passage of a run, each once with its best grade."""

    _items: dict[str, GradedPassage] = field(default_factory=dict)

    def add(self, items: Iterable[GradedPassage]) -> None:
        """Take in one round's passages; a passage found again keeps the better grade."""
        for item in items:
            held = self._items.get(item.passage.id)
            if held is None or _rank(item) > _rank(held):
                self._items[item.passage.id] = item

    @property
    def good(self) -> bool:
        """Whether any passage is HIGH or MEDIUM."""
        return any(item.grade.level in (Level.HIGH, Level.MEDIUM) for item in self._items.values())

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

    def chosen(self, settings: CorrectionSettings, *, exhausted: bool) -> tuple[GradedPassage, ...]:
        """What goes on to refinement: all HIGH, the best MEDIUM, UNGRADED by policy, never LOW. Best first."""
        ranked = sorted(self._items.values(), key=_rank, reverse=True)
        medium_kept = settings.medium_kept_exhausted if exhausted else settings.medium_kept
        high = [item for item in ranked if item.grade.level is Level.HIGH]
        medium = [item for item in ranked if item.grade.level is Level.MEDIUM][:medium_kept]
        open_to_ungraded = settings.ungraded is Reaction.OPEN
        if not high and not medium:
            open_to_ungraded = open_to_ungraded or settings.grader_failed is Reaction.OPEN
        ungraded = [item for item in ranked if item.grade.level is Level.UNGRADED] if open_to_ungraded else []
        return tuple(high + medium + ungraded[:medium_kept])

    def reserve(self, settings: CorrectionSettings) -> tuple[GradedPassage, ...]:
        """The best of our own LOW passages where the policy lets them through with a warning; nothing otherwise."""
        if settings.incorrect is not ReservePolicy.USE_WITH_WARNING:
            return ()
        own = [
            item
            for item in self._items.values()
            if item.grade.level is Level.LOW and item.passage.origin is Origin.INTERNAL
        ]
        return tuple(sorted(own, key=_rank, reverse=True)[: settings.medium_kept])
