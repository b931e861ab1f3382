"""How much evidence a prompt may hold: the answering model's tokenizer, its window, and what else stands there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tadasu.app.findings import Finding, ok, warning
from tadasu.core.usage import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tadasu.answering.refinement import RefinementSettings
    from tadasu.answering.refinery import Refinery
    from tadasu.app.container import Container
    from tadasu.app.settings import Settings
    from tadasu.ports import PromptTemplate, TokenCounter

ESTIMATE = "estimate"
"""Name of the counter that needs no tokenizer."""
LEAST = 128
"""Tokens of room that evidence always has: what does not fit then fails by its name, instead of being left out."""
_SLACK = 32
"""Tokens for what a service puts around messages."""
_NONCE = "0123456789abcdef"
_TODAY = "2000-01-01"


def refinement_settings(settings: Settings) -> RefinementSettings:
    """What refinement does: the strength that is named, and over it what is set by itself."""
    from tadasu.answering.refinement import of_strength

    chosen = settings.refinement
    own = {"strip_threshold": chosen.strip_threshold, "neighbours": chosen.neighbours}
    return of_strength(
        chosen.strength,
        token_budget=chosen.token_budget,
        order=chosen.order,
        **{key: value for key, value in own.items() if value is not None},
    )


def open_refinery(container: Container) -> Refinery:
    """Refinement for the workspace's answering model."""
    from tadasu.answering.refinery import Refinery

    space, chosen = container.prompt_space, container.settings.refinement
    return Refinery(
        space,
        refinement_settings(container.settings),
        space=space,
        strength=strength_name(container.settings),
        second_try=chosen.restore,
    )


def strength_name(settings: Settings) -> str:
    """The strength as runs name it; ``own`` beside it where something was set by itself."""
    chosen = settings.refinement
    own = chosen.strip_threshold is not None or chosen.neighbours is not None
    return f"{chosen.strength.value}, own values" if own else chosen.strength.value


class EstimatedTokens:
    """Counts without a tokenizer, rather too many than too few; see `tadasu.core.usage.estimated_tokens`."""

    def count(self, text: str) -> int:
        """Tokens of `text` at the most."""
        return estimated_tokens(text) - estimated_tokens("")


class TokenizerFile:
    """Counts by a model's own ``tokenizer.json``, opened at the first use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: object = None

    def count(self, text: str) -> int:
        """Tokens of `text`; raises ModelUnavailable where the file cannot be read as a tokenizer."""
        from tadasu.runtime.onnx_models import open_tokenizer, read_bytes, sound

        if self._opened is None:
            self._opened = open_tokenizer(read_bytes(self._path), self._path)
        return len(self._opened.encode(sound(text), add_special_tokens=False).ids)  # type: ignore[attr-defined]


class ModelSpace:
    """ports.PromptSpace: counts as the answering model does, and knows what its window leaves for evidence.

    The window is that of the settings, else what the service or the price list says. Of it go the longest reply, the
    prompt with its question, and a little for what services put around messages.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self.counted_by, self._counter = _counter(container)
        self._prompts: Mapping[str, PromptTemplate] | None = None

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return self._counter.count(text)

    async def room(self, question: str, language: str) -> int | None:
        """See `ports.PromptSpace`; at least 128 where the window is known, however little it leaves."""
        chat = self._container.chat
        ask = getattr(chat, "window", None)
        window: int | None = await ask() if ask is not None else None
        if window is None:
            return None
        return max(LEAST, window - self._taken(question, language))

    def _taken(self, question: str, language: str) -> int:
        """Tokens of all that is not evidence."""
        self._prompts = self._prompts or self._container.prompts("answer")
        prompt = self._prompts.get(language, self._prompts["en"])
        messages = prompt.messages(question=question, meaning="", evidence="", today=_TODAY, nonce=_NONCE)
        written = sum(self.count(message.content) for message in messages)
        return self._container.settings.chat.max_tokens + written + _SLACK


def _counter(container: Container) -> tuple[str, TokenCounter]:
    """The counter of the answering model, by name."""
    named = container.settings.refinement.tokenizer
    if named and named != ESTIMATE:
        path = container.workspace.root / Path(named).expanduser()
        return f"tokenizer {path.name}" if path.name != "tokenizer.json" else f"tokenizer {path.parent.name}", (
            TokenizerFile(path)
        )
    if named == ESTIMATE or container.settings.chat.provider:
        return ESTIMATE, EstimatedTokens()
    return f"tokenizer {container.encoder.id}", container.encoder


async def evidence_finding(container: Container, *, network: bool) -> Finding:
    """How evidence is counted and how much of it there may be; a window that leaves less than the budget is said."""
    space = container.prompt_space
    budget = container.settings.refinement.token_budget
    space.count("a word")
    room = await space.room("", "en") if network or container.settings.chat.context_window else None
    details = {"budget": budget, "counter": space.counted_by, "strength": container.settings.refinement.strength.value}
    if room is not None and room < budget:
        return warning(
            "evidence",
            "The chat model's window leaves {room} tokens for evidence, fewer than the {budget} that it may have"
            " (counted by {counter}, refinement {strength}).",
            "Lower chat.max_tokens or refinement.token_budget, or use a model with a larger window.",
            room=room, **details,
        )  # fmt: skip
    text = "Evidence may take {budget} tokens, counted by {counter}; refinement is {strength}."
    return ok("evidence", text, **details)
