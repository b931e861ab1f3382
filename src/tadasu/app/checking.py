"""What says whether a sentence of an answer holds, as the workspace's settings choose it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder
from tadasu.providers.registry import load_plugin

if TYPE_CHECKING:
    from tadasu.answering.generation.checking import SentenceChecker
    from tadasu.app.container import Container
    from tadasu.ports import SupportModel

_LOCAL = frozenset({"onnx", "shipped"})
"""Checkers that ask no chat model."""


def open_support_model(container: Container) -> SupportModel | None:
    """Whether a source supports a sentence, by the plugin that the settings name; None where they name none.

    Raises:
        PluginUnknown, ExtraMissing: the plugin is not there, or a package that it needs is not.
        SettingsInvalid, ModelUnavailable: it cannot be opened with its settings.
    """
    from tadasu.app.scheduling import scheduled_checker
    from tadasu.ports import CheckerSettings

    chosen = container.settings.checking
    if not chosen.model:
        return None
    path = container.workspace.root / Path(chosen.path).expanduser() if chosen.path else None
    opened: SupportModel = load_plugin("tadasu.checkers", chosen.model)(
        CheckerSettings(
            path=models_folder() / "grader" if path is None and chosen.model == "shipped" else path,
            threads=container.settings.scorer.threads,
            max_tokens=chosen.max_tokens,
            chat=container.chats.of("check") if chosen.model not in _LOCAL else None,
            prompts=container.prompts("check"),
            chance=container.chance,
        )
    )
    return scheduled_checker(opened, container)


def open_checker(container: Container) -> SentenceChecker:
    """Rules, and the support model where the settings name one."""
    from tadasu.answering.generation.checking import CheckingSettings, SentenceChecker

    chosen = container.settings.checking
    return SentenceChecker(container.support_model, settings=CheckingSettings(doubt=chosen.doubt, trust=chosen.trust))
