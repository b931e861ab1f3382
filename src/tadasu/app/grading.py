"""What the grader of a workspace is made of, as its settings choose: scorer, language model, cache, calibration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.assets import models_folder
from tadasu.app.prices import pair_price
from tadasu.errors import SettingsInvalid
from tadasu.ports import CacheSettings, GraderParts, ScorerSettings
from tadasu.providers.registry import load_plugin
from tadasu.runtime.cache import fronted

if TYPE_CHECKING:
    from tadasu.app.container import Container
    from tadasu.ports import Grader, PairScorer, ScoreCache

_CALLS_WAITED_FOR = 3
"""Calls of a scoring service that one grading waits for, at the most: many passages take several."""
_WITH_SCORER = frozenset({"cascade", "scorer"})


def grader_parts(container: Container) -> GraderParts:
    """What a grader plugin is opened with."""
    chosen = container.settings.grading
    return GraderParts(
        folder=models_folder() / "grader",
        tau_high=chosen.tau_high,
        tau_low=chosen.tau_low,
        scorer=container.scorer,
        assessor=container.assessor,
        fall_back=chosen.fall_back,
        timeout_s=_CALLS_WAITED_FOR * container.settings.scorer.timeout_s,
    )


def open_grader(container: Container, parts: GraderParts) -> Grader:
    """The grader that the settings name, made of `parts`."""
    opened: Grader = load_plugin("tadasu.graders", container.settings.grading.grader)(parts)
    return opened


def calibrated_grader(container: Container) -> Grader:
    """The grader under the calibration of this workspace, where there is one."""
    calibration = container.calibration
    if calibration is None:
        return open_grader(container, container.grader_parts)
    from tadasu.answering.grading.calibrated import CalibratedGrader
    from tadasu.app.calibration import corpus_change

    chosen = container.settings.grading
    return CalibratedGrader(
        container.grader_as_made,
        calibration,
        tau_high=chosen.tau_high,
        tau_low=chosen.tau_low,
        look=lambda: corpus_change(container, calibration),
    )


def open_scorer(container: Container) -> PairScorer | None:
    """The second tier, remembering its scores; None where the settings name none."""
    chosen, name = container.settings.scorer, container.settings.grading.scorer
    if not name or container.settings.grading.grader not in _WITH_SCORER:
        return None
    from tadasu.answering.grading.cached import CachedScorer
    from tadasu.app.scheduling import scheduled_scorer

    path = container.workspace.root / Path(chosen.path).expanduser() if chosen.path else None
    opened: PairScorer = load_plugin("tadasu.scorers", name)(
        ScorerSettings(
            scale=chosen.scale,
            path=models_folder() / "grader" if path is None and name == "shipped" else path,
            base_url=chosen.base_url,
            model=chosen.model,
            key_variable=chosen.key_variable,
            timeout_s=chosen.timeout_s,
            threads=chosen.threads,
            max_tokens=chosen.max_tokens,
            price=pair_price(container.settings, chosen.model, own=chosen.price),
        )
    )
    opened = scheduled_scorer(opened, container)
    return opened if container.cache is None else CachedScorer(opened, container.cache)


def open_assessor(container: Container) -> Grader | None:
    """The third tier, a language model; None where the settings do not ask for it."""
    chosen = container.settings.grading
    if not (chosen.llm or chosen.grader == "llm"):
        return None
    chat = container.chats.of("grade")
    if chat is None:
        reason = "needs a chat model, and none is configured: set chat.provider and chat.model"
        raise SettingsInvalid(where="tadasu.toml", key="grading.llm", reason=reason)
    from tadasu.answering.grading.llm import LlmGrader

    return LlmGrader(
        chat,
        prompts=container.prompts("grade"),
        chance=container.chance,
        cache=container.cache,
        batch=chosen.llm_batch,
        calls=chosen.llm_calls,
    )


def open_cache(container: Container) -> ScoreCache | None:
    """Where scores are remembered; None where the settings turn it off."""
    chosen = container.settings.cache
    if not chosen.engine:
        return None
    settings = CacheSettings(
        file=container.workspace.scores_file,
        url_variable=chosen.url_variable,
        max_mb=chosen.max_mb,
        days=chosen.days,
    )
    cache: ScoreCache = load_plugin("tadasu.caches", chosen.engine)(settings)
    return cache if chosen.engine == "memory" else fronted(cache, settings)
