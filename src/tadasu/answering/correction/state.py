"""What one run of the correction loop has done so far, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tadasu.answering.correction.holdings import Holdings
from tadasu.answering.correction.marks import failures, of_passages
from tadasu.answering.correction.plan import Plan, Probe
from tadasu.answering.correction.policy import GOOD, CorrectionSettings, Progress, admitted
from tadasu.core.answers import Reason
from tadasu.core.documents import Scope
from tadasu.core.grades import Grade, Level, Verdict, ungraded
from tadasu.core.retrieved import Candidate, GradedPassage, Retrieval
from tadasu.core.runs import Action, ActionKind, Round, SearchMode, StopReason


@dataclass(frozen=True, slots=True)
class Corrected:
    """The outcome of the loop: every round, what goes on (best first), and why there is nothing where nothing is.

    `stop_reason` says in words why it ended, `stop` in a stable word.
    """

    rounds: tuple[Round, ...]
    passages: tuple[GradedPassage, ...]
    stop_reason: str
    reason: Reason
    warnings: tuple[str, ...] = ()
    stop: StopReason = StopReason.NOT_RECORDED

    @property
    def verdict(self) -> Verdict:
        """The verdict of the retrieval that `passages` come from: that of a later round which brought none is no news.

        NO_DOCUMENTS where there are none.
        """
        levels = {item.grade.level for item in self.passages}
        if self.stop is StopReason.CORRECT:
            return Verdict.CORRECT
        if levels & GOOD:
            return Verdict.AMBIGUOUS
        if Level.UNGRADED in levels:
            return Verdict.GRADER_FAILED
        return Verdict.INCORRECT if levels else Verdict.NO_DOCUMENTS


class LoopState:
    """The rounds so far, what they found, and which searches are left."""

    def __init__(self, query: str, *, scope: Scope, plan: Plan, language: str, settings: CorrectionSettings) -> None:
        self.query = query
        self.language = language
        self.scope = scope
        self.plan = plan
        self.settings = settings
        self.holdings = Holdings()
        self.rounds: list[Round] = []
        self.first: Retrieval | None = None
        self.graded: dict[str, tuple[Candidate, Grade]] = {}
        self._searches = -1  # the first search is not counted among the re-searches
        self._web_searches = 0
        self._last_mode = SearchMode.HYBRID
        self._found = self._seen_all = self._was_incorrect = False

    def take(self, kind: ActionKind) -> Probe:
        """The search that `kind` asks for, counted."""
        if kind is ActionKind.SEARCH_WEB:
            self._web_searches += 1
            return self.plan.take_web(results=self.settings.web_results)
        self._searches += 1
        return self.plan.take()

    def take_in(self, verdict: Verdict, graded: Iterable[tuple[Candidate, Grade]], mode: SearchMode) -> None:
        """Remember what a round found."""
        items = [GradedPassage(candidate.passage, grade) for candidate, grade in graded]
        self.holdings.add(items)
        own = mode is not SearchMode.WEB
        self._found = self._found or (own and bool(items))
        # Keywords find what holds them; by meaning, everything has a place in the ranking.
        if own:
            self._seen_all = verdict is Verdict.NO_DOCUMENTS and mode is not SearchMode.LEXICAL
        self._was_incorrect = self._was_incorrect or verdict is Verdict.INCORRECT
        self._last_mode = mode

    def progress(self, *, web: bool) -> Progress:
        """How far the loop has come; `web` says whether there is one."""
        return Progress(
            searches=self._searches,
            web_searches=self._web_searches,
            web_available=web and self.plan.web_left,
            probes_left=self.plan.left,
            found=self._found,
            seen_all=self._seen_all,
            last_mode=self._last_mode,
            was_incorrect=self._was_incorrect,
            settings=self.settings,
            held=self.holdings.levels(medium_kept=self._medium_kept),
        )

    @property
    def _medium_kept(self) -> int:
        left = self.plan.left and self._searches < self.settings.max_searches
        return self.settings.medium_kept if left else self.settings.medium_kept_exhausted

    def ungraded(self, candidate: Candidate, grader: str, reason: str) -> Grade:
        """The grade that `candidate` has from an earlier round, or UNGRADED for `reason`."""
        known = self.graded.get(candidate.passage.id)
        return known[1] if known else ungraded(candidate.passage.id, reason=reason, grader=grader)

    def describe_change(self, probe: Probe, narrowed: Scope) -> str:
        """What this round does that the one before did not."""
        without = "" if narrowed == self.scope else "without the passages graded LOW"
        return "; ".join(part for part in (probe.changed, without) if part)

    def concluded(self, action: Action) -> Corrected:
        """What the loop comes to, `action` being its last."""
        passages: tuple[GradedPassage, ...] = ()
        stop = action.stop or StopReason.NOT_RECORDED
        if action.kind is not ActionKind.ABSTAIN:
            levels = GOOD if stop is StopReason.CORRECT else frozenset()
            levels |= admitted(stop, self.progress(web=False))
            passages = self.holdings.chosen(levels, medium_kept=self._medium_kept)
        return Corrected(
            rounds=tuple(self.rounds),
            passages=passages,
            stop_reason=action.reason,
            reason=self._reason(stop, passages),
            warnings=(*failures(self.rounds), *of_passages(passages, self.language)),
            stop=stop,
        )

    def _reason(self, stop: StopReason, passages: Iterable[GradedPassage]) -> Reason:
        """Why there would be no answer, from the state that ended the loop, or for want of evidence.

        The documents are not said to be silent where `passages` lack one that could not be graded, or where nothing was
        found and a search of them had failed.
        """
        match stop:
            case StopReason.BUDGET_SPENT:
                return Reason.BUDGET_SPENT
            case StopReason.NO_DOCUMENTS if not self._found:
                own = [one for one in self.rounds if one.mode is not SearchMode.WEB]
                if any(one.verdict is Verdict.SEARCH_FAILED for one in own):
                    return Reason.SEARCH_FAILED
                scope = self.scope
                filtered = bool(scope.language or scope.source_prefix or scope.since or scope.until)
                return Reason.ALL_FILTERED if filtered else Reason.NO_DOCUMENTS
            case StopReason.SEARCH_FAILED:
                return Reason.SEARCH_FAILED
            case StopReason.GRADER_FAILED | StopReason.UNGRADED:
                return Reason.GRADER_FAILED
            case _:
                unread = self.holdings.ungraded - {item.passage.id for item in passages}
                return Reason.GRADER_FAILED if unread else Reason.INSUFFICIENT
