"""The choices of refinement: how much is left out, and in which order the rest stands."""

from __future__ import annotations

import enum


class Strength(enum.Enum):
    """How much is left out. Which is best depends on the answering model: a weak one is easily led astray."""

    OFF = "off"
    """Nothing for its score: only repetitions, and what does not fit the budget."""
    MILD = "mild"
    STRONG = "strong"


class EvidenceOrder(enum.Enum):
    """How evidence is put in order; strips of one passage keep theirs in any case."""

    DOCUMENT = "document"
    """The document of the best passage first, within a document as it stands there."""
    EDGES = "edges"
    """The best passage first, the second best last, and so on inwards: models overlook most what stands in the middle
    of a long prompt (Liu et al., "Lost in the Middle", TACL 2024)."""
