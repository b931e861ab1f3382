"""The port PageFetch: many pages at once, each within its limits, none at another's cost (DESIGN §3.3)."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from tadasu.core.retrieved import DroppedPage, FetchedPages, WebPage
from tadasu.core.usage import Call, Outcome, Stage
from tadasu.errors import BudgetSpent, ProviderError, ProviderLimited, ProviderUnreachable
from tadasu.ports import Allowance, Clock, Errand, Ledger, Scheduler, Standing
from tadasu.providers.fetching.addresses import Address, AddressPolicy, domain_of
from tadasu.providers.fetching.client import Got, PageClient
from tadasu.providers.fetching.page_cache import KeptPage, PageCache
from tadasu.providers.fetching.refusals import OF_CONTENT, SNIPPET_STANDS_IN, Refused, Why
from tadasu.providers.fetching.robots import Robots
from tadasu.providers.fetching.settings import FetchSettings
from tadasu.providers.fetching.transport import Resolver, Transport
from tadasu.runtime.bounded import Bounded
from tadasu.runtime.single_flight import SingleFlight
from tadasu.text.walls import wall_in_text

_SHOWN = 500
"""Characters of an address that runs keep."""


@dataclass(frozen=True, slots=True)
class _Landed:
    """What came of one address: a page, or why not."""

    result: KeptPage | Refused


class PageFetcher:
    """PageFetch over HTTP.

    Args:
        settings: limits and choices.
        clock: for the cache's and robots' ages.
        scheduler: each fetch takes a turn as provider of its host; None: only `settings.calls` holds.
        cache: pages fetched before; None: every page is fetched anew.
        resolver: who knows the addresses of names; None: the operating system.
        tls: whom to trust; None: whom the operating system trusts.
    """

    def __init__(
        self,
        settings: FetchSettings,
        *,
        clock: Clock,
        scheduler: Scheduler | None = None,
        cache: PageCache | None = None,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings
        self._policy = AddressPolicy(
            ports=frozenset(settings.ports),
            private_hosts=frozenset(settings.private_hosts),
            allow=settings.allow,
            deny=settings.deny,
        )
        self._transport = Transport(
            self._policy, resolver=resolver, connections=2 * settings.calls, tls=tls, proxy=settings.proxy
        )
        self._client = PageClient(settings, self._policy, self._transport, Robots(clock))
        self._scheduler = scheduler
        self._cache = cache
        self._bounded = Bounded(settings.calls)
        self._under_way: Counter[int] = Counter()
        self._flights: SingleFlight[str, _Landed] = SingleFlight()

    async def fetch(self, pages: Sequence[WebPage], *, ledger: Ledger) -> FetchedPages:
        """See `ports.PageFetch`. A page whose snippet stands in for it is in `dropped` too, with the reason."""
        refused: dict[int, Refused] = {}
        addresses: dict[int, Address] = {}
        for place, page in enumerate(pages):
            if page.body is None:
                try:
                    addresses[place] = self._wanted(page.url, addresses)
                except Refused as refusal:
                    refused[place] = refusal
        jobs = {place: partial(self._one, address, ledger) for place, address in addresses.items()}
        outcomes = await self._bounded.run(jobs)
        bodies: dict[int, KeptPage] = {}
        for place, result in outcomes.results.items():
            if isinstance(result, Refused):
                refused[place] = result
            else:
                bodies[place] = result
        spent: BudgetSpent | None = None
        for place, failure in outcomes.failures.items():
            if isinstance(failure, BudgetSpent):
                spent = failure
                refused[place] = Refused(Why.BUDGET, "nothing may be fetched any more")
            else:  # a hostile page found a fault in a library: it costs no other page
                refused[place] = Refused(Why.PROTOCOL, type(failure).__name__)
        if spent is not None and len(outcomes.failures) == len(pages):
            raise spent
        return self._sorted(pages, bodies, refused)

    async def close(self) -> None:
        """Give back connections and the cache's file."""
        await self._transport.close()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    def _wanted(self, url: str, before: Mapping[int, Address]) -> Address:
        address = self._policy.read(url)
        if address in before.values():
            raise Refused(Why.DUPLICATE, "the same address as another result")
        domains = Counter(domain_of(other.host) for other in before.values())
        domain = domain_of(address.host)
        if domains[domain] >= self._settings.per_domain:
            raise Refused(Why.DOMAIN_CAP, f"{self._settings.per_domain} pages of {domain} come before it")
        return address

    def _sorted(
        self, pages: Sequence[WebPage], bodies: Mapping[int, KeptPage], refused: Mapping[int, Refused]
    ) -> FetchedPages:
        usable: list[WebPage] = []
        dropped: list[DroppedPage] = []
        for place, page in enumerate(pages):
            if place in bodies:
                usable.append(replace(page, body=bodies[place].data, media_type=bodies[place].media_type))
            elif place not in refused:
                usable.append(page)
            else:
                why, detail = refused[place].why, refused[place].detail
                if self._stands_in(page, why):
                    usable.append(page)
                    detail = f"{detail}; the snippet of the search is used instead" if detail else "its snippet is used"
                dropped.append(DroppedPage(page.url[:_SHOWN], why.value, detail))
        return FetchedPages(tuple(usable), tuple(dropped))

    def _stands_in(self, page: WebPage, why: Why) -> bool:
        """Whether `page` may be used by its snippet; a snippet can be taken from a wall too."""
        if not (self._settings.use_snippets and why in SNIPPET_STANDS_IN and page.snippet.strip()):
            return False
        return not wall_in_text(page.title, page.snippet)

    async def _one(self, address: Address, ledger: Ledger) -> KeptPage | Refused:
        """The page at `address`, from the cache, from whoever fetches it now, or fetched."""
        key, own = str(address), False

        async def compute(_: Sequence[str]) -> Mapping[str, _Landed]:
            nonlocal own
            if self._cache is not None and (kept := await asyncio.to_thread(self._cache.get, key)):
                return {key: _Landed(kept)}
            own = True
            return {key: await self._fetched(address, ledger)}

        landed = (await self._flights.fetch([key], compute))[key]
        if not own:
            started = ledger.elapsed_ms()
            ledger.record(Call(Stage.FETCH, provider=address.host, started_ms=started, cached=1))
        return landed.result

    async def _fetched(self, address: Address, ledger: Ledger) -> _Landed:
        try:
            async with self._turn(address, ledger):
                got = await self._called(address, ledger)
        except Refused as refused:
            return _Landed(refused)
        except ProviderError as error:
            # Our own refusal, as the scheduler was told of it; or the scheduler leaves this host alone.
            cause = error.__cause__
            return _Landed(cause if isinstance(cause, Refused) else Refused(Why.UNREACHABLE, "it failed too often"))
        if self._cache is not None and got.keep:
            await asyncio.to_thread(self._cache.put, str(address), got.page)
        return _Landed(got.page)

    @asynccontextmanager
    async def _turn(self, address: Address, ledger: Ledger) -> AsyncIterator[None]:
        what = f"fetching a page of {address.host}"
        if self._scheduler is None:
            if isinstance(ledger, Allowance):
                ledger.check(what, under_way=self._under_way[id(ledger)])
            self._under_way[id(ledger)] += 1
            try:
                yield
            finally:
                self._under_way[id(ledger)] -= 1
                self._under_way += Counter()  # forgets those at nothing
            return
        errand = Errand(address.host, Stage.FETCH, what)
        if isinstance(ledger, Standing):
            errand = replace(errand, priority=ledger.priority, tenant=ledger.tenant)
        async with self._scheduler.turn(errand, ledger=ledger):
            try:
                yield
            except Refused as refused:
                told = _told(refused, address.host)
                if told is refused:
                    raise
                raise told from refused

    async def _called(self, address: Address, ledger: Ledger) -> Got:
        """One call, in the ledger however it ends."""
        left = ledger.seconds_left if isinstance(ledger, Allowance) else None
        seconds = self._settings.timeout_s if left is None else min(left, self._settings.timeout_s)
        started, outcome, error = ledger.elapsed_ms(), Outcome.FAILED, ""
        try:
            async with asyncio.timeout(seconds):
                got = await self._client.page(address, ledger=ledger)
            outcome = Outcome.OK
        except TimeoutError:
            error = f"{Why.TIMEOUT.value}: not there within {seconds:.3g} s"
            raise Refused(Why.TIMEOUT, f"not there within {seconds:.3g} s") from None
        except Refused as refused:
            error = str(refused)
            outcome = Outcome.OK if refused.why in OF_CONTENT else Outcome.FAILED
            raise
        except asyncio.CancelledError:
            outcome = Outcome.CANCELLED
            raise
        except Exception as problem:
            error = type(problem).__name__
            raise
        finally:
            ledger.record(
                Call(
                    Stage.FETCH,
                    provider=address.host,
                    started_ms=started,
                    duration_ms=ledger.elapsed_ms() - started,
                    outcome=outcome,
                    error=error,
                )
            )
        return got


def _told(refused: Refused, host: str) -> Exception:
    """`refused` as the scheduler understands it: what says that a host is down or overrun, and what does not."""
    if refused.why in (Why.UNREACHABLE, Why.TIMEOUT) or refused.detail.startswith("HTTP 5"):
        return ProviderUnreachable(provider=host, reason=str(refused))
    if refused.why is Why.LIMITED:
        return ProviderLimited(provider=host, reason=str(refused), retry_after_s=refused.retry_after_s)
    return refused
