"""What all tables of settings are made of: tables that know their keys, lists and addresses as people write them."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_settings import NoDecode


def listed(value: object) -> object:
    """A list as one writes it into an environment variable: ``board, audit`` or ``["board", "audit"]``."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError('write it as: board, audit  or as: ["board", "audit"]') from None
    return [name.strip() for name in value.split(",") if name.strip()]


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(listed)]
"""Several names; in the environment with commas between them, or as JSON."""


def _addressed(value: str) -> str:
    if value and not re.match(r"https?://[^\s/]", value):
        raise ValueError("write it as http://host:port or https://host")
    return value


Address = Annotated[str, AfterValidator(_addressed)]
"""The address of a service, or nothing."""


class Section(BaseModel):
    """A table of ``tadasu.toml``; unknown keys are errors, so that a typing mistake is never silent."""

    model_config = ConfigDict(extra="forbid", frozen=True)
