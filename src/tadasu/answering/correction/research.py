"""The searches of one round: within the time that is left, without what is ruled out, each passage once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tadasu.answering.correction.deadline import BrokeOff, OutOfTime, within
from tadasu.answering.correction.plan import Probe
from tadasu.answering.correction.state import LoopState
from tadasu.core.documents import Scope
from tadasu.core.retrieved import Candidate, Retrieval
from tadasu.core.runs import SearchMode
from tadasu.errors import BudgetSpent, SearchFailed, TadasuError
from tadasu.ports import CandidateSearch, OutsideSearch
from tadasu.runtime.budget import Budget

Merge: TypeAlias = Callable[[Sequence[Retrieval]], Retrieval]
"""Makes one retrieval of those of several queries: each passage once, with every query that found it."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A search to make, and what it may see: the reader's scope without what was graded LOW."""

    probe: Probe
    scope: Scope


class Research:
    """Makes the searches of a round, in our documents or on the web."""

    def __init__(self, *, search: CandidateSearch, outside: OutsideSearch | None, merge: Merge | None) -> None:
        self._search = search
        self._merge = merge
        self.outside = outside

    @property
    def merges(self) -> bool:
        """Whether a round may make several searches."""
        return self._merge is not None

    async def run(self, searched: Searched, state: LoopState, budget: Budget) -> tuple[Retrieval, str]:
        """What the round found, and which of its searches failed where others did not.

        Raises BudgetSpent where there was no result in time; where all of them failed, what the first raised, as
        SearchFailed if it has no name of its own.
        """
        what = f"search {len(state.rounds) + 1}"
        try:
            found, error = await within(budget.seconds_left, self._made(searched, state, budget, what))
        except OutOfTime as problem:
            raise BudgetSpent(what=f"the time of the run was over during {what} ({problem})") from problem
        except BrokeOff as problem:
            raise SearchFailed(where=searched.probe.mode.value, reason="it broke off its own work") from problem
        except TadasuError:
            raise
        except Exception as problem:
            # Stores and web searches are plugins: their bugs must not lose a run.
            reason = f"{type(problem).__name__}: {problem}"
            raise SearchFailed(where=searched.probe.mode.value, reason=reason) from problem
        return replace(found, candidates=_allowed(found.candidates, searched.scope)), error

    async def _made(self, searched: Searched, state: LoopState, budget: Budget, what: str) -> tuple[Retrieval, str]:
        probe, scope = searched.probe, searched.scope
        if probe.mode is SearchMode.WEB:
            assert self.outside is not None, "the policy asks for the web only where there is one"
            inside = state.first or Retrieval(query=state.query, candidates=())
            found = await self.outside.search(
                probe.query, inside=inside, limit=probe.k, language=state.language, ledger=budget
            )
            return _a_retrieval(found), ""
        if self._merge is None or len(probe.queries) == 1:
            return await self._one(probe.queries[0], probe, scope, budget), ""
        several = (self._checked(place, probe, scope, budget, what) for place in range(len(probe.queries)))
        each = await asyncio.gather(*several, return_exceptions=True)
        failed = [one for one in each if isinstance(one, BaseException)]
        good = [one for one in each if isinstance(one, Retrieval)]
        if not good:
            raise failed[0]
        error = f"{len(failed)} of {len(each)} searches failed: {failed[0]}" if failed else ""
        return self._merge(good), error

    async def _checked(self, place: int, probe: Probe, scope: Scope, budget: Budget, what: str) -> Retrieval:
        if place:
            budget.check(what, under_way=place)
        return await self._one(probe.queries[place], probe, scope, budget)

    async def _one(self, query: str, probe: Probe, scope: Scope, budget: Budget) -> Retrieval:
        return _a_retrieval(await self._search.search(query, k=probe.k, scope=scope, mode=probe.mode, ledger=budget))


def _a_retrieval(found: object) -> Retrieval:
    if not isinstance(found, Retrieval):
        raise TypeError(f"{type(found).__name__} instead of a retrieval")
    return found


def _allowed(candidates: Sequence[Candidate], scope: Scope) -> tuple[Candidate, ...]:
    """Each passage once, at its best place, and none that is ruled out: a web search knows nothing of that."""
    distinct: dict[str, Candidate] = {}
    for candidate in candidates:
        passage = candidate.passage
        if passage.id not in scope.exclude_passages and passage.document_id not in scope.exclude_documents:
            distinct.setdefault(passage.id, candidate)
    return tuple(distinct.values())
