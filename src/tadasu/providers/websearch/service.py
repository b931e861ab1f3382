"""What web searches behind an address have in common: one request, one reading, one line of the ledger."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Call, Charge, Outcome, Pricing, Stage
from tadasu.errors import ProviderAnswerInvalid, ProviderError, ProviderLimited, ProviderRefused, TadasuError
from tadasu.ports import Allowance, Ledger, Purse, WebSearchSettings
from tadasu.providers.http import BEARER, JsonService, KeyForm
from tadasu.providers.prices import is_local
from tadasu.providers.websearch.reading import Row, speaks_of_limits, unique
from tadasu.runtime.budget import spending

MOST_BYTES = 4 * 2**20
_MAY_BE_LIMITS = frozenset({402, 403, 432, 433})
"""Refusals that some services give where a quota is spent: told apart by their words."""


class Method(enum.Enum):
    """How a service is asked."""

    GET = "get"
    POST = "post"


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: the words exactly as they were handed in, how many pages, in which language (``en``, ``ja``)."""

    words: str
    limit: int
    language: str


Reading: TypeAlias = tuple[Sequence[Row], Callable[[Row], WebPage | None]]
"""The rows of a reply, best first, and what makes a page of one."""


@dataclass(frozen=True, slots=True)
class SearchApi:
    """How one provider is asked and what its replies mean.

    `address` is its own, where it has one, and `path` what follows a `base_url` that does not end so. `most` is how
    many pages one request may ask for. `ask` gives the parameters (GET) or the body (POST); a parameter that is empty
    is not sent. `read` takes a parsed reply; it raises a ProviderError where that is none.
    """

    name: str
    address: str
    path: str
    key_variable: str
    ask: Callable[[Query, WebSearchSettings], Mapping[str, object]]
    read: Callable[[object], Reading]
    most: int
    method: Method = Method.GET
    advice: Mapping[int, str] = field(default_factory=dict)
    """What else to say of a refusal, by its HTTP status."""
    key_form: KeyForm = BEARER


class ApiSearch:
    """A WebSearch over one HTTP service. No network is touched before the first search.

    Raises:
        SettingsInvalid: the address cannot be one.
    """

    def __init__(self, api: SearchApi, settings: WebSearchSettings) -> None:
        url = _with_path(settings.base_url.strip() or api.address, api.path)
        self._api = api
        self._settings = settings
        self._http = JsonService(
            url,
            key_variable=settings.key_variable or api.key_variable,
            setting=f"web.{api.name}.key_variable",
            most_bytes=MOST_BYTES,
            key_form=api.key_form,
        )
        self._local = is_local(url)

    @property
    def id(self) -> str:
        """The provider's name."""
        return self._api.name

    @property
    def missing_key(self) -> str:
        """The environment variable that has to hold its key and does not; empty where nothing is missing."""
        return self._http.missing_key

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        """At most `limit` pages, best first; tried once more where the connection was closed before an answer.

        Every attempt is written into `ledger`. Raises KeyMissing, a ProviderError, and BudgetSpent before a call that
        the run's limits do not allow. A limit is raised at once: waiting is the scheduler's and the chain's.
        """
        asked = Query(query, limit=max(1, min(limit, self._api.most)), language=language)
        charge = Charge(f"a search by {self._api.name}", usd=self._price(1)[1], provider=self._api.name)
        for attempt in (1, 2):
            if isinstance(ledger, Allowance) and not isinstance(ledger, Purse):
                ledger.check(charge.what, usd=charge.usd or 0.0)
            async with spending(ledger, charge) as held:
                try:
                    return (await self._recorded(asked, attempt, held))[:limit]
                except ProviderError as error:
                    if attempt == 2 or not error.details.get("dropped"):
                        raise
        raise AssertionError("the second attempt returns or raises")

    async def close(self) -> None:
        """Give back connections."""
        await self._http.close()

    async def _recorded(self, asked: Query, attempt: int, ledger: Ledger) -> list[WebPage]:
        patience = self._patience(ledger)
        started_ms, began = ledger.elapsed_ms(), time.perf_counter()
        outcome, told, billable = Outcome.CANCELLED, "", True
        try:
            pages = await self._attempt(asked, patience)
            outcome = Outcome.OK
        except TadasuError as error:
            outcome, told = Outcome.FAILED, f"{error.code}: {error}"
            billable = bool(error.details.get("billable", not isinstance(error, ProviderLimited)))
            raise
        finally:
            pricing, cost = self._price(1 if billable else 0)
            ledger.record(
                Call(
                    stage=Stage.SEARCH,
                    provider=self._api.name,
                    model=self._settings.engine,
                    started_ms=started_ms,
                    duration_ms=(time.perf_counter() - began) * 1000,
                    pricing=pricing,
                    cost_usd=cost,
                    outcome=outcome,
                    attempt=attempt,
                    error=told,
                )
            )
        return pages

    async def _attempt(self, asked: Query, patience: float) -> list[WebPage]:
        told = self._api.ask(asked, self._settings)
        try:
            if self._api.method is Method.POST:
                reply = await self._http.post(told, timeout_s=patience)
            else:
                reply = await self._http.get({name: str(value) for name, value in told.items()}, timeout_s=patience)
        except ProviderError as error:
            if _is_limit(error):
                raise _retold(error, ProviderLimited, billable=False) from error
            advice = self._api.advice.get(_status(error))
            if advice is None:
                raise
            raise _retold(error, type(error), reason=f"{_reason(error)}; {advice}") from error
        try:
            rows, to_page = self._api.read(reply)
            pages = unique(map(to_page, rows), limit=asked.limit, rows=len(rows), provider=self._http.name)
        except ProviderError as error:
            # Its words are the service's, which may repeat our request.
            raise _retold(error, type(error), reason=self._http.without_key(_reason(error))) from None
        return pages

    def _patience(self, ledger: Ledger) -> float:
        """Seconds for the next call: as set, and not beyond the run's deadline."""
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        return self._settings.timeout_s if left is None else min(self._settings.timeout_s, left)

    def _price(self, searches: int) -> tuple[Pricing, float | None]:
        if self._settings.price is not None:
            return Pricing.PRICED, self._settings.price * searches / 1000
        return (Pricing.LOCAL, 0.0) if self._local else (Pricing.UNPRICED, None)


def _is_limit(error: ProviderError) -> bool:
    """Whether `error` is a limit in another garb: an accepted request without results, a refusal for a spent quota."""
    status = _status(error)
    if isinstance(error, ProviderAnswerInvalid):
        return status == 202
    return isinstance(error, ProviderRefused) and status in _MAY_BE_LIMITS and speaks_of_limits(_reason(error))


def _status(error: ProviderError) -> int:
    status = error.details.get("status")
    return status if isinstance(status, int) else 0


def _retold(error: ProviderError, kind: type[ProviderError], **details: object) -> ProviderError:
    return kind(**error.details | details)


def _reason(error: ProviderError) -> str:
    return str(error.details.get("reason", ""))


def _with_path(address: str, path: str) -> str:
    """`address` with as much of `path` behind it as it does not end with already.

    >>> _with_path("https://a.example/", "/v1/search"), _with_path("https://a.example/v1", "/v1/search")
    ('https://a.example/v1/search', 'https://a.example/v1/search')
    """
    base, mark, query = address.partition("?")
    base = base.rstrip("/")
    parts = path.strip("/").split("/") if path and base else []
    held = next((n for n in range(len(parts), 0, -1) if base.endswith("/" + "/".join(parts[:n]))), 0)
    return "/".join([base, *parts[held:]]) + mark + query
