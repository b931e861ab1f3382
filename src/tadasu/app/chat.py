"""Which chat model does what: roles to settings, settings to models, each opened on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from tadasu.app.prices import model_price
from tadasu.app.sections.chat import ChatRole, OtherRole, Role
from tadasu.core.writing import ChatMode
from tadasu.providers.registry import load_plugin

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.app.settings import Settings
    from tadasu.ports import ChatModel
    from tadasu.providers.registry import ChatSettings

OTHER_ROLES: tuple[OtherRole, ...] = get_args(OtherRole)


def chat_settings(settings: Settings, role: Role = "answer") -> ChatSettings:
    """The model of `role` with its price in US dollars: its own, else that of the table [prices], else none.

    A role without a table, or whose table leaves something out, is as [chat] says. Where it names another provider,
    address, key, model and whatever else belongs to a provider do not go over; a price goes over with its model only.
    """
    from tadasu.providers.presets import preset_of
    from tadasu.providers.registry import ChatSettings

    chosen = settings.chat
    own = ChatRole() if role == "answer" else settings.chat.roles.get(role, ChatRole())
    provider = own.provider or chosen.provider
    model = own.model or (chosen.model if provider == chosen.provider else "")
    same, alike = provider == chosen.provider, provider == chosen.provider and model == chosen.model
    preset = preset_of(provider)
    key = own.key_variable
    if key is None and same:
        key = chosen.key_variable
    own_price = (own.price_in, own.price_out)
    if own_price == (None, None) and alike:
        own_price = (chosen.price_in, chosen.price_out)
    price_in, price_out = model_price(settings, model, own=own_price)
    return ChatSettings(
        provider=provider or "openai",
        model=model,
        base_url=own.base_url or (chosen.base_url if same else "") or preset.base_url,
        key_variable=preset.key_variable if key is None else key,
        timeout_s=own.timeout_s or chosen.timeout_s,
        price_in=price_in,
        price_out=price_out,
        context_window=own.context_window or (chosen.context_window if alike else None),
        structured=own.structured or (chosen.structured if alike else None),
        project=own.project or (chosen.project if same else ""),
        region=own.region or (chosen.region if same else ""),
    )


class ChatModels:
    """The chat models of a workspace by role. Roles with equal settings share one model and its connections."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._opened: dict[ChatSettings, ChatModel] = {}

    def of(self, role: Role) -> ChatModel | None:
        """The model of `role`; None where neither it nor [chat] names a provider.

        Raises:
            PluginUnknown: nothing of the provider's name is installed.
            ExtraMissing: it is, but a package that it needs is not.
            SettingsInvalid: it cannot be opened with its settings.
        """
        from tadasu.app.scheduling import scheduled_chat
        from tadasu.providers.billing import BilledChat

        if role != "answer" and role not in self._container.settings.chat.roles:
            return self._container.chat
        if not provider_of(self._container.settings, role):
            return None
        if role == "answer" and self._container.settings.chat.mode is ChatMode.SELF_RAG:
            # It only goes on with prompts of its own form: no other part may chat with it.
            return None
        settings = chat_settings(self._container.settings, role)
        if settings not in self._opened:
            billed = BilledChat(load_plugin("tadasu.chat", settings.provider)(settings), settings)
            self._opened[settings] = scheduled_chat(billed, self._container, provider=settings.provider)
        return self._opened[settings]

    async def close(self) -> None:
        """Give back connections."""
        opened, self._opened = self._opened, {}
        for model in opened.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()


def provider_of(settings: Settings, role: Role) -> str:
    """Who serves `role`; empty where nobody does."""
    own = None if role == "answer" else settings.chat.roles.get(role)
    return (own.provider if own is not None else None) or settings.chat.provider
