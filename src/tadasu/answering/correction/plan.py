"""Which searches of the own documents are made, in which order: each differs from all before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date

from tadasu.answering.correction.parts import may_have_parts, parts_of
from tadasu.answering.correction.query_writer import QueryWriter
from tadasu.answering.correction.relative_time import with_dates
from tadasu.answering.correction.rewrite import anchors_only, own_query, same_query, web_queries
from tadasu.core.runs import SearchMode
from tadasu.runtime.budget import Budget


@dataclass(frozen=True, slots=True)
class Probe:
    """One search to make: its queries, how, how many candidates each at the most, and what differs from those before.

    Several queries are searched for in one round, and what they find is merged.
    """

    queries: tuple[str, ...]
    mode: SearchMode
    k: int
    changed: str = ""

    @property
    def query(self) -> str:
        """All queries in one line."""
        return " · ".join(self.queries)


class Plan:
    """The searches of one question, made up as they are needed: a model is asked only where its queries are wanted.

    First the question as it is. Then, where it asks about several things, a search for each of them; then a chat
    model's rewrites, where one is configured; then rules, in the order of what they brought on public questions: of 32
    passages with the answer that the first search had missed, 14, 11 and 6; the first two together 16.
    """

    def __init__(
        self,
        question: str,
        *,
        k: int,
        today: date,
        writer: QueryWriter | None = None,
        merges: bool = True,
        outgoing: str = "",
    ) -> None:
        """`merges` says whether a round may make several searches; `k` is the number of candidates of the first.

        Queries for the web are made of `outgoing`, of `question` where that is empty.
        """
        self._question = question
        self._k = k
        self._today = today
        self._writer = writer
        self._merges = merges
        self._queue = deque([Probe((question,), SearchMode.HYBRID, k)])
        self._web = deque(web_queries(outgoing or question, today=today))
        self._made = {(same_query(question), SearchMode.HYBRID)}
        self._tried = [question]
        self._note = ""
        self._sources: deque[Callable[[Budget], Awaitable[None]]] = deque(
            (self._by_parts, self._by_model, self._by_rules)
        )

    @property
    def left(self) -> bool:
        """Whether there may be another search; certain after `prepare`."""
        return bool(self._queue or self._sources)

    @property
    def web_left(self) -> bool:
        """Whether there is a query that the web was not asked yet."""
        return bool(self._web)

    async def prepare(self, budget: Budget) -> None:
        """Find the next search, if there is one; a chat model is called here, within `budget`. Never raises."""
        while not self._queue and self._sources:
            await self._sources.popleft()(budget)

    def take(self) -> Probe:
        """The next search. Only after `prepare`, and while `left`."""
        probe = self._queue.popleft()
        if self._note:
            probe = replace(probe, changed=f"{probe.changed}; {self._note}")
            self._note = ""
        return probe

    def take_web(self, *, results: int) -> Probe:
        """The next search of the web. Only while `web_left`."""
        return Probe((self._web.popleft(),), SearchMode.WEB, results, "the web instead of our documents")

    def _add(self, queries: Iterable[str], mode: SearchMode, changed: str, *, at_least: int = 1) -> None:
        """Queue a search for those of `queries` that were not made in `mode` yet, were there `at_least` so many."""
        fresh = {key: query for query in queries if (key := same_query(query)) and (key, mode) not in self._made}
        if len(fresh) < at_least:
            return
        chosen = tuple(fresh.values()) if self._merges else tuple(fresh.values())[:1]
        self._made |= {(same_query(query), mode) for query in chosen}
        self._tried += [query for query in chosen if query not in self._tried]
        # As many candidates in all as one wide search brings.
        self._queue.append(Probe(chosen, mode, -(-2 * self._k // len(chosen)), changed))

    async def _by_parts(self, budget: Budget) -> None:
        if not (self._merges and may_have_parts(self._question)):
            return
        parts: Iterable[str] = ()
        if self._writer is not None:
            written = await self._writer.parts(self._question, self._tried, today=self._today, budget=budget)
            self._refused(written.refused)
            parts = written.queries
        parts = parts or parts_of(self._question)
        self._add(parts, SearchMode.HYBRID, "one search for each thing that the question asks about", at_least=2)

    async def _by_model(self, budget: Budget) -> None:
        if self._writer is None:
            return
        written = await self._writer.rewrites(self._question, self._tried, today=self._today, budget=budget)
        self._refused(written.refused if not written.queries else "")
        self._add(written.queries, SearchMode.HYBRID, "other wordings, written by the chat model")

    def _refused(self, reason: str) -> None:
        if reason:
            self._note = f"the chat model's queries were not used; {reason}"

    async def _by_rules(self, budget: Budget) -> None:
        del budget
        keywords = own_query(self._question, today=self._today)
        named = anchors_only(with_dates(self._question, today=self._today))
        self._add((keywords,), SearchMode.DENSE, "the keywords of the question, by meaning alone")
        self._add((keywords,), SearchMode.HYBRID, "only the keywords of the question, twice as many candidates")
        self._add((named,), SearchMode.LEXICAL, "only names, numbers and terms, by keywords alone")
