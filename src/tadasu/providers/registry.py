"""How an outside part is named in the settings and found among the installed plugins."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tadasu.errors import ExtraMissing, PluginUnknown
from tadasu.providers.presets import Structured, preset_of

KINDS = {
    "tadasu.stores": "store",
    "tadasu.graders": "grader",
    "tadasu.scorers": "scorer",
    "tadasu.checkers": "checker",
    "tadasu.caches": "score cache",
    "tadasu.chat": "chat provider",
    "tadasu.websearch": "web search provider",
    "tadasu.engines": "optimisation engine",
}


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """A chat model: its name, where it answers, what it costs.

    `base_url` is empty for the provider's own service. The key is read from the environment variable `key_variable`
    (empty: none is sent) when the first call is made, and is never kept here. Prices are US dollars for a million
    tokens; None means "as listed", and where nothing is listed the calls are said to be unpriced.
    """

    model: str
    base_url: str = ""
    key_variable: str = "OPENAI_API_KEY"
    timeout_s: float = 60.0
    price_in: float | None = None
    price_out: float | None = None
    provider: str = "openai"
    """The plugin's name, for the ledger, the price list and what is known of it."""
    context_window: int | None = None
    """Tokens that go into one call together with its reply; None: as listed, or unknown."""
    structured: Structured | None = None
    """How JSON is asked for; None: as the provider is known to take it."""
    project: str = ""
    """For Vertex: the project; empty: as the environment says."""
    region: str = ""
    """For Bedrock and Vertex: where it runs; empty: as the environment says."""
    replies: tuple[str, ...] = field(default=(), repr=False)
    """What the scripted provider answers, in turn; no other provider reads it."""

    def __post_init__(self) -> None:
        if self.timeout_s <= 0:
            raise ValueError("timeout_s is above 0")
        if (self.price_in is None) is not (self.price_out is None):
            raise ValueError("price_in and price_out are given together or not at all")
        if self.context_window is not None and self.context_window < 1:
            raise ValueError("context_window is above 0")

    @property
    def ways(self) -> tuple[Structured, ...]:
        """How JSON may be asked for, the best way first."""
        if self.structured is None:
            return preset_of(self.provider).structured
        return () if self.structured is Structured.NONE else (self.structured,)


def load_plugin(group: str, name: str) -> Any:
    """The object that the entry point `name` of `group` names, such as ``("tadasu.chat", "openai")``.

    Raises:
        PluginUnknown: nothing of that name is installed; the message lists what is.
        ExtraMissing: it is installed, but a package that it needs is not.
    """
    found = {point.name: point for point in entry_points(group=group)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise PluginUnknown(kind=KINDS.get(group, group), name=name, known=known)
    return _loaded(found[name])


def plugin_names(group: str) -> tuple[str, ...]:
    """The names of all installed plugins of `group`, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == point.module.partition(".")[0]:
            raise
        raise ExtraMissing(feature=f"the plugin {point.name}", package=missing, extra=point.name) from error
