"""The chat providers that are known by name: where they answer, what holds their key, how they take a form."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Structured(enum.Enum):
    """How a model's service is told the form of a reply."""

    SCHEMA = "schema"
    TOOL = "tool"
    MODE = "mode"
    """JSON, whichever: the words of the prompt say which."""
    NONE = "none"


_ALL = (Structured.SCHEMA, Structured.TOOL, Structured.MODE)


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a provider.

    `base_url` is empty where the client knows the address itself. `key_variable` is empty where no key is sent.
    `price_list` is the provider's name in the price list, for where `base_url` does not tell it. `structured` holds the
    ways to ask for JSON, the best first: one that a model's service turns down is not tried again.
    """

    name: str
    title: str
    base_url: str = ""
    key_variable: str = ""
    price_list: str = ""
    structured: tuple[Structured, ...] = _ALL


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("openai", "OpenAI", key_variable="OPENAI_API_KEY", price_list="openai"),
        Preset(
            "deepseek",
            "DeepSeek",
            base_url="https://api.deepseek.com/v1",
            key_variable="DEEPSEEK_API_KEY",
            price_list="deepseek",
            structured=(Structured.TOOL, Structured.MODE),
        ),
        # Nobody lists its prices in a form that could be checked, and its own pages contradict each other.
        Preset("holysheep", "HolySheep", base_url="https://api.holysheep.ai/v1", key_variable="HOLYSHEEP_API_KEY"),
        Preset(
            "anthropic",
            "Anthropic",
            key_variable="ANTHROPIC_API_KEY",
            price_list="anthropic",
            structured=(Structured.TOOL,),
        ),
        Preset("bedrock", "Amazon Bedrock", price_list="aws", structured=(Structured.TOOL,)),
        Preset(
            "gemini",
            "Gemini",
            key_variable="GEMINI_API_KEY",
            price_list="google",
            structured=(Structured.SCHEMA, Structured.MODE),
        ),
        Preset("vertex", "Vertex AI", price_list="google", structured=(Structured.SCHEMA, Structured.MODE)),
        Preset(
            "llamacpp",
            "llama.cpp",
            base_url="http://127.0.0.1:8080/v1",
            structured=(Structured.SCHEMA, Structured.MODE),
        ),
        Preset("scripted", "a script", structured=()),
    )
}


SECRET_VARIABLES = (
    *(preset.key_variable for preset in PRESETS.values() if preset.key_variable),
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
)
"""Environment variables that usually hold keys of chat services, whether a setting names them or not."""


def preset_of(provider: str) -> Preset:
    """The preset of that name; for anybody else's plugin one that knows nothing."""
    return PRESETS.get(provider) or Preset(provider, provider)
