"""Models that read, as the workspace's settings choose them: the heads over the grader's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.ports import SpanReader


def open_span_reader(container: Container) -> SpanReader:
    """Where in a text an answer stands, by the shipped grader's own reading. Loaded at the first use."""
    from tadasu.providers.heads import open_span_head

    return open_span_head(models_folder() / "grader", threads=container.settings.scorer.threads)
