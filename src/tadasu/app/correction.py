"""The correction loop, put together: bounds, the writer of queries, merging of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tadasu.answering.correction.loop import CorrectionLoop
    from tadasu.answering.correction.policy import CorrectionSettings
    from tadasu.answering.correction.query_writer import QueryWriter
    from tadasu.app.container import Container
    from tadasu.app.settings import Settings

_OF_THE_WRITER = frozenset(("rewrite", "rewrite_seconds"))


def correction_settings(settings: Settings) -> CorrectionSettings:
    """Bounds and choices of the loop, from the tables ``[correction]`` and ``[web]``."""
    from tadasu.answering.correction.policy import CorrectionSettings

    chosen = {key: value for key, value in settings.correction if key not in _OF_THE_WRITER}
    return CorrectionSettings(**chosen, web_results=settings.web.results)


def query_writer(container: Container) -> QueryWriter | None:
    """The chat model as a writer of queries; None where none is configured, or the settings keep it out of this."""
    chosen = container.settings.correction
    chat = container.chats.of("rewrite")
    if chat is None or not chosen.rewrite:
        return None
    from tadasu.answering.correction.query_writer import ChatQueryWriter
    from tadasu.prompts.registry import LANGUAGES, load

    return ChatQueryWriter(
        chat,
        rewrite={language: load("rewrite", language) for language in LANGUAGES},
        decompose={language: load("decompose", language) for language in LANGUAGES},
        seconds=chosen.rewrite_seconds,
    )


def correction_loop(container: Container) -> CorrectionLoop:
    """The loop over the container's search, grader and web."""
    from tadasu.answering.correction.loop import CorrectionLoop
    from tadasu.answering.retrieval.transient import merge_retrievals

    return CorrectionLoop(
        search=container.search,
        grader=container.grader,
        outside=container.outside,
        settings=correction_settings(container.settings),
        k=container.settings.retrieval.k,
        writer=query_writer(container),
        merge=merge_retrievals,
        clock=container.clock,
    )
