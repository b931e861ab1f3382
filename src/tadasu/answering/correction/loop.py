"""The correction loop: retrieve, grade, decide, and change something until it is good or the bounds are reached.

The loop knows its neighbours through ports only. It never raises for what a search, a grader or the web did: failures
become states of the run (SEARCH_FAILED, GRADER_FAILED, BUDGET_SPENT) and the policy decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tadasu.answering.correction.holdings import Holdings
from tadasu.answering.correction.policy import CorrectionSettings, Progress, next_action
from tadasu.answering.correction.rewrite import Probe, probes, web_query
from tadasu.answering.correction.rounds import from_the_question, grade_all, recorded
from tadasu.answering.correction.verdicts import verdict_of
from tadasu.core.answers import Reason
from tadasu.core.documents import Scope
from tadasu.core.events import Listener, RoundEnded, ignore
from tadasu.core.grades import Calibration, Grade, Verdict
from tadasu.core.retrieved import Candidate, GradedPassage, Retrieval
from tadasu.core.runs import Action, ActionKind, Round, SearchMode
from tadasu.errors import BudgetSpent, TadasuError
from tadasu.ports import CandidateSearch, Grader, Ledger, OutsideSearch
from tadasu.runtime.budget import Budget
from tadasu.runtime.ledger import RunLedger


@dataclass(frozen=True, slots=True)
class Corrected:
    """The outcome of the loop: every round, what goes on (best first), and why there is nothing where nothing is."""

    rounds: tuple[Round, ...]
    passages: tuple[GradedPassage, ...]
    stop_reason: str
    reason: Reason
    warnings: tuple[str, ...] = ()


class CorrectionLoop:
    """Runs the rounds of one question. Without state of its own: one object serves all questions."""

    def __init__(
        self,
        *,
        search: CandidateSearch,
        grader: Grader,
        outside: OutsideSearch | None,
        settings: CorrectionSettings,
        k: int = 10,
    ) -> None:
        self._search = search
        self._grader = grader
        self._outside = outside
        self._settings = settings
        self._k = k

    async def run(
        self,
        query: str,
        *,
        scope: Scope,
        language: str,
        ledger: RunLedger,
        budget: Budget,
        listen: Listener = ignore,
    ) -> Corrected:
        """Search for `query` within `scope` until the policy says stop. Always returns."""
        state = _State(query, scope=scope, probes=probes(query, k=self._k), language=language)
        action = Action(ActionKind.SEARCH_AGAIN, "the first search")
        while action.kind in (ActionKind.SEARCH_AGAIN, ActionKind.SEARCH_WEB):
            began = ledger.elapsed_ms()
            probe = state.next_probe(action.kind, web_results=self._settings.web_results)
            narrowed = state.holdings.narrow(scope)
            verdict, graded, error = await self._attempt(probe, narrowed, state, ledger, budget)
            state.holdings.add(GradedPassage(candidate.passage, grade) for candidate, grade in graded)
            action = next_action(verdict, self._progress(state))
            ended = Round(
                number=len(state.rounds) + 1,
                mode=probe.mode,
                query=probe.query,
                changed=state.describe_change(probe, narrowed),
                excluded_passages=len(narrowed.exclude_passages) - len(scope.exclude_passages),
                excluded_documents=len(narrowed.exclude_documents) - len(scope.exclude_documents),
                candidates=tuple(recorded(candidate, grade) for candidate, grade in graded),
                verdict=verdict,
                rule=self._settings.rule,
                action=action,
                started_ms=began,
                duration_ms=ledger.elapsed_ms() - began,
                error=error,
            )
            state.rounds.append(ended)
            listen(RoundEnded(ended))
        return self._conclude(state, action)

    def _progress(self, state: _State) -> Progress:
        return Progress(
            searches=state.searches,
            web_searches=state.web_searches,
            web_available=self._outside is not None,
            probes_left=state.peek is not None,
            holds_good=state.holdings.good,
            settings=self._settings,
        )

    async def _attempt(
        self, probe: Probe, scope: Scope, state: _State, ledger: RunLedger, budget: Budget
    ) -> tuple[Verdict, list[tuple[Candidate, Grade]], str]:
        """One retrieval and its grades; failures come back as a state and an explanation."""
        try:
            budget.check(f"search {len(state.rounds) + 1}")
            retrieval = await self._retrieve(probe, scope, state, ledger)
            if state.first is None and probe.mode is not SearchMode.WEB:
                state.first = retrieval
            if not retrieval.candidates:
                return Verdict.NO_DOCUMENTS, [], ""
            budget.check("grading")
        except BudgetSpent as spent:
            return Verdict.BUDGET_SPENT, [], str(spent)
        except TadasuError as problem:
            return Verdict.SEARCH_FAILED, [], str(problem)
        except Exception as problem:  # noqa: BLE001 - stores and web searches are plugins: their bugs must not lose a run
            return Verdict.SEARCH_FAILED, [], f"{type(problem).__name__}: {problem}"
        grades = await self._grade(retrieval, state, budget, mode=probe.mode)
        verdict = verdict_of(grades, rule=self._settings.rule, quality_threshold=self._settings.quality_threshold)
        error = grades[0].reason if verdict is Verdict.GRADER_FAILED else ""
        return verdict, list(zip(retrieval.candidates, grades, strict=True)), error

    async def _retrieve(self, probe: Probe, scope: Scope, state: _State, ledger: RunLedger) -> Retrieval:
        if probe.mode is not SearchMode.WEB:
            return await self._search.search(probe.query, k=probe.k, scope=scope, mode=probe.mode, ledger=ledger)
        assert self._outside is not None, "the policy asks for the web only where there is one"
        inside = state.first or Retrieval(query=state.query, candidates=())
        return await self._outside.search(
            probe.query, inside=inside, limit=probe.k, language=state.language, ledger=ledger
        )

    async def _grade(self, retrieval: Retrieval, state: _State, ledger: Ledger, *, mode: SearchMode) -> list[Grade]:
        """A grade per candidate; one that was graded before keeps its grade: question and passage are the same.

        New ones of our own are compared with those seen before. Web pages are a ranking of their own.
        """
        asked = from_the_question(retrieval, state.first)
        known = state.graded
        new = tuple(candidate for candidate in asked.candidates if candidate.passage.id not in known)
        if new:
            seen = () if mode is SearchMode.WEB else tuple(known.values())
            context, given = tuple(candidate for candidate, _ in seen), tuple(grade for _, grade in seen)
            view = replace(asked, candidates=new, context=context, context_grades=given)
            grades = await grade_all(self._grader, state.query, view, ledger=ledger)
            # What could not be graded is tried again should a later round find it.
            known = known | {
                candidate.passage.id: (candidate, grade) for candidate, grade in zip(new, grades, strict=True)
            }
            state.graded = {key: pair for key, pair in known.items() if pair[1].probability is not None}
        return [known[candidate.passage.id][1] for candidate in retrieval.candidates]

    def _conclude(self, state: _State, action: Action) -> Corrected:
        exhausted = not self._progress(state).may_search
        passages: tuple[GradedPassage, ...] = ()
        warnings: list[str] = []
        if action.kind in (ActionKind.REFINE, ActionKind.COMBINE):
            passages = state.holdings.chosen(self._settings, exhausted=exhausted)
            if not passages:
                passages = state.holdings.reserve(self._settings)
                if passages:
                    warnings.append("the verdict was INCORRECT: the answer rests on passages graded LOW")
        marks = {item.grade.calibration for item in passages if item.grade.probability is not None}
        if Calibration.NONE in marks:
            warnings.append("the grades are not calibrated")
        if Calibration.STALE in marks:
            warnings.append("the calibration of the grades may no longer hold; `tadasu doctor` says why")
        if any(item.grade.probability is None for item in passages):
            warnings.append("the answer rests on passages that could not be graded")
        return Corrected(
            rounds=tuple(state.rounds),
            passages=passages,
            stop_reason=action.reason,
            reason=_reason(state),
            warnings=tuple(warnings),
        )


class _State:
    """What one run of the loop has done so far."""

    def __init__(self, query: str, *, scope: Scope, probes: Iterator[Probe], language: str) -> None:
        self.query = query
        self.language = language
        self.scope = scope
        self.holdings = Holdings()
        self.rounds: list[Round] = []
        self.first: Retrieval | None = None
        self.graded: dict[str, tuple[Candidate, Grade]] = {}
        self.searches = -1  # the first search is not counted among the re-searches
        self.web_searches = 0
        self._probes = probes
        self.peek: Probe | None = next(probes, None)

    def next_probe(self, kind: ActionKind, *, web_results: int) -> Probe:
        """The search that `kind` asks for, counted."""
        if kind is ActionKind.SEARCH_WEB:
            self.web_searches += 1
            return Probe(web_query(self.query), SearchMode.WEB, web_results, "the web instead of our documents")
        assert self.peek is not None, "the policy searches again only while probes are left"
        probe, self.peek = self.peek, next(self._probes, None)
        self.searches += 1
        return probe

    def describe_change(self, probe: Probe, narrowed: Scope) -> str:
        """What this round does that the one before did not."""
        count = len(narrowed.exclude_passages) - len(self.scope.exclude_passages)
        without = f"without {count} passages graded LOW" if count and probe.mode is not SearchMode.WEB else ""
        return "; ".join(part for part in (probe.changed, without) if part)


def _reason(state: _State) -> Reason:
    """Why there would be no answer, from the last state that is no verdict, or for want of evidence."""
    verdicts = [ended.verdict for ended in state.rounds]
    if Verdict.BUDGET_SPENT in verdicts:
        return Reason.BUDGET_SPENT
    if all(verdict is Verdict.NO_DOCUMENTS for verdict in verdicts):
        scope = state.scope
        filtered = bool(scope.language or scope.source_prefix or scope.since or scope.until)
        return Reason.ALL_FILTERED if filtered else Reason.NO_DOCUMENTS
    if verdicts[-1] is Verdict.SEARCH_FAILED:
        return Reason.SEARCH_FAILED
    if verdicts[-1] is Verdict.GRADER_FAILED:
        return Reason.GRADER_FAILED
    return Reason.INSUFFICIENT
