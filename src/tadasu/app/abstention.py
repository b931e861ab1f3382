"""The writer that quotes, and abstains where that would not answer, as the settings choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.answering.generation.extractive import ExtractiveSettings, ExtractiveWriter

if TYPE_CHECKING:
    from tadasu.app.container import Container


def open_extractive(container: Container) -> ExtractiveWriter:
    """With the span reader of the shipped grader, unless the settings leave it out."""
    chosen = container.settings.abstention
    reader = container.span_reader if chosen.read else None
    return ExtractiveWriter(ExtractiveSettings(threshold=chosen.threshold), reader=reader)
