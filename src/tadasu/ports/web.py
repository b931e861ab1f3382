"""The web: who searches it, and who gets its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tadasu.core.retrieved import FetchedPages, Retrieval, WebPage
from tadasu.ports.calls import Ledger

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class WebSearchSettings:
    """What a web search plugin (group ``tadasu.websearch``, ``open_search(settings) -> WebSearch``) is opened with.

    Each reads what it needs. `base_url` is empty for the provider's own address; `key_variable` names the environment
    variable that holds the key, read when the first call is made. `engine` is an id that some providers want beside the
    key (Google's ``cx``). `price` is in US dollars per thousand searches; None: unpriced.
    """

    folder: Path | None = None
    base_url: str = ""
    key_variable: str = ""
    engine: str = ""
    timeout_s: float = 10.0
    price: float | None = None


class WebSearch(Protocol):
    """One provider of web pages. Queries derive from the question only, never from passages."""

    @property
    def id(self) -> str:
        """Provider's name."""
        ...

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """At most `limit` pages, best first; raises SearchFailed or a ProviderError."""
        ...


class PageFetch(Protocol):
    """Gets the pages that a search named. The web is hostile: see DESIGN §3.3 for what it has to withstand."""

    async def fetch(self, pages: Sequence[WebPage], *, ledger: Ledger) -> FetchedPages:
        """`pages` with their bodies, in order; pages that have one are left alone, unusable ones are in `dropped`.

        Never raises for what a page or its server did; one slow or broken page costs no other. Raises BudgetSpent where
        nothing may be fetched any more.
        """
        ...


class OutsideSearch(Protocol):
    """The web as the correction loop sees it: pages found, read, split and ranked like passages of our own."""

    async def search(self, query: str, *, inside: Retrieval, limit: int, language: str, ledger: Ledger) -> Retrieval:
        """Candidates from at most `limit` pages; `inside` lends the question's vector and term weights.

        Raises SearchFailed or a ProviderError.
        """
        ...
