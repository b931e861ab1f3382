"""Models that read, as the workspace's settings choose them: the heads over the grader's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder

if TYPE_CHECKING:
    from tadasu.answering.generation.checking import SentenceChecker
    from tadasu.app.container import Container
    from tadasu.ports import SpanReader, SupportModel


def open_span_reader(container: Container) -> SpanReader:
    """Where in a text an answer stands, by the shipped grader's own reading. Loaded at the first use."""
    from tadasu.providers.heads import open_span_head

    return open_span_head(models_folder() / "grader", threads=container.settings.scorer.threads)


def open_support_model(container: Container) -> SupportModel:
    """Whether a source supports a sentence, by the shipped support head. Loaded at the first use."""
    from tadasu.providers.support import open_support_head

    return open_support_head(models_folder() / "grader", threads=container.settings.scorer.threads)


def open_checker(container: Container) -> SentenceChecker:
    """What says whether a sentence of an answer holds: rules, and the support head unless the settings leave it out."""
    from tadasu.answering.generation.checking import CheckingSettings, SentenceChecker
    from tadasu.app.sections.answering import CheckingModel

    chosen = container.settings.checking
    model = container.support_model if chosen.model is CheckingModel.SHIPPED else None
    return SentenceChecker(model, settings=CheckingSettings(doubt=chosen.doubt, trust=chosen.trust))
