"""What `tadasu doctor` says of the chat models by role: who it is, its window, its price, its key, its address."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tadasu.app.chat import OTHER_ROLES, chat_settings, provider_of
from tadasu.app.findings import Finding, Health, broken, failure, ok, warning
from tadasu.app.writers import mode_finding
from tadasu.core.usage import Pricing, Tokens
from tadasu.errors import KeyMissing, TadasuError
from tadasu.providers.registry import load_plugin

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.sections.chat import Role
    from tadasu.app.settings import Settings
    from tadasu.providers.registry import ChatSettings

_NAMELESS = frozenset({"scripted"})
_WITH_ACCOUNTS = frozenset({"bedrock", "vertex"})
"""They sign in as an account, which may be the machine's own."""
_LIST_MODELS = frozenset({"openai", "deepseek", "holysheep", "llamacpp", "anthropic", "gemini"})
_THOUSAND = 1000
"""Tokens of a call whose price is told a thousandfold: some models cost more where a call is very long."""


async def chat_findings(container: Container, *, network: bool) -> list[Finding]:
    """The findings of every role that has a model of its own; nobody is asked for an answer, which would cost money."""
    settings = container.settings
    if not settings.chat.provider and not settings.chat.roles:
        return [ok("chat", "No chat model: answers are quotations.")]
    found: list[Finding] = []
    if settings.chat.provider:
        found.append(mode_finding(container))
        found += await _role(container, "answer", network=network)
    else:
        found.append(ok("chat", "No chat model words answers: they are quotations."))
    told = {chat_settings(settings)}
    for role in OTHER_ROLES:
        if role in settings.chat.roles and provider_of(settings, role):
            # What was said of a model once need not be said again; who it is, is.
            of_role = await _role(container, role, network=network)
            found += of_role[:1] if chat_settings(settings, role) in told else of_role
            told.add(chat_settings(settings, role))
    return found


async def _role(container: Container, role: Role, *, network: bool) -> list[Finding]:
    settings = chat_settings(container.settings, role)
    before = "" if role == "answer" else f"{role}."
    table = "chat" if role == "answer" else f"chat.roles.{role}"
    if not settings.model and settings.provider not in _NAMELESS:
        text, advice = "No chat model is named for {provider}.", "Set {setting} in tadasu.toml."
        details = {"provider": settings.provider, "setting": f"{table}.model"}
        return [Finding(f"{before}chat", Health.ERROR, text, advice, details)]
    try:
        model = load_plugin("tadasu.chat", settings.provider)(settings)
    except TadasuError as problem:
        return [failure(f"{before}chat", problem)]
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return [broken(f"{before}chat", problem)]
    name = getattr(model, "id", settings.model)
    if role == "answer":
        found = [ok("chat", "The chat model is {name}.", name=name)]
    else:
        found = [ok(f"{before}chat", "For the role {role} the chat model is {name}.", role=role, name=name)]
    if settings.provider in _NAMELESS:
        return found
    found.append(await _guarded(f"{before}window", lambda: _window(model, settings, table=table, network=network)))
    found.append(_price(container.settings, settings, check=f"{before}price"))
    key = _key(model, settings, check=f"{before}key", table=table)
    if key is not None:
        found.append(key)
    if network and settings.provider in _LIST_MODELS and (key is None or key.health is Health.OK):
        found.append(await _guarded(f"{before}reachable", lambda: _reachable(settings, check=f"{before}reachable")))
    close = getattr(model, "close", None)
    if close is not None:
        await close()
    return found


async def _guarded(check: str, look: Callable[[], Awaitable[Finding]]) -> Finding:
    try:
        return await look()
    except TadasuError as problem:
        return failure(check, problem)
    except Exception as problem:  # noqa: BLE001 - a part may be anybody's plugin, and the other checks still count
        return broken(check, problem)


async def _window(model: Any, settings: ChatSettings, *, table: str, network: bool) -> Finding:
    from tadasu.providers.prices import window_of

    check = "window" if table == "chat" else f"{table.rpartition('.')[2]}.window"
    ask = getattr(model, "window", None)
    size = await ask() if ask is not None and network else window_of(settings)
    if size is None:
        text = "How many tokens fit one call is not known: what is too long is found out by sending it ({setting})."
        return ok(check, text, setting=f"{table}.context_window")
    return ok(check, "{tokens} tokens fit one call with its reply.", tokens=f"{size:,}")


def _price(all_settings: Settings, settings: ChatSettings, *, check: str) -> Finding:
    from tadasu.app.prices import money_of
    from tadasu.providers.prices import price_of

    money = money_of(all_settings)
    taken, given = price_of(Tokens(_THOUSAND, 0), settings), price_of(Tokens(0, _THOUSAND), settings)
    if taken.pricing is Pricing.LOCAL:
        return ok(check, "It runs on this machine and costs nothing.")
    if taken.usd is None or given.usd is None:
        text = "No price is known of {name}: its calls are said to be unpriced."
        advice = "Give its price in tadasu.toml under [prices]."
        return warning(check, text, advice, name=settings.model)
    text = "A million tokens cost {taken} in and {given} out."
    return ok(check, text, taken=money.shown(taken.usd * _THOUSAND), given=money.shown(given.usd * _THOUSAND))


def _key(model: Any, settings: ChatSettings, *, check: str, table: str) -> Finding | None:
    """Whether the environment holds the key, never which; None where none is wanted."""
    missing = getattr(model, "missing_key", "")
    if missing and settings.provider in _WITH_ACCOUNTS:
        text = "The environment names no account (such as in {variable}): that of this machine is used, if it has one."
        return ok(check, text, variable=missing)
    if missing:
        return failure(check, KeyMissing(provider=settings.provider, variable=missing, setting=f"{table}.key_variable"))
    if settings.provider in _WITH_ACCOUNTS:
        return ok(check, "The environment names an account.")
    if not settings.key_variable or not os.environ.get(settings.key_variable, "").strip():
        return None
    return ok(check, "The key in {variable} is set.", variable=settings.key_variable)


async def _reachable(settings: ChatSettings, *, check: str) -> Finding:
    import asyncio
    from dataclasses import replace

    from tadasu.app.reachability import ask_for_models

    key = os.environ.get(settings.key_variable, "").strip() if settings.key_variable else ""
    finding = await asyncio.to_thread(
        ask_for_models, settings.base_url, settings.model, key, provider=settings.provider
    )
    return replace(finding, check=check)
