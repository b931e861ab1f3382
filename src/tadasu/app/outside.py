"""The web, from settings to one search: the providers that are named, one behind the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.prices import search_price
from tadasu.app.settings import Settings, WebProviderSection
from tadasu.errors import SettingsInvalid
from tadasu.providers.registry import load_plugin, plugin_names

if TYPE_CHECKING:
    from tadasu.ports import Clock, WebSearch
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
