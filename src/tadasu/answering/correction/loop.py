"""The correction loop: retrieve, grade, decide, and change something until it is good or the bounds are reached.

The loop knows its neighbours through ports only. It never raises for what a search, a grader or the web did: failures
become states of the run (SEARCH_FAILED, GRADER_FAILED, BUDGET_SPENT) and the policy decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tadasu.answering.correction.plan import Plan
from tadasu.answering.correction.policy import CorrectionSettings, next_action
from tadasu.answering.correction.query_writer import QueryWriter
from tadasu.answering.correction.research import Merge, Research, Searched
from tadasu.answering.correction.rounds import borders_of, from_the_question, grade_all, recorded
from tadasu.answering.correction.state import Corrected, LoopState
from tadasu.answering.correction.verdicts import verdict_of
from tadasu.core.documents import Scope
from tadasu.core.events import Listener, RoundEnded, ignore
from tadasu.core.grades import Grade, Verdict
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import Action, ActionKind, Round, SearchMode
from tadasu.errors import BudgetSpent, TadasuError
from tadasu.ports import CandidateSearch, Clock, Grader, Ledger, OutsideSearch
from tadasu.runtime.budget import Budget
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import SystemClock

__all__ = ["Corrected", "CorrectionLoop"]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What a round came to: graded candidates, their verdict, and what went wrong where something did."""

    verdict: Verdict
    graded: tuple[tuple[Candidate, Grade], ...] = ()
    error: str = ""
    retrieval: Retrieval = field(default_factory=lambda: Retrieval("", ()))


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
        writer: QueryWriter | None = None,
        merge: Merge | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`writer` makes up other queries (None: rules alone). `merge` makes one retrieval of several: without it a
        round makes one search. `clock` says what "this year" is (None: the machine's clock).
        """
        self._research = Research(search=search, outside=outside, merge=merge)
        self._grader = grader
        self._settings = settings
        self._k = k
        self._writer = writer
        self._clock = clock or SystemClock()

    async def run(
        self,
        query: str,
        *,
        scope: Scope,
        language: str,
        ledger: RunLedger,
        budget: Budget,
        listen: Listener = ignore,
        outgoing: str = "",
    ) -> Corrected:
        """Search for `query` within `scope` until the policy says stop. Always returns.

        The web is asked for `outgoing` instead, where it is given: `query` may hold words that must not leave.
        """
        plan = Plan(
            query,
            outgoing=outgoing,
            k=self._k,
            today=self._clock.now().date(),
            writer=self._writer,
            merges=self._research.merges,
        )
        state = LoopState(query, scope=scope, plan=plan, language=language, settings=self._settings)
        action = Action(ActionKind.SEARCH_AGAIN, "the first search")
        began = ledger.elapsed_ms()
        while action.kind in (ActionKind.SEARCH_AGAIN, ActionKind.SEARCH_WEB):
            probe = state.take(action.kind)
            narrowed = state.holdings.narrow(scope)
            done = await self._attempt(Searched(probe, narrowed), state, budget)
            state.take_in(done.verdict, done.graded, probe.mode)
            ended = ledger.elapsed_ms()
            action = await self._next(done.verdict, state, budget)
            finished = Round(
                number=len(state.rounds) + 1,
                mode=probe.mode,
                query=probe.query,
                changed=state.describe_change(probe, narrowed),
                excluded_passages=len(narrowed.exclude_passages) - len(scope.exclude_passages),
                excluded_documents=len(narrowed.exclude_documents) - len(scope.exclude_documents),
                candidates=tuple(recorded(candidate, grade) for candidate, grade in done.graded),
                verdict=done.verdict,
                rule=self._settings.rule,
                action=action,
                started_ms=began,
                duration_ms=ended - began,
                error=done.error,
                dropped=done.retrieval.dropped,
                queries=probe.queries if len(probe.queries) > 1 else (),
                borders=borders_of(self._grader, query, otherwise=language),
            )
            began = ended
            state.rounds.append(finished)
            listen(RoundEnded(finished))
        return state.concluded(action)

    async def _next(self, verdict: Verdict, state: LoopState, budget: Budget) -> Action:
        """What comes after `verdict`. Whether there is another search is only known once it has been made up."""
        web = self._research.outside is not None
        action = next_action(verdict, state.progress(web=web))
        if action.kind is ActionKind.SEARCH_AGAIN:
            await state.plan.prepare(budget)
            action = next_action(verdict, state.progress(web=web))
        return action

    async def _attempt(self, searched: Searched, state: LoopState, budget: Budget) -> _Attempt:
        """One round's searches and their grades; failures come back as a state and an explanation."""
        retrieval, error = Retrieval(state.query, ()), ""
        mode = searched.probe.mode
        try:
            budget.check(f"search {len(state.rounds) + 1}")
            retrieval, error = await self._research.run(searched, state, budget)
            if state.first is None and mode is not SearchMode.WEB:
                state.first = retrieval
            if not retrieval.candidates:
                return _Attempt(Verdict.NO_DOCUMENTS, error=error, retrieval=retrieval)
            budget.check("grading")
        except BudgetSpent as spent:
            unseen = tuple((one, state.ungraded(one, self._grader.id, str(spent))) for one in retrieval.candidates)
            return _Attempt(Verdict.BUDGET_SPENT, unseen, str(spent), retrieval)
        except TadasuError as problem:
            return _Attempt(Verdict.SEARCH_FAILED, error=str(problem), retrieval=retrieval)
        grades = await self._grade(retrieval, state, budget, mode=mode)
        verdict = verdict_of(grades, rule=self._settings.rule, quality_threshold=self._settings.quality_threshold)
        if verdict is Verdict.GRADER_FAILED:
            error = grades[0].reason
        return _Attempt(verdict, tuple(zip(retrieval.candidates, grades, strict=True)), error, retrieval)

    async def _grade(self, retrieval: Retrieval, state: LoopState, ledger: Ledger, *, mode: SearchMode) -> list[Grade]:
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
