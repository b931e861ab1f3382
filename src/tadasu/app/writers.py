"""Who writes answers by ``chat.mode``: the chat model, the chat model and its second look, or a Self-RAG model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.core.writing import ChatMode
from tadasu.errors import SettingsInvalid

if TYPE_CHECKING:
    from tadasu.answering.generation.self_rag import SelfRagWriter
    from tadasu.app.container import Container
    from tadasu.app.findings import Finding
    from tadasu.ports import AnswerWriter, CompletionModel


def open_writer(container: Container) -> AnswerWriter | None:
    """The writer of the mode; None where no model is configured, so that answers are quotations.

    Raises:
        SettingsInvalid: self_rag without an address of its completion endpoint.
    """
    from tadasu.answering.generation.chat import ChatWriter, ChatWriterSettings

    chosen = container.settings.chat
    if chosen.mode is ChatMode.SELF_RAG:
        return _self_rag(container)
    chat = container.chat
    if chat is None:
        return None
    writer = ChatWriter(
        chat, prompts=container.prompts("answer"), settings=ChatWriterSettings(max_tokens=chosen.max_tokens)
    )
    if chosen.mode is ChatMode.PLAIN:
        return writer
    from tadasu.answering.generation.reflective import ReflectiveWriter

    return ReflectiveWriter(
        writer,
        chat,
        reflect=container.prompts("reflect"),
        revise=container.prompts("revise"),
        max_tokens=chosen.max_tokens,
    )


def open_completion_model(container: Container) -> CompletionModel:
    """The model behind the completion endpoint of [chat], in turns."""
    from tadasu.app.chat import chat_settings
    from tadasu.providers.completions import open_completions
    from tadasu.runtime.scheduling.completions import ScheduledCompletions

    settings = chat_settings(container.settings)
    if not settings.base_url:
        reason = 'is not set, and chat.mode is "self_rag": name the address of its server, such as http://host:8000/v1'
        raise SettingsInvalid(where="tadasu.toml", key="chat.base_url", reason=reason)
    return ScheduledCompletions(open_completions(settings), container.scheduler, provider=settings.provider)


def mode_finding(container: Container) -> Finding:
    """The mode, for `tadasu doctor`."""
    from tadasu.app.findings import ok

    return ok("mode", "Answers are written by the mode {mode}.", mode=container.settings.chat.mode.value)


def _self_rag(container: Container) -> SelfRagWriter | None:
    from tadasu.answering.generation.self_rag import SelfRagSettings, SelfRagWriter

    if not container.settings.chat.provider:
        return None
    return SelfRagWriter(container.completions, settings=SelfRagSettings(max_tokens=container.settings.chat.max_tokens))
