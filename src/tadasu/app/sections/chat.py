"""The tables ``[chat]`` and ``[chat.roles]``: which model words answers, and which others do smaller work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from tadasu.app.sections.fields import Section
from tadasu.core.writing import ChatMode
from tadasu.providers.presets import Structured

Role = Literal["answer", "grade", "rewrite", "check"]
"""What a chat model is asked to do; ``answer`` is [chat] itself."""
OtherRole = Literal["grade", "rewrite", "check"]


@dataclass(frozen=True, slots=True)
class ChatRole:
    """Another model for one role. What is left out is as in [chat]; where `provider` is another, only its times are."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    price_in: Annotated[float, Field(ge=0)] | None = None
    price_out: Annotated[float, Field(ge=0)] | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    structured: Structured | None = None
    project: str | None = None
    region: str | None = None


class ChatSection(Section):
    """The model that words answers. Without one, answers are quotations."""

    provider: str = Field(
        "",
        description="openai (any compatible address), deepseek, holysheep, anthropic, bedrock, gemini, vertex,"
        " llamacpp, or another plugin of the group tadasu.chat; empty: extractive answers.",
    )
    mode: ChatMode = Field(
        ChatMode.PLAIN,
        description="plain; reflective: it is asked about its draft and may revise it once; self_rag: a Self-RAG model"
        " at the completion endpoint of base_url.",
    )
    model: str = Field("", description="Model name as the provider knows it.")
    base_url: str = Field("", description="Address of the service; empty: the provider's own.")
    key_variable: str | None = Field(
        None, description="Environment variable with the key; unset: the provider's usual one; empty: none is sent."
    )
    timeout_s: float = Field(60.0, gt=0, description="Seconds of silence before a call is given up.")
    max_tokens: int = Field(800, ge=16, description="Tokens of an answer at the most.")
    price_in: float | None = Field(None, ge=0, description="US dollars per million input tokens, if not known.")
    price_out: float | None = Field(None, ge=0, description="US dollars per million output tokens, if not known.")
    context_window: int | None = Field(
        None, ge=1, description="Tokens of a call with its reply at the most; unset: as the service or the list says."
    )
    structured: Structured | None = Field(
        None, description="How JSON is asked for: schema, tool, mode or none; unset: as the provider takes it."
    )
    project: str = Field("", description="For vertex: the project; empty: GOOGLE_CLOUD_PROJECT says.")
    region: str = Field("", description="For bedrock and vertex: where it runs; empty: the environment says.")
    roles: dict[OtherRole, ChatRole] = Field(
        {}, description='Other models by role (grade, rewrite, check), as in { grade = { model = "a-cheap-one" } }.'
    )
