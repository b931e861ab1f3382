"""How relevant a passage is, how sure we are, and what one retrieval adds up to (DESIGN §1, §3.2)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from tadasu.core.documents import Span


class Level(enum.Enum):
    """Level of one passage. UNGRADED is a failure with a reason, never a low grade."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNGRADED = "ungraded"


class Verdict(enum.Enum):
    """What one retrieval adds up to; the last four are states that are no verdict."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"
    NO_DOCUMENTS = "no_documents"
    GRADER_FAILED = "grader_failed"
    SEARCH_FAILED = "search_failed"
    BUDGET_SPENT = "budget_spent"


class VerdictRule(enum.Enum):
    """How grades become a verdict: the CRAG paper's rule, or a share of HIGH passages (DESIGN §3.1)."""

    ANY_HIGH = "any_high"
    HIGH_SHARE = "high_share"


class Calibration(enum.Enum):
    """What a probability was fitted on, and so how far it can be believed."""

    NONE = "none"
    """Nothing: the number sorts passages, and no more is promised."""
    PUBLIC = "public"
    """Public data in the question's language, as shipped; your documents may differ."""
    CORPUS = "corpus"
    """Labels on the documents that are searched (``tadasu calibrate``)."""
    STALE = "stale"
    """Such labels, but the grader or the documents have changed since."""


class Recommendation(enum.Enum):
    """What a grader advises to do with a passage."""

    USE = "use"
    USE_WITH_CARE = "use_with_care"
    DISCARD = "discard"
    MANUAL_REVIEW = "manual_review"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Borders between the levels, as probabilities: ``p >= high`` HIGH, ``p < low`` LOW, MEDIUM between."""

    high: float = 0.7
    low: float = 0.3

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.high <= 1.0:
            raise ValueError(f"thresholds must satisfy 0 <= low <= high <= 1, not {self}")

    def level(self, probability: float) -> Level:
        """The level of a calibrated probability in [0, 1]."""
        if probability >= self.high:
            return Level.HIGH
        return Level.LOW if probability < self.low else Level.MEDIUM


@dataclass(frozen=True, slots=True)
class Grade:
    """One grader's statement about one (question, passage) pair.

    `probability` is the probability of relevance in [0, 1], and None exactly where `level` is UNGRADED; then `reason`
    says why. `calibration` says what it was fitted on. `strip_scores` holds one probability per strip of the passage,
    or nothing where the grader gives none. `tier` names the tier that decided, `grader` its id and version, `signals`
    what it looked at. `hit` is the window of a long passage that scored best, relative to the passage (None: read
    whole). `recommendation` and `issues` come from graders that give them, such as a language model.
    """

    passage_id: str
    level: Level
    probability: float | None
    reason: str
    grader: str
    tier: str = ""
    calibration: Calibration = Calibration.NONE
    strip_scores: tuple[float, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)
    hit: Span | None = None
    recommendation: Recommendation | None = None
    issues: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.probability is None) is not (self.level is Level.UNGRADED):
            raise ValueError("a grade has a probability exactly when it is not UNGRADED")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"a probability lies in [0, 1], not {self.probability}")

    @property
    def calibrated(self) -> bool:
        """Whether the probability was fitted on something that still holds: public data, or labels of this corpus."""
        return self.calibration in {Calibration.PUBLIC, Calibration.CORPUS}


def ungraded(passage_id: str, *, reason: str, grader: str, tier: str = "") -> Grade:
    """A failed grading of one passage: somebody should look at it."""
    return Grade(
        passage_id=passage_id,
        level=Level.UNGRADED,
        probability=None,
        reason=reason,
        grader=grader,
        tier=tier,
        recommendation=Recommendation.MANUAL_REVIEW,
    )
