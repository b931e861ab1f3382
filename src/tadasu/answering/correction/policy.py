"""What to do after a verdict. A pure function, so that every path can be read and tested here (DESIGN §3.1, step 4)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from tadasu.core.grades import Verdict, VerdictRule
from tadasu.core.runs import Action, ActionKind


class Reaction(enum.Enum):
    """What happens where there is no verdict, or where a passage has no grade.

    CLOSED keeps what could not be checked away from the answer; OPEN lets it through, with a warning in the run.
    """

    CLOSED = "closed"
    OPEN = "open"


class ReservePolicy(enum.Enum):
    """What happens to the internal passages where the verdict is INCORRECT and nothing better was found."""

    ABSTAIN = "abstain"
    USE_WITH_WARNING = "use_with_warning"


@dataclass(frozen=True, slots=True)
class CorrectionSettings:
    """Bounds and choices of the correction loop.

    `max_searches` counts the searches of the own documents after the first; the web is counted apart by
    `max_web_searches`. `quality_threshold` is used by the rule ``high_share`` only.
    """

    rule: VerdictRule = VerdictRule.ANY_HIGH
    quality_threshold: float = 0.6
    max_searches: int = 2
    max_web_searches: int = 1
    web_results: int = 5
    medium_kept: int = 2
    medium_kept_exhausted: int = 3
    ungraded: Reaction = Reaction.CLOSED
    grader_failed: Reaction = Reaction.CLOSED
    incorrect: ReservePolicy = ReservePolicy.ABSTAIN


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the loop has come: searches of the own documents after the first, web searches, and what is left."""

    searches: int = 0
    web_searches: int = 0
    web_available: bool = False
    probes_left: bool = True
    holds_good: bool = False
    settings: CorrectionSettings = field(default_factory=CorrectionSettings)

    @property
    def may_search(self) -> bool:
        """Whether another search of the own documents is within bounds and would differ from those before."""
        return self.probes_left and self.searches < self.settings.max_searches

    @property
    def may_search_web(self) -> bool:
        """Whether the web is configured and within bounds."""
        return self.web_available and self.web_searches < self.settings.max_web_searches


def next_action(verdict: Verdict, progress: Progress) -> Action:
    """What to do after `verdict`; the reason is part of the run."""
    match verdict:
        case Verdict.CORRECT:
            return Action(ActionKind.REFINE, "the verdict is CORRECT")
        case Verdict.AMBIGUOUS:
            return _after_ambiguous(progress)
        case Verdict.INCORRECT:
            return _after_incorrect(progress)
        case Verdict.NO_DOCUMENTS:
            return _after_nothing(progress)
        case Verdict.GRADER_FAILED:
            return _after_failed_grader(progress)
        case Verdict.SEARCH_FAILED:
            return _after_failed_search(progress)
        case Verdict.BUDGET_SPENT:
            return _end(progress, "the budget of the run is spent")


def _after_ambiguous(progress: Progress) -> Action:
    if progress.may_search:
        return Action(ActionKind.SEARCH_AGAIN, "the verdict is AMBIGUOUS and searches are left")
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "still AMBIGUOUS with no search left: the web is added")
    why = "no other search is left to try" if not progress.probes_left else "searches are exhausted"
    return Action(ActionKind.COMBINE, f"still AMBIGUOUS and {why}: the best of all rounds is used")


def _after_incorrect(progress: Progress) -> Action:
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "the verdict is INCORRECT: the web is asked, our passages stay in reserve")
    # Where the web was asked it has had the last word; without one, our documents get their other searches first.
    if progress.may_search and not progress.web_searches:
        return Action(ActionKind.SEARCH_AGAIN, "the verdict is INCORRECT and there is no web: another search")
    if progress.holds_good:
        return Action(ActionKind.COMBINE, "nothing better was found: the good passages of earlier rounds are used")
    if progress.settings.incorrect is ReservePolicy.USE_WITH_WARNING:
        return Action(ActionKind.COMBINE, "INCORRECT and nothing better was found: the reserve is used, with a warning")
    return Action(ActionKind.ABSTAIN, "INCORRECT and nothing better was found")


def _after_nothing(progress: Progress) -> Action:
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "no passage was found: the web is asked")
    if progress.may_search and progress.holds_good:
        return Action(ActionKind.SEARCH_AGAIN, "no further passage was found: another search")
    return _end(progress, "no passage was found and no other source is left")


def _after_failed_grader(progress: Progress) -> Action:
    if progress.holds_good:
        return Action(ActionKind.COMBINE, "nothing could be graded: the good passages of earlier rounds are used")
    if progress.settings.grader_failed is Reaction.OPEN:
        return Action(ActionKind.COMBINE, "nothing could be graded: passages go on unchecked, as configured")
    return Action(ActionKind.ABSTAIN, "nothing could be graded")


def _after_failed_search(progress: Progress) -> Action:
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "the search failed: the web is asked")
    return _end(progress, "the search failed")


def _end(progress: Progress, why: str) -> Action:
    if progress.holds_good:
        return Action(ActionKind.COMBINE, f"{why}: the good passages of earlier rounds are used")
    return Action(ActionKind.ABSTAIN, why)
