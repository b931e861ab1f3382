"""The web, from settings to one search: the providers that are named, one behind the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.prices import search_price
from tadasu.app.sections.outside import WebProviderSection
from tadasu.app.settings import Settings
from tadasu.errors import SettingsInvalid
from tadasu.providers.registry import load_plugin, plugin_names

if TYPE_CHECKING:
    from tadasu.ports import Clock, Scheduler, WebSearch
    from tadasu.providers.fetching.fetcher import PageFetcher
    from tadasu.providers.websearch.chain import SearchChain

_GROUP = "tadasu.websearch"


def open_web(
    settings: Settings, *, root: Path, clock: Clock, scheduled: Callable[[WebSearch], WebSearch] | None = None
) -> SearchChain | None:
    """The web as the settings say; None where it is off. No network is touched before the first search.

    Args:
        settings: all of them.
        root: what a relative folder is relative to.
        clock: measures how long a provider wants to be left alone.
        scheduled: puts a provider behind the scheduler; None: it is asked at once.

    Raises:
        PluginUnknown: nothing of a name in web.provider or web.fall_back is installed.
        SettingsInvalid: a provider cannot be opened with its settings, or a table is named after no provider.
    """
    chosen = settings.web
    if not chosen.provider:
        return None
    _check_tables(settings)
    from tadasu.providers.websearch.chain import SearchChain

    names = dict.fromkeys((chosen.provider, *chosen.fall_back))
    opened = [_opened(name, settings, root) for name in names]
    return SearchChain(opened if scheduled is None else list(map(scheduled, opened)), clock=clock)


def open_fetch(
    settings: Settings, *, cache_file: Path, clock: Clock, scheduler: Scheduler | None = None
) -> PageFetcher | None:
    """Who gets the pages that the web search finds; None where none are fetched.

    Args:
        settings: all of them.
        cache_file: where pages are kept between runs.
        clock: measures how old they are.
        scheduler: each fetch takes a turn there; None: only fetch.calls holds.
    """
    chosen = settings.fetch
    # The folder's pages come with their bodies.
    if not chosen.enabled or {settings.web.provider, *settings.web.fall_back} <= {"folder"}:
        return None
    from tadasu.providers.fetching.fetcher import PageFetcher
    from tadasu.providers.fetching.page_cache import PageCache
    from tadasu.providers.fetching.settings import FetchSettings

    own = {name: getattr(chosen, name) for name in FetchSettings.__dataclass_fields__}
    cache = PageCache(cache_file, clock=clock, max_mb=chosen.cache_mb, days=chosen.cache_days)
    return PageFetcher(
        FetchSettings(**own), clock=clock, scheduler=scheduler, cache=cache if chosen.cache_days else None
    )


def _opened(name: str, settings: Settings, root: Path) -> WebSearch:
    from tadasu.ports import WebSearchSettings

    own = settings.web.tables.get(name, WebProviderSection())
    open_search = load_plugin(_GROUP, name)
    provider: WebSearch = open_search(
        WebSearchSettings(
            folder=root / Path(settings.web.folder).expanduser() if settings.web.folder else None,
            base_url=own.base_url,
            key_variable=own.key_variable,
            engine=own.engine,
            timeout_s=own.timeout_s,
            price=search_price(settings, name, own.price),
        )
    )
    return provider


def _check_tables(settings: Settings) -> None:
    """A table for nobody would be a typing mistake that nobody notices."""
    known = plugin_names(_GROUP)
    for name in settings.web.tables:
        if name not in known:
            reason = f"is the table of no web search provider; installed are {', '.join(known)}"
            raise SettingsInvalid(where="tadasu.toml", key=f"web.{name}", reason=reason)
