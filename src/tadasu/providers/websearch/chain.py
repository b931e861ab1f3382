"""Several web searches, one behind the other: who fails, is limited or finds nothing makes room for the next."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tadasu.core.retrieved import WebPage
from tadasu.errors import BudgetSpent, ProviderLimited, SearchFailed, TadasuError
from tadasu.ports import Clock, Ledger, WebSearch
from tadasu.providers.websearch.reading import usable_address

REST_S = 10.0
"""Seconds in which a provider that said "too many" without saying how long is not asked."""
LONGEST_REST_S = 86_400.0
"""A day: a provider that asks for more is tried again then, for it may have meant something else."""


class SearchChain:
    """WebSearch over `providers`, asked in order until one of them finds pages.

    A provider that named a wait (429 or 503 with Retry-After) is not asked before it is over, by `clock`; others are.
    Every attempt is in the ledger, written by the provider that made it.
    """

    id = "web"

    def __init__(self, providers: Sequence[WebSearch], *, clock: Clock) -> None:
        if not providers:
            raise ValueError("a chain has at least one provider")
        self._providers = tuple(providers)
        self._clock = clock
        self._rests: dict[str, float] = {}

    @property
    def providers(self) -> tuple[WebSearch, ...]:
        """Who is asked, in order."""
        return self._providers

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """At most `limit` pages of the first provider that finds any; none where one of them found nothing.

        Raises:
            SearchFailed: every provider failed or is resting; its reason names each with what it said.
            BudgetSpent: the run's limits do not allow the next attempt.
        """
        told: list[str] = []
        last: Exception | None = None
        answered = False
        for provider in self._providers:
            left = self._rests.get(provider.id, 0.0) - self._clock.elapsed()
            if left > 0:
                told.append(f"{provider.id}: it asked not to be called for another {math.ceil(left)} s")
                continue
            try:
                found = await provider.search(query, limit=limit, language=language, ledger=ledger)
                pages = _pages(found)
            except BudgetSpent:
                raise
            except TadasuError as error:
                self._note_rest(provider.id, error)
                told.append(f"{provider.id}: {error.details.get('reason') or error}")
                last = error
            except Exception as error:  # noqa: BLE001 - a provider is a plugin: whatever it raises, the next one may answer
                told.append(f"{provider.id}: {type(error).__name__}: {_without_queries(str(error))}")
                last = error
            else:
                if pages:
                    return pages[:limit]
                answered = True
        if answered:
            return []
        raise SearchFailed(where=self.id, reason="; ".join(told)) from last

    async def close(self) -> None:
        """Give back connections."""
        for provider in self._providers:
            close = getattr(provider, "close", None)
            if close is not None:
                await close()

    def _note_rest(self, name: str, error: TadasuError) -> None:
        wait = error.details.get("retry_after_s")
        if not isinstance(wait, (int, float)):
            wait = REST_S if isinstance(error, ProviderLimited) else 0.0
        self._rests[name] = self._clock.elapsed() + min(float(wait), LONGEST_REST_S)


def _pages(found: object) -> list[WebPage]:
    """`found`, those with a web address; raises TypeError where a plugin returned anything but pages."""
    if not isinstance(found, Sequence) or isinstance(found, (str, bytes)):
        raise TypeError(f"{type(found).__name__} instead of a list of pages")
    if not all(isinstance(page, WebPage) for page in found):
        other = next(type(page).__name__ for page in found if not isinstance(page, WebPage))
        raise TypeError(f"a list with {other} instead of pages")
    return [page for page in found if usable_address(page.url)]


def _without_queries(text: str) -> str:
    """The words of a plugin's error, for addresses in them may hold its key behind the question mark."""
    return re.sub(r"\?\S*=\S*", "?…", text)[:200]
