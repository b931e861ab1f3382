"""The one way out of a workspace: its scheduler as the settings say, and what goes through it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tadasu.core.limits import Ration
from tadasu.errors import ExtraMissing, SettingsInvalid
from tadasu.providers.registry import plugin_names
from tadasu.runtime.scheduling.happenings import Listener, ignore
from tadasu.runtime.scheduling.rules import BreakerRules, Rations, RetryRules, Rules
from tadasu.runtime.scheduling.scheduler import CallScheduler
from tadasu.runtime.scheduling.store import LocalLimits
from tadasu.runtime.scheduling.wrappers import ScheduledChat, ScheduledChecker, ScheduledScorer, ScheduledWebSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tadasu.app.container import Container
    from tadasu.app.sections.outside import LimitsSection, ProviderLimits
    from tadasu.app.settings import Settings
    from tadasu.ports import Chance, ChatModel, Clock, LimitStore, PairScorer, SupportModel, WebSearch

_OWN = frozenset({"folder", "llm", "onnx", "scripted", "shipped"})
"""Plugins that call nobody outside, or through another part that waits for its turn: they need none."""
_GROUPS = ("tadasu.chat", "tadasu.checkers", "tadasu.scorers", "tadasu.websearch")
_HASTY = RetryRules(attempts=2, longest_wait_s=2.0)
"""For a search with another one behind it."""


def open_scheduler(settings: Settings, *, clock: Clock, chance: Chance, listen: Listener = ignore) -> CallScheduler:
    """The scheduler of a workspace. No network is touched before the first turn.

    Raises SettingsInvalid or ExtraMissing where the limits are to be shared and cannot be.
    """
    chosen = settings.limits
    _check_names(chosen)
    return CallScheduler(
        rations=rations(chosen),
        store=_store(chosen, clock),
        clock=clock,
        chance=chance,
        rules=Rules(
            RetryRules(chosen.attempts, chosen.backoff_s, chosen.longest_backoff_s, chosen.longest_wait_s),
            BreakerRules(
                faults=chosen.breaker_faults,
                share=chosen.breaker_share,
                pause_s=chosen.breaker_pause_s,
                longest_pause_s=max(chosen.breaker_pause_s, chosen.breaker_longest_pause_s),
            ),
            chosen.ageing_s,
        ),
        listen=listen,
    )


def rations(chosen: LimitsSection) -> Rations:
    """The limits of each provider as the settings say; 0 is no limit there."""
    usual = Ration(chosen.in_flight, chosen.per_second or None, chosen.tokens_per_minute or None)
    return Rations(usual, {name: _ration(own, usual) for name, own in chosen.providers.items()})


def scheduled_chat(chat: ChatModel, container: Container, *, provider: str) -> ChatModel:
    """A chat model of `provider` in turns; itself where it calls nobody outside."""
    return chat if provider in _OWN else ScheduledChat(chat, container.scheduler, provider=provider)


def scheduled_scorer(scorer: PairScorer, container: Container) -> PairScorer:
    """The configured scorer in turns; itself where it calls nobody outside."""
    name = container.settings.grading.scorer
    return scorer if name in _OWN else ScheduledScorer(scorer, container.scheduler, provider=name)


def scheduled_checker(checker: SupportModel, container: Container) -> SupportModel:
    """The configured checker in turns; itself where it calls nobody outside by itself."""
    name = container.settings.checking.model
    return checker if name in _OWN else ScheduledChecker(checker, container.scheduler, provider=name)


def scheduled_web(search: WebSearch, scheduler: CallScheduler, *, last: bool = True) -> WebSearch:
    """`search` in turns; `last` is false where another provider is asked when this one cannot answer soon."""
    return ScheduledWebSearch(search, scheduler, retry=None if last else _HASTY)


def web_in_turns(container: Container) -> Callable[[WebSearch], WebSearch]:
    """What puts each provider of the configured chain in turns; those that call nobody outside stay as they are."""
    chosen = container.settings.web
    names = list(dict.fromkeys((chosen.provider, *chosen.fall_back)))

    def scheduled(search: WebSearch) -> WebSearch:
        if search.id in _OWN:
            return search
        return scheduled_web(search, container.scheduler, last=len(names) == 1 or search.id == names[-1])

    return scheduled


def _check_names(chosen: LimitsSection) -> None:
    """Limits for nobody would be a typing mistake that nobody notices. Hosts of web pages have a dot in their name."""
    known = {name for group in _GROUPS for name in plugin_names(group)} - _OWN
    for name in chosen.providers:
        if name not in known and "." not in name:
            reason = f"is no provider that is called; installed are {', '.join(sorted(known))}"
            raise SettingsInvalid(where="tadasu.toml", key=f"limits.providers.{name}", reason=reason)


def _ration(own: ProviderLimits, usual: Ration) -> Ration:
    return Ration(
        in_flight=usual.in_flight if own.in_flight is None else own.in_flight,
        per_second=usual.per_second if own.per_second is None else own.per_second or None,
        tokens_per_minute=(usual.tokens_per_minute if own.tokens_per_minute is None else own.tokens_per_minute or None),
    )


def _store(chosen: LimitsSection, clock: Clock) -> LimitStore:
    if chosen.engine.value == "memory":
        return LocalLimits(clock)
    try:
        from tadasu.storage.redis_limits import open_limits
    except ModuleNotFoundError as error:
        raise ExtraMissing(feature="limits.engine redis", package="redis", extra="redis") from error
    return open_limits(os.environ.get(chosen.url_variable, ""), variable=chosen.url_variable, clock=clock)
