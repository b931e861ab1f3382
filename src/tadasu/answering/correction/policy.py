"""What to do after a verdict. A pure function, so that every path can be read and tested here (DESIGN §3.1, step 4)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from tadasu.core.grades import Level, Verdict, VerdictRule
from tadasu.core.runs import Action, ActionKind, SearchMode, StopReason


class Reaction(enum.Enum):
    """What happens where there is no verdict, or where a passage has no grade.

    CLOSED keeps what could not be checked away from the answer; other sources are still tried, and what is good is
    used. OPEN lets it through where there is nothing better, with a warning in the run. ABSTAIN ends the run without
    an answer.
    """

    CLOSED = "closed"
    OPEN = "open"
    ABSTAIN = "abstain"


class ReservePolicy(enum.Enum):
    """What happens to the internal passages where the verdict is INCORRECT and nothing better was found."""

    ABSTAIN = "abstain"
    USE_WITH_WARNING = "use_with_warning"


@dataclass(frozen=True, slots=True)
class CorrectionSettings:
    """Bounds and choices of the correction loop.

    `max_searches` counts the searches of the own documents after the first; the web is counted apart by
    `max_web_searches`. `quality_threshold` is used by the rule ``high_share`` only. The reactions are to the states
    that are no verdict, and to single passages that could not be graded.
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
    no_documents: Reaction = Reaction.CLOSED
    search_failed: Reaction = Reaction.CLOSED
    budget_spent: Reaction = Reaction.CLOSED
    incorrect: ReservePolicy = ReservePolicy.ABSTAIN

    def reaction(self, stop: StopReason) -> Reaction:
        """The reaction to a state that is no verdict; CLOSED for all else."""
        match stop:
            case StopReason.GRADER_FAILED:
                return self.grader_failed
            case StopReason.NO_DOCUMENTS:
                return self.no_documents
            case StopReason.SEARCH_FAILED:
                return self.search_failed
            case StopReason.BUDGET_SPENT:
                return self.budget_spent
            case _:
                return Reaction.CLOSED


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the loop has come, and what it holds.

    `searches` counts those of the own documents after the first. `held` are the levels of which passages are held that
    may go on; LOW counts for our own passages only, for they are the reserve. `found` says whether our documents
    brought anything in any round, `seen_all` that the last search ranked all that is not ruled out and found nothing.
    `was_incorrect`: a round's verdict was INCORRECT.
    """

    searches: int = 0
    web_searches: int = 0
    web_available: bool = False
    probes_left: bool = True
    held: frozenset[Level] = frozenset()
    found: bool = False
    seen_all: bool = False
    last_mode: SearchMode = SearchMode.HYBRID
    was_incorrect: bool = False
    settings: CorrectionSettings = field(default_factory=CorrectionSettings)

    @property
    def may_search(self) -> bool:
        """Whether another search of the own documents is within bounds and would differ from those before."""
        return self.probes_left and self.searches < self.settings.max_searches

    @property
    def may_search_web(self) -> bool:
        """Whether the web is configured and within bounds."""
        return self.web_available and self.web_searches < self.settings.max_web_searches

    @property
    def holds_good(self) -> bool:
        """Whether a passage that is HIGH or MEDIUM may go on."""
        return bool(self.held & GOOD)


GOOD = frozenset((Level.HIGH, Level.MEDIUM))


def admitted(stop: StopReason, progress: Progress) -> frozenset[Level]:
    """The levels that go on to the answer where the loop ends with `stop`, of those that are held."""
    settings = progress.settings
    levels = GOOD | {Level.UNGRADED} if settings.ungraded is Reaction.OPEN else GOOD
    if progress.held & levels:
        return progress.held & levels
    if settings.reaction(stop) is Reaction.OPEN and Level.UNGRADED in progress.held:
        return frozenset((Level.UNGRADED,))
    opened = settings.reaction(stop) is Reaction.OPEN
    reserved = progress.was_incorrect and settings.incorrect is ReservePolicy.USE_WITH_WARNING
    return progress.held & {Level.LOW} if opened or reserved else frozenset()


def next_action(verdict: Verdict, progress: Progress) -> Action:
    """What to do after `verdict`; the reason is part of the run."""
    match verdict:
        case Verdict.CORRECT:
            action = Action(ActionKind.REFINE, "the verdict is CORRECT", StopReason.CORRECT)
        case Verdict.AMBIGUOUS:
            action = _after_ambiguous(progress)
        case Verdict.INCORRECT:
            action = _after_incorrect(progress)
        case Verdict.NO_DOCUMENTS:
            action = _after_nothing(progress)
        case Verdict.GRADER_FAILED:
            action = _end(StopReason.GRADER_FAILED, progress, "nothing could be graded")
        case Verdict.SEARCH_FAILED:
            action = _after_failed_search(progress)
        case Verdict.BUDGET_SPENT:
            action = _end(StopReason.BUDGET_SPENT, progress, "the budget of the run is spent")
    answers = action.kind in (ActionKind.REFINE, ActionKind.COMBINE)
    if answers and progress.settings.ungraded is Reaction.ABSTAIN and Level.UNGRADED in progress.held:
        reason = "a passage could not be graded: no answer, as configured"
        return Action(ActionKind.ABSTAIN, reason, StopReason.UNGRADED)
    return action


def _ended(progress: Progress) -> tuple[StopReason, str]:
    """Why no other search follows where none was CORRECT."""
    if progress.searches < progress.settings.max_searches:
        return StopReason.NO_OTHER_SEARCH, "no other search is left to try"
    return StopReason.SEARCHES_EXHAUSTED, "searches are exhausted"


def _after_ambiguous(progress: Progress) -> Action:
    if progress.may_search:
        return Action(ActionKind.SEARCH_AGAIN, "the verdict is AMBIGUOUS and searches are left")
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "still AMBIGUOUS with no search left: the web is added")
    stop, why = _ended(progress)
    if admitted(stop, progress):
        return Action(ActionKind.COMBINE, f"still AMBIGUOUS and {why}: the best of all rounds is used", stop)
    reason = f"still AMBIGUOUS and {why}: nothing that was graded is good enough"
    return Action(ActionKind.ABSTAIN, reason, stop)


def _after_incorrect(progress: Progress) -> Action:
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "the verdict is INCORRECT: the web is asked, our passages stay in reserve")
    # Where the web found nothing either, our documents are not searched again: without a web, they are first.
    if progress.may_search and not progress.web_searches:
        return Action(ActionKind.SEARCH_AGAIN, "the verdict is INCORRECT and there is no web: another search")
    if progress.holds_good:
        if progress.may_search:
            return Action(ActionKind.SEARCH_AGAIN, "nothing better was found: another search")
        stop, _ = _ended(progress)
        why = "nothing better was found: the good passages of earlier rounds are used"
        return Action(ActionKind.COMBINE, why, stop)
    return _end(StopReason.INCORRECT, progress, "INCORRECT and nothing better was found")


def _after_nothing(progress: Progress) -> Action:
    why = "no passage was found and no other source is left"
    further = "nothing further was found and no other source is left"
    if not progress.found and progress.settings.no_documents is Reaction.ABSTAIN:
        return _end(StopReason.NO_DOCUMENTS, progress, "no passage was found")
    if progress.may_search_web:
        return Action(ActionKind.SEARCH_WEB, "no passage was found: the web is asked")
    if progress.may_search and progress.found and (progress.holds_good or not progress.seen_all):
        return Action(ActionKind.SEARCH_AGAIN, "no further passage was found: another search")
    # What brings nothing in a later round is no lack of documents.
    if not progress.found:
        return _end(StopReason.NO_DOCUMENTS, progress, why)
    if progress.was_incorrect and not progress.holds_good:
        return _end(StopReason.INCORRECT, progress, "nothing else was found than what was graded LOW")
    stop, _ = _ended(progress)
    return _end(stop, progress, further)


def _after_failed_search(progress: Progress) -> Action:
    if progress.settings.search_failed is not Reaction.ABSTAIN:
        if progress.may_search_web:
            return Action(ActionKind.SEARCH_WEB, "the search failed: the web is asked")
        if progress.may_search and progress.found and progress.last_mode is SearchMode.WEB:
            return Action(ActionKind.SEARCH_AGAIN, "the web could not be searched: another search of our documents")
    return _end(StopReason.SEARCH_FAILED, progress, "the search failed")


def _end(stop: StopReason, progress: Progress, why: str) -> Action:
    if progress.settings.reaction(stop) is Reaction.ABSTAIN:
        return Action(ActionKind.ABSTAIN, f"{why}: no answer, as configured", stop)
    levels = admitted(stop, progress)
    if levels & GOOD:
        return Action(ActionKind.COMBINE, f"{why}: the good passages of earlier rounds are used", stop)
    if Level.UNGRADED in levels:
        return Action(ActionKind.COMBINE, f"{why}: passages go on unchecked, as configured", stop)
    if levels:
        return Action(ActionKind.COMBINE, f"{why}: the reserve is used, with a warning", stop)
    return Action(ActionKind.ABSTAIN, why, stop)
