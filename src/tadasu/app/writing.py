"""Who words answers and how they are checked, as the workspace's settings choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tadasu.answering.generation.compose import AnswerComposer
    from tadasu.app.container import Container


def open_composer(container: Container) -> AnswerComposer:
    """The chat model with quotations to fall back on, or quotations alone."""
    from tadasu.answering.generation.compose import AnswerComposer, Rules
    from tadasu.answering.generation.rewording import ChatRewording
    from tadasu.app.checking import open_checker
    from tadasu.app.writers import open_writer

    chosen, chat = container.settings.generation, container.chat
    on_conflict = container.settings.abstention.on_conflict
    writer = open_writer(container)
    if writer is None:
        return AnswerComposer(container.extractive, release=chosen.release, on_conflict=on_conflict)
    rewording = None if chat is None else ChatRewording(chat, container.prompts("reword"))
    return AnswerComposer(
        writer,
        fallback=container.extractive,
        checker=open_checker(container),
        rules=Rules(chosen.unsupported, rewording),
        release=chosen.release,
        on_conflict=on_conflict,
    )
